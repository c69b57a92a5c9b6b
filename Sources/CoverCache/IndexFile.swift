import CSQLite
import GRDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The SQLite file behind the index: how it is opened and what is in it.
///
/// `synchronous` is NORMAL: a commit does not wait for the disk. It need not, because the segments are synced before it and
/// `segments.scanned` moves in the same transaction as the rows: if power loss undoes a commit, it undoes that as well, and
/// the next opening reads the records after it once more.
///
/// Rows are found by their tags through `IndexTags`, not through SQLite's own indexes.
enum IndexFile {
    static let version = 1
    /// How long one connection waits for another, in seconds.
    static let patience = 10

    private static let schema = """
        CREATE TABLE blobs(
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, digest BLOB NOT NULL,
            segment INTEGER NOT NULL, offset INTEGER NOT NULL, span INTEGER NOT NULL, body INTEGER NOT NULL,
            length INTEGER NOT NULL, checksum INTEGER NOT NULL, type TEXT NOT NULL, width INTEGER, height INTEGER,
            used INTEGER NOT NULL, pinned INTEGER NOT NULL DEFAULT 0);
        CREATE INDEX blobs_used ON blobs(used);
        -- segment, offset and span are those of a reference record; null when the blob's own record names this entry.
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, url TEXT NOT NULL, blob INTEGER NOT NULL,
            segment INTEGER, offset INTEGER, span INTEGER,
            stored INTEGER NOT NULL, validated INTEGER NOT NULL, fresh INTEGER, fields TEXT NOT NULL);
        CREATE INDEX entries_blob ON entries(blob);
        -- scanned: records before this offset are in the index or were deleted from it. live: bytes charged.
        CREATE TABLE segments(id INTEGER PRIMARY KEY, scanned INTEGER NOT NULL, live INTEGER NOT NULL);
        CREATE TABLE state(
            id INTEGER PRIMARY KEY CHECK (id = 1), live INTEGER NOT NULL DEFAULT 0, blobs INTEGER NOT NULL DEFAULT 0,
            clock INTEGER NOT NULL DEFAULT 0, hits INTEGER NOT NULL DEFAULT 0, misses INTEGER NOT NULL DEFAULT 0,
            capacity INTEGER NOT NULL DEFAULT 0, lastSegment INTEGER NOT NULL DEFAULT 0,
            -- The tag tables that belong to this index carry this number.
            tables INTEGER NOT NULL);
        INSERT INTO state(id, tables) VALUES (1, random());
        """

    /// SQLite counts its memory under one lock for the whole process, where the thread that looks covers up and the one that
    /// stores them keep meeting. Without effect when the program has used SQLite before.
    private static let doesNotCountMemory: Void = { _ = sleeve_sqlite_count_memory(0) }()

    /// To be called with the writer's lock held. - Throws: `CacheError.newerFormat`, or SQLite's own error.
    static func openForWriting(_ directory: CacheDirectory) throws -> DatabaseQueue {
        doesNotCountMemory
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(Double(patience))
        // A snapshot stays open from the first look-up of a group to its commit.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                    PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;
                    """)
        }
        let queue = try DatabaseQueue(path: directory.index, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            switch try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0 {
            case version: break
            case 0:
                // Nothing to lose yet: a file that power loss spoils here is made anew.
                try database.execute(sql: "PRAGMA synchronous = OFF")
                try database.inTransaction(.immediate) {
                    try database.execute(sql: schema + "PRAGMA user_version = \(version);")
                    return .commit
                }
                try database.execute(sql: "PRAGMA synchronous = NORMAL")
            default: throw CacheError.newerFormat(directory.path)
            }
            do {
                try database.execute(sql: MemoryTable.schema)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
                // A full disk must not keep anybody from reading, or from evicting.
            }
        }
        return queue
    }

    /// Whether the file is no index any more, rather than one that cannot be had just now.
    static func isSpoiled(_ error: DatabaseError) -> Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode.primaryResultCode)
    }

    /// Renames a spoiled index, for whoever wants to look into it.
    static func setAside(_ directory: CacheDirectory) throws(CacheError) {
        let name = "\(directory.index).bad-\(time(nil))"
        guard rename(directory.index, name) == 0 else { throw .last("rename", directory.index) }
        for suffix in ["-wal", "-shm"] { rename(directory.index + suffix, name + suffix) }
    }

    static func openForReading(_ directory: CacheDirectory) throws -> DatabaseQueue {
        doesNotCountMemory
        var configuration = Configuration()
        configuration.readonly = true
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(Double(patience))
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -8192") }
        return try DatabaseQueue(path: directory.index, configuration: configuration)
    }
}
