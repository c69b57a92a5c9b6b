import GRDB

/// The tag tables of an index: one finds entries by their URL's hash, the other blobs by their digest's first bytes.
final class IndexTags {
    let entries: IndexTagTable
    let blobs: IndexTagTable

    /// Maps the tables, and makes anew what cannot be trusted. With the writer's lock held.
    init(_ database: Database, _ directory: CacheDirectory) throws {
        let index = try Self.number(database)
        entries = try IndexTagTable(database, "entries", directory.entryTags, index)
        blobs = try IndexTagTable(database, "blobs", directory.blobTags, index)
    }

    /// To be called with the writer's lock held and no transaction open.
    func tidy() {
        entries.tidy()
        blobs.tidy()
    }

    /// What the tables of this index are known by.
    static func number(_ database: Database) throws -> UInt64 {
        UInt64(bitPattern: try Int64.fetchOne(database, sql: "SELECT tables FROM state") ?? 0)
    }
}

/// A tag table for writing, and the rows it can be made from.
final class IndexTagTable {
    private var table: TagTable
    private let path: String
    private let index: UInt64
    private unowned let database: Database
    private let name: String

    fileprivate init(_ database: Database, _ name: String, _ path: String, _ index: UInt64) throws {
        (self.database, self.name, self.path, self.index) = (database, name, path, index)
        let found = TagTable(path: path, index: index, writable: true)
        let lastRow = try Int64.fetchOne(database, sql: "SELECT max(id) FROM \(name)") ?? 0
        if let found, found.isTrusted, found.lastRow >= lastRow {
            table = found
        } else {
            table = try Self.made(database, name, path, index).publish(at: path, replacing: found)
        }
    }

    private static func made(
        _ database: Database, _ name: String, _ path: String, _ index: UInt64
    ) throws -> TagTable {
        let count = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(name)") ?? 0
        let table = try TagTable.make(path: path, index: index, rows: count)
        try FastStatement(database, "SELECT id, tag FROM \(name)").each { table.add($0.int64(1), row: $0.int64(0)) }
        return table
    }

    func find<Result>(_ tag: Int64, _ check: (Int64) throws -> Result?) throws -> Result? {
        try refresh()
        return try table.find(tag, check)
    }

    /// With the writer's lock held, before the row is committed.
    func add(_ tag: Int64, row: Int64) throws {
        try refresh()
        if table.load > 0.9 { table = try table.grown(index: index).publish(at: path, replacing: table) }
        table.add(tag, row: row)
    }

    /// Takes over what another process has put in its place.
    private func refresh() throws {
        guard table.isReplaced else { return }
        guard let found = TagTable(path: path, index: index, writable: true) else {
            throw CacheError.index("\(path) is missing")
        }
        table = found
    }

    /// Rows that went have left their slots behind: a table that fills up is made anew from those there are, if there is room.
    fileprivate func tidy() {
        guard (try? refresh()) != nil, table.load > 0.7 else { return }
        if let made = try? Self.made(database, name, path, index) {
            table = (try? made.publish(at: path, replacing: table)) ?? table
        }
    }
}
