import Platform
import SQLite

/// A reader's connection to the index, with the statements that look entries up.
// because: `CacheReader` lends it to one thread at a time.
final class ReadConnection: @unchecked Sendable {
    let connection: Connection
    private let byKey, byDigest, status: Statement
    let hints: HintTable
    /// The inode of the index's shared memory.
    private let memoryNumber: UInt64

    init(_ directory: CacheDirectory) throws {
        connection = try directory.usingReserve { try IndexFile.openForReading(directory) }
        memoryNumber = directory.memoryNumber
        byKey = connection.statement(EntrySelection.sql + " WHERE e.tag = ? AND e.url = ?")
        byDigest = connection.statement(EntrySelection.sql + " WHERE c.tag = ? AND c.digest = ? LIMIT 1")
        status = connection.statement(
            """
            SELECT c.id, c.digest, c.length, c.used, e.fresh, e.validated, e.seal, c.color
            FROM entries e JOIN covers c ON c.id = e.cover WHERE e.tag = ? AND e.url = ?
            """)
        hints = HintTable(connection)
    }

    /// Call it before the connection's end if another process has replaced the index.
    func leave(_ directory: CacheDirectory) { if directory.memoryNumber == memoryNumber { connection.leaveOpen() } }

    /// Reads one snapshot of the index.
    func read<Result>(_ body: (borrowing Connection) throws -> Result) throws -> Result {
        try connection.transaction(.deferred) { try body(connection) }
    }

    // MARK: Looking up

    /// The result of a look-up in the index.
    enum Located {
        case entry(CachedEntry)
        /// The row is not what was written.
        case damaged
        case missing
    }

    func locate(_ key: String) throws -> Located {
        let found = try byKey.first(.int(IndexTable.tag(key)), .text(key)) { try EntrySelection.entry($0, key: key) }
        guard let found else { return .missing }
        return found.map { .entry($0) } ?? .damaged
    }

    /// An entry of the cover with this digest; nil if there is none.
    func locate(_ digest: Digest) throws -> CachedEntry? {
        try byDigest.first(.int(digest.tag), .digest(digest)) { try EntrySelection.entry($0) } ?? nil
    }

    func status(of key: String) throws -> CacheReader.Status? {
        try status.first(.int(IndexTable.tag(key)), .text(key)) { row in
            guard let digest = row.digest(1), row.int64(6) == EntryLine.seal(key, digest) else { return nil }
            return CacheReader.Status(
                digest: digest, bytes: try row.size(2), freshUntil: row.optionalTime(4), validatedAt: row.time(5),
                color: row.optionalInt64(7).map { UInt32(truncatingIfNeeded: $0) },
                use: (row.int64(0), row.int(3)))
        } ?? nil
    }
}
