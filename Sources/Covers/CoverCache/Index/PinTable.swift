import SQLite

/// The keys that are pinned, as one connection sees them. A pin belongs to the key: it outlasts a new download, a revalidation and the
/// loss of the entry. `covers.pins` counts the pinned entries of a cover; `IndexChanges` keeps it.
struct PinTable {
    static let schema =
        "CREATE TABLE pins(tag INTEGER NOT NULL, url TEXT NOT NULL, PRIMARY KEY (tag, url)) WITHOUT ROWID;"

    private let select, selectAny, selectAll, insert, delete: Statement

    init(_ connection: borrowing Connection) {
        func statement(_ sql: String) -> Statement { connection.statement(sql) }
        select = statement("SELECT 1 FROM pins WHERE tag = ? AND url = ?")
        selectAny = statement("SELECT 1 FROM pins LIMIT 1")
        selectAll = statement("SELECT url FROM pins")
        insert = statement("INSERT OR IGNORE INTO pins(tag, url) VALUES (?, ?)")
        delete = statement("DELETE FROM pins WHERE tag = ? AND url = ?")
    }

    func contains(_ key: String) throws -> Bool {
        try select.first(.int(IndexTable.tag(key)), .text(key)) { _ in true } ?? false
    }

    /// Most caches have no pins: one look-up then answers for all keys.
    func isEmpty() throws -> Bool { try selectAny.first { _ in true } == nil }

    func all() throws -> [String] {
        var keys: [String] = []
        try selectAll.each { keys.append($0.text(0)) }
        return keys
    }

    /// Returns whether the key was not pinned before.
    func add(_ key: String) throws -> Bool { try insert.run(.int(IndexTable.tag(key)), .text(key)) > 0 }

    /// Returns whether the key was pinned before.
    func remove(_ key: String) throws -> Bool { try delete.run(.int(IndexTable.tag(key)), .text(key)) > 0 }
}
