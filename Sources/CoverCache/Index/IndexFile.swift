import Platform
import SQLite

/// Opens the index's SQLite file and defines its schema.
///
/// `synchronous` is FULL: a commit is durable when it returns, so a cover's file, which was synced before, and its row survive power
/// loss together, and a file is unlinked only after its row is gone for good.
enum IndexFile {
    /// 1 was an index of segments, 2 knew no sizes.
    static let version = 3
    /// How long one connection waits for another.
    static let busyTimeout = Duration.seconds(10)
    /// SQLite's page cache for each connection, in KiB. The indexes on `tag` fill about 20 MB each for a million entries, and a
    /// store or a look-up uses a random page of them.
    private static let pageCache = 32_768

    private static let schema = """
        -- length: of the body. charge: bytes of the file's blocks. used: the recency clock at the last use. pins: pinned entries.
        CREATE TABLE covers(
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, digest BLOB NOT NULL, length INTEGER NOT NULL, charge INTEGER NOT NULL,
            type TEXT NOT NULL, width INTEGER, height INTEGER, used INTEGER NOT NULL, pins INTEGER NOT NULL DEFAULT 0);
        -- seal: `IndexTable.seal` of the URL and its cover's digest. Times are in milliseconds since 1970.
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, url TEXT NOT NULL, cover INTEGER NOT NULL, seal INTEGER NOT NULL,
            stored INTEGER NOT NULL, validated INTEGER NOT NULL, fresh INTEGER, fields TEXT NOT NULL);
        CREATE INDEX covers_tag ON covers(tag);
        CREATE INDEX covers_evictable ON covers(used) WHERE pins = 0;
        CREATE INDEX entries_tag ON entries(tag);
        CREATE INDEX entries_cover ON entries(cover);
        CREATE INDEX entries_stored ON entries(stored);
        """ + PinTable.schema + HintTable.schema + IndexState.schema
    /// What version 3 adds. sizes: bytes of the blocks of a cover's sizes. color, blurhash: what stands for it until it is there.
    private static let sizesSchema = """
        ALTER TABLE covers ADD COLUMN sizes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE covers ADD COLUMN color INTEGER; ALTER TABLE covers ADD COLUMN blurhash TEXT;
        CREATE INDEX covers_sized ON covers(used) WHERE sizes > 0;
        """

    /// Opens the index and creates what is missing. Call it with the writer's lock held.
    /// - Throws: `CacheError.newerFormat`, `.oldFormat`, or SQLite's error.
    static func openForWriting(_ directory: CacheDirectory) throws -> Connection {
        directory.createIndex()
        let connection = try Connection(directory.index, busyTimeout: busyTimeout)
        let found = try connection.userVersion()
        // It writes and syncs, even where it changes nothing.
        if found == 0 { try connection.execute("PRAGMA auto_vacuum = INCREMENTAL") }
        try connection.execute(
            """
            PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL;
            PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -\(pageCache); PRAGMA temp_store = MEMORY;
            """)
        switch found {
        case version: break
        case 0, 2:
            try connection.transaction(.immediate) {
                try connection.execute((found == 0 ? schema : "") + sizesSchema + "PRAGMA user_version = \(version);")
            }
        case 1: throw CacheError.oldFormat(directory.path)
        default: throw CacheError.newerFormat(directory.path)
        }
        return connection
    }

    /// Whether the schema is the one that this program creates.
    static func hasSchema(_ connection: borrowing Connection) throws -> Bool {
        let new = try Connection(":memory:")
        try new.execute(schema + sizesSchema)
        return try definitions(connection) == definitions(new)
    }

    private static func definitions(_ connection: borrowing Connection) throws -> [String] {
        var texts: [String] = []
        try connection.statement("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").each {
            row in
            for column in Int32(0)..<4 { texts.append(row.text(column)) }
        }
        return texts
    }

    static func openForReading(_ directory: CacheDirectory) throws -> Connection {
        let connection = try Connection(directory.index, .reading, busyTimeout: busyTimeout)
        try connection.execute("PRAGMA cache_size = -\(pageCache)")
        return connection
    }

    /// Renames a corrupt index so that it can be examined later. Those that were set aside before are removed.
    static func setAside(_ directory: CacheDirectory) throws(CacheError) {
        let aside = "\(directory.index).bad-\(time(nil))-\(getpid())"
        guard rename(directory.index, aside) == 0 else { throw .last("rename", directory.index) }
        for suffix in ["-wal", "-shm"] { rename(directory.index + suffix, aside + suffix) }
        directory.removeBadIndexes(except: aside)
    }
}
