import GRDB
import Synchronization

/// A reader's connection to the index, with the statements that look entries up. One thread uses it at a time.
final class ReadConnection: Sendable {
    private struct Statements {
        let entry, status: FastStatement
        let hints: HintTable
    }

    private let queue: DatabaseQueue
    private let statements: Mutex<Statements>
    /// Selects entries, as `entry(_:key:)` decodes them.
    let entrySQL: String

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
        let queue = try IndexFile.openForReading(directory)
        self.queue = queue
        // The table is missing if the disk was too full to create it.
        let isPinned = try queue.read { try $0.tableExists("pins") } ? Self.isPinned : "0"
        let columns = "\(Self.columns), \(isPinned)"
        entrySQL = "SELECT " + columns + Self.tables
        statements = Mutex(
            try queue.unsafeRead { database in
                let entry = FastStatement(database, "SELECT " + columns + Self.location)
                // `locate` steps it outside of GRDB's queue, where it cannot be prepared.
                try entry.prepare()
                return Statements(
                    entry: entry, status: FastStatement(database, Self.statusSQL), hints: HintTable(database))
            })
    }

    /// Reads one snapshot of the index.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result { try queue.read(body) }

    /// Not on GRDB's queue: entering and leaving it takes as long as SQLite takes to find a row.
    func locate(_ key: String) throws -> Located? {
        try statements.withLock { statements in
            try statements.entry.first(.int(Index.tag(key)), .text(key)) { row in
                try Self.entry(row, key: key).map { entry in
                    Located(
                        entry: entry, segment: try row.size(14), offset: try row.size(15), bodyStart: try row.size(16),
                        checksum: UInt64(bitPattern: row.int64(17)))
                }
            } ?? nil
        }
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
        let keys = Array(keys)
        return try queue.read { _ in
            try statements.withLock { statements in
                try keys.map { key in
                    try statements.status.first(.int(Index.tag(key)), .text(key)) { row in
                        try row.digest(1).map { digest in
                            FoundStatus(
                                status: CacheReader.Status(
                                    digest: digest, bytes: try row.size(2), freshUntil: row.optionalTime(4),
                                    validatedAt: row.time(11)),
                                use: CacheUsage.Use(blob: row.int64(0), lastUsed: row.int64(3)),
                                record: FreedRange(
                                    segment: try row.size(5), offset: try row.size(6), length: try row.size(7)),
                                reference: try row.optionalSize(8).map { segment in
                                    FreedRange(segment: segment, offset: try row.size(9), length: try row.size(10))
                                })
                        }
                    } ?? nil
                }
            }
        }
    }

    func hints<Result: Sendable>(_ body: @Sendable (HintTable) throws -> Result) throws -> Result {
        try queue.read { _ in try statements.withLock { statements in try body(statements.hints) } }
    }

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
    static func entry(_ row: FastRow, key: String? = nil) throws -> CachedEntry? {
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
