import Platform
import SQLite

/// Opens the index's SQLite file and defines its schema.
///
/// `synchronous` is NORMAL: a commit does not wait for the disk. That is safe because segments are synced before their rows are
/// committed, and `segments.scanned` moves in the rows' transaction. If power loss undoes a commit, the next opening reads the
/// segments' records from `scanned` on and adds their rows again.
enum IndexFile {
    static let version = 1
    /// How long one connection waits for another.
    static let busyTimeout = Duration.seconds(10)
    /// SQLite's page cache for each connection, in KiB. The indexes on `tag` fill about 20 MB each for a million entries, and a
    /// store or a look-up uses a random page of them.
    private static let pageCache = 32_768

    private static let schema = """
        CREATE TABLE blobs(
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, digest BLOB NOT NULL,
            segment INTEGER NOT NULL, offset INTEGER NOT NULL, span INTEGER NOT NULL, body INTEGER NOT NULL,
            length INTEGER NOT NULL, checksum INTEGER NOT NULL, type TEXT NOT NULL, width INTEGER, height INTEGER,
            used INTEGER NOT NULL, pinned INTEGER NOT NULL DEFAULT 0);
        -- segment, offset, span: the entry's reference record; null if the blob's own record names this entry.
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, url TEXT NOT NULL, blob INTEGER NOT NULL,
            segment INTEGER, offset INTEGER, span INTEGER,
            stored INTEGER NOT NULL, validated INTEGER NOT NULL, fresh INTEGER, fields TEXT NOT NULL);
        CREATE INDEX entries_blob ON entries(blob);
        -- scanned: records before this offset are in the index or were evicted. live: bytes charged.
        CREATE TABLE segments(id INTEGER PRIMARY KEY, scanned INTEGER NOT NULL, live INTEGER NOT NULL);
        CREATE TABLE state(
            id INTEGER PRIMARY KEY CHECK (id = 1), live INTEGER NOT NULL DEFAULT 0, blobs INTEGER NOT NULL DEFAULT 0,
            clock INTEGER NOT NULL DEFAULT 0, hits INTEGER NOT NULL DEFAULT 0, misses INTEGER NOT NULL DEFAULT 0,
            capacity INTEGER NOT NULL DEFAULT 0, lastSegment INTEGER NOT NULL DEFAULT 0,
            -- Unused; earlier programs that open this index read it.
            tables INTEGER NOT NULL);
        INSERT INTO state(id, tables) VALUES (1, random());
        """

    /// Ranges of segments that transactions freed and whose blocks may not have been given back yet. Created at opening if missing:
    /// earlier programs kept them in memory, and a killed one forgot them. A row's number is never used again.
    private static let freed = """
        CREATE TABLE IF NOT EXISTS freed(
            id INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL);
        """

    /// Records of blobs whose own entry was removed while others name the blob. A rebuild does not bring these entries back. Created with
    /// the pins.
    static let removed = """
        CREATE TABLE removed(segment INTEGER NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY (segment, offset)) WITHOUT ROWID;
        """
    static let removedTriggers = """
        CREATE TRIGGER removed_blob_removed AFTER DELETE ON blobs BEGIN
            DELETE FROM removed WHERE segment = OLD.segment AND offset = OLD.offset;
        END;
        CREATE TRIGGER removed_blob_moved AFTER UPDATE OF segment, offset ON blobs BEGIN
            DELETE FROM removed WHERE segment = OLD.segment AND offset = OLD.offset;
        END;
        """

    /// Created at opening if missing: caches of earlier programs had hash tables in files of their own instead.
    private static let tagIndexes = """
        CREATE INDEX IF NOT EXISTS entries_tag ON entries(tag);
        CREATE INDEX IF NOT EXISTS blobs_tag ON blobs(tag);
        """

    /// Opens the index and creates what is missing. Call it with the writer's lock held.
    /// - Throws: `CacheError.newerFormat`, or SQLite's error.
    static func openForWriting(_ directory: CacheDirectory) throws -> Connection {
        directory.createIndex()
        let connection = try Connection(directory.index, busyTimeout: busyTimeout)
        // What creates the file need not survive power loss: it would be created again.
        try connection.execute(
            """
            PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_size = -\(pageCache); PRAGMA temp_store = MEMORY;
            """)
        let found = try connection.userVersion()
        if found == 0 {
            try connection.transaction(.immediate) {
                try connection.execute(
                    schema + freed + HintTable.schema + tagIndexes + "PRAGMA user_version = \(version);")
                try addPinsAndTotals(connection, directory)
            }
        } else if found != version {
            throw CacheError.newerFormat(directory.path)
        }
        try connection.execute("PRAGMA synchronous = NORMAL")
        do {
            try connection.execute(freed + HintTable.schema)
            try connection.execute(tagIndexes)
            if try !connection.hasTable("totals") {
                try connection.transaction(.immediate) { try addPinsAndTotals(connection, directory) }
            }
        } catch let error as SQLiteError where error.code == .full {
            // On a full disk the cache can still be read, slowly without the indexes, and evicted from.
        }
        directory.removeTagTables()
        return connection
    }

    /// Creates the tables and triggers that caches of earlier programs lack. Counting a million rows takes about two seconds, once. If
    /// the index is new because it was lost, the pins are restored from their file. Call it in a transaction.
    private static func addPinsAndTotals(_ connection: borrowing Connection, _ directory: CacheDirectory) throws {
        try connection.execute(PinTable.schema + IndexTotals.schema + removed)
        try connection.execute(PinTable.triggers + IndexTotals.triggers + removedTriggers)
        let pins = PinTable(connection)
        for key in try PinFile.keys(in: directory.pins) { try pins.add(key) }
        try IndexTotals(connection, isStored: true).save(connection)
    }

    static func openForReading(_ directory: CacheDirectory) throws -> Connection {
        let connection = try Connection(directory.index, .reading, busyTimeout: busyTimeout)
        try connection.execute("PRAGMA cache_size = -\(pageCache)")
        return connection
    }

    /// The capacity that a corrupt index states; nil if it cannot be read.
    static func capacity(_ directory: CacheDirectory) -> Int? {
        guard let connection = try? openForReading(directory) else { return nil }
        let capacity = try? connection.statement("SELECT capacity FROM state").first { try $0.size(0) }
        return capacity.flatMap(\.self).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Renames a corrupt index so that it can be examined later. Those that were set aside before are removed.
    static func setAside(_ directory: CacheDirectory) throws(CacheError) {
        let aside = "\(directory.index).bad-\(time(nil))-\(getpid())"
        guard rename(directory.index, aside) == 0 else { throw .last("rename", directory.index) }
        for suffix in ["-wal", "-shm"] { rename(directory.index + suffix, aside + suffix) }
        directory.removeBadIndexes(except: aside)
    }
}
