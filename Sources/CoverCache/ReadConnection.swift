import Platform
import SQLite

/// A reader's connection to the index, with the statements that look entries up.
// because: `CacheReader` lends it to one thread at a time.
final class ReadConnection: @unchecked Sendable {
    private let connection: Connection
    private let entry, status: Statement
    private let hints: HintTable
    /// Selects entries, as `entry(_:key:)` decodes them.
    private let entrySQL: String

    /// What a look-up reads of an entry and the record of its blob.
    struct Located {
        var entry: CachedEntry
        var segment: Int
        /// Of the record.
        var offset: Int
        /// Of the body in the record.
        var bodyStart: Int
        var checksum: UInt64
    }

    init(_ directory: CacheDirectory) throws {
        connection = try IndexFile.openForReading(directory)
        // The table is missing if the disk was too full to create it.
        let columns = "\(Self.columns), \(try connection.hasTable("pins") ? Self.isPinned : "0")"
        entrySQL = "SELECT " + columns + Self.tables
        entry = connection.statement("SELECT " + columns + Self.location)
        status = connection.statement(Self.statusSQL)
        hints = HintTable(connection)
    }

    /// Reads one snapshot of the index.
    func read<Result>(_ body: (borrowing Connection) throws -> Result) throws -> Result {
        try connection.transaction(.deferred) { try body(connection) }
    }

    /// Calls `body` with a statement that selects entries, in one snapshot.
    func selecting<Result>(_ condition: String, _ body: (Statement) throws -> Result) throws -> Result {
        try read { try body($0.statement("\(entrySQL) \(condition)")) }
    }

    func locate(_ key: String) throws -> Located? {
        try entry.first(.int(Index.tag(key)), .text(key)) { row in
            guard let entry = try Self.entry(row, key: key) else { return nil }
            return Located(
                entry: entry, segment: try row.size(14), offset: try row.size(15), bodyStart: try row.size(16),
                checksum: UInt64(bitPattern: row.int64(17)))
        } ?? nil
    }

    /// What `CacheReader.status` needs to know of an entry.
    struct FoundStatus {
        var status: CacheReader.Status
        var use: CacheUsage.Use
        var record: FreedRange
        /// The entry's own record, if the blob's does not name it.
        var reference: FreedRange?
    }

    /// The status of each key in one snapshot.
    func status(of keys: some Collection<String>) throws -> [FoundStatus?] {
        try read { _ in
            try keys.map { key in
                try status.first(.int(Index.tag(key)), .text(key)) { row in
                    guard let digest = row.digest(1) else { return nil }
                    var reference: FreedRange?
                    if let segment = try row.optionalSize(8) {
                        reference = FreedRange(segment: segment, offset: try row.size(9), length: try row.size(10))
                    }
                    return FoundStatus(
                        status: CacheReader.Status(
                            digest: digest, bytes: try row.size(2), freshUntil: row.optionalTime(4),
                            validatedAt: row.time(11)),
                        use: CacheUsage.Use(blob: row.int64(0), lastUsed: row.int64(3)),
                        record: FreedRange(segment: try row.size(5), offset: try row.size(6), length: try row.size(7)),
                        reference: reference)
                } ?? nil
            }
        }
    }

    func hints<Result>(_ body: (HintTable) throws -> Result) throws -> Result { try read { _ in try body(hints) } }

    private static let columns = """
        e.url, b.type, b.width, b.height, e.stored, e.fresh, e.fields, b.digest, b.length, e.validated, b.id, b.used, e.id
        """
    /// `b.pinned` says whether any entry of the blob is pinned.
    private static let isPinned =
        "b.pinned AND EXISTS (SELECT 1 FROM pins p WHERE p.tag = e.tag AND p.url = e.url)"
    private static let tables = " FROM entries e JOIN blobs b ON b.id = e.blob"
    private static let location =
        ", b.segment, b.offset, b.body, b.checksum" + tables + " WHERE e.tag = ? AND e.url = ?"
    private static let statusSQL =
        "SELECT b.id, b.digest, b.length, b.used, e.fresh, b.segment, b.offset, b.span, e.segment, e.offset, e.span, e.validated"
        + tables + " WHERE e.tag = ? AND e.url = ?"

    /// Decodes a row of `entrySQL`. Returns nil if its digest is malformed.
    /// - Parameter key: the entry's key if it is known already.
    static func entry(_ row: borrowing Row, key: String? = nil) throws -> CachedEntry? {
        guard let digest = row.digest(7) else { return nil }
        let metadata = EntryMetadata(
            key: key ?? row.text(0), mediaType: row.text(1), width: row.optionalInt(2), height: row.optionalInt(3),
            storedAt: row.time(4), freshUntil: row.optionalTime(5), fields: row.text(6))
        return CachedEntry(
            metadata: metadata, digest: digest, bytes: try row.size(8), validatedAt: row.time(9),
            lastUsed: row.int64(11),
            isPinned: row.int(13) != 0, row: EntryRow(id: row.int64(12), blob: row.int64(10)))
    }
}
