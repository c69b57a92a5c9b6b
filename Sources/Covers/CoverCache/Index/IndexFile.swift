import Platform
import SQLite

/// Opens the index's SQLite file and defines its schema.
///
/// `synchronous` is FULL: a commit is durable when it returns, so a cover's file, which was synced before, and its row survive power
/// loss together, and a file is unlinked only after its row is gone for good.
enum IndexFile {
    /// An index of an earlier version is made again from the entry log.
    static let version = 6
    /// SQLite's `application_id`: "slev".
    private static let application: Int64 = 0x736C_6576
    /// How long one connection waits for another.
    static let busyTimeout = Duration.seconds(10)
    /// SQLite's page cache for each connection, in KiB. With four times as much, a million stores and a million look-ups take no less
    /// time.
    private static let pageCache = 8_192

    private static let schema = """
        -- length: of the body. charge: bytes of the file's blocks. used: the recency clock at the last use. pins: pinned entries.
        -- color: the dominant one, once a size was made.
        CREATE TABLE covers(
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, digest BLOB NOT NULL, length INTEGER NOT NULL, charge INTEGER NOT NULL,
            type TEXT NOT NULL, width INTEGER, height INTEGER, used INTEGER NOT NULL, pins INTEGER NOT NULL DEFAULT 0,
            color INTEGER);
        -- seal: `IndexTable.seal` of the URL and its cover's digest. Times are in milliseconds since 1970.
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, url TEXT NOT NULL, cover INTEGER NOT NULL, seal INTEGER NOT NULL,
            stored INTEGER NOT NULL, validated INTEGER NOT NULL, fresh INTEGER, fields TEXT NOT NULL);
        CREATE INDEX covers_tag ON covers(tag);
        CREATE INDEX covers_evictable ON covers(used) WHERE pins = 0;
        CREATE INDEX entries_tag ON entries(tag);
        CREATE INDEX entries_cover ON entries(cover);
        CREATE INDEX entries_stored ON entries(stored);
        """
        + PinTable.schema + HintTable.schema + ReplacementTable.schema + IndexState.schema

    /// Whether a file says in its first page that it is an index. No other process has to be asked for it.
    /// - Throws: `CacheError` if the file cannot be read.
    static func isIndex(_ path: String) throws(CacheError) -> Bool {
        do {
            let connection = try Connection(path, .immutable)
            return try connection.integer("PRAGMA application_id") == application
        } catch {
            if let error = error as? SQLiteError, error.isCorruption { return false }
            throw CacheError(error)
        }
    }

    /// Opens the index and creates what is missing. Call it with the writer's lock held.
    /// - Throws: `CacheError.newerFormat`, or SQLite's error, that of a corrupt index for an earlier version.
    static func openForWriting(_ directory: CacheDirectory) throws -> Connection {
        // Those of an index that was removed belong to no other.
        if directory.indexNumber == 0 { for suffix in ["-wal", "-shm"] { unlink(directory.index + suffix) } }
        let connection = try Connection(directory.index, busyTimeout: busyTimeout)
        // An index of a newer version keeps its log, too.
        try connection.setCheckpointsAtClose(false)
        let found = try connection.userVersion()
        if found > version { throw CacheError.newerFormat(directory.path) }
        try connection.setCheckpointsAtClose(true)
        if found != 0, found < version { throw SQLiteError(.corrupt, "it has version \(found)") }
        // They write and sync, even where they change nothing. Without a log yet, the file itself has them.
        if found == 0 {
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = \(application)")
        }
        try connection.execute(
            """
            PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL;
            PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -\(pageCache); PRAGMA temp_store = MEMORY;
            """)
        if found == 0 {
            try connection.transaction(.immediate) {
                try connection.execute(schema + "PRAGMA user_version = \(version);")
            }
        }
        return connection
    }

    /// Whether the schema is the one that this program creates.
    static func hasSchema(_ connection: borrowing Connection) throws -> Bool {
        let new = try Connection(":memory:")
        try new.execute(schema)
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

    /// - Throws: `CacheError.newerFormat`, or SQLite's error, that of a corrupt index for an earlier version or none.
    static func openForReading(_ directory: CacheDirectory) throws -> Connection {
        let connection = try Connection(directory.index, .reading, busyTimeout: busyTimeout)
        // SQLite opens the files with the first read.
        let found = try connection.userVersion()
        if found > version { throw CacheError.newerFormat(directory.path) }
        if found < version { throw SQLiteError(.corrupt, "it has version \(found)") }
        try connection.execute("PRAGMA cache_size = -\(pageCache)")
        return connection
    }

    /// Renames a corrupt index so that it can be examined later. Those that were set aside before are removed.
    /// - Throws: `CacheError` if a new one could not be made from the entry log and the covers.
    static func setAside(_ directory: CacheDirectory) throws(CacheError) {
        try directory.checkReadable()
        let aside = "\(directory.index).bad-\(time(nil))-\(getpid())"
        guard rename(directory.index, aside) == 0 else { throw .last("rename", directory.index) }
        for suffix in ["-wal", "-shm"] { rename(directory.index + suffix, aside + suffix) }
        directory.removeBadIndexes(except: aside)
    }
}

/// The index's single row of counters. Sizes are in bytes.
struct IndexState: Hashable {
    /// The charge of the covers, and `sizes`.
    var charged = 0
    /// The blocks of all covers in smaller sizes (`SizeFolder`). More than they take if a program has removed some.
    var sizes = 0
    var covers = 0
    /// The length of all bodies.
    var bytes = 0
    var entries = 0
    /// The length of all bodies if no two entries shared one.
    var entryBytes = 0
    /// Covers that eviction spares.
    var pinnedCovers = 0
    var pinnedBytes = 0
    var pinnedCharge = 0
    /// The recency clock: a counter that advances with every use.
    var clock = 0
    var hits = 0
    var misses = 0
    /// The limit of `charged`; nil while the index is made: it has none before it is complete.
    var capacity: Int?
    /// The capacity's column, where 0 stands for nil: no cache has so little (`EntryLog.minimumCapacity`).
    private var capacityColumn: Int {
        get { capacity ?? 0 }
        set { capacity = newValue > 0 ? newValue : nil }
    }
    /// Lines of the entry log.
    var lines = 0

    private static let columns: [(name: String, path: any WritableKeyPath<IndexState, Int> & Sendable)] = [
        ("charged", \.charged), ("sizes", \.sizes), ("covers", \.covers), ("bytes", \.bytes), ("entries", \.entries),
        ("entryBytes", \.entryBytes), ("pinnedCovers", \.pinnedCovers), ("pinnedBytes", \.pinnedBytes),
        ("pinnedCharge", \.pinnedCharge), ("clock", \.clock), ("hits", \.hits), ("misses", \.misses),
        ("capacity", \.capacityColumn), ("lines", \.lines),
    ]

    static let schema =
        "CREATE TABLE state(id INTEGER PRIMARY KEY CHECK (id = 1), "
        + columns.map { "\($0.name) INTEGER NOT NULL DEFAULT 0" }.joined(separator: ", ")
        + "); INSERT INTO state(id) VALUES (1);"
    private static let selection = "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM state"
    private static let update = "UPDATE state SET " + columns.map { "\($0.name) = ?" }.joined(separator: ", ")

    init() {}

    init(_ connection: borrowing Connection) throws {
        let state = try connection.statement(Self.selection).first { row in
            var state = IndexState()
            for (number, column) in Self.columns.enumerated() {
                state[keyPath: column.path] = try row.counter(Int32(number))
            }
            return state
        }
        guard let state else { throw SQLiteError(.corrupt, "its counters are missing") }
        self = state
    }

    /// Counts all rows. The sizes, the clock, the capacity, hits, misses and lines stay.
    mutating func recount(_ connection: borrowing Connection) throws {
        let totals =
            try connection.statement(
                """
                SELECT COUNT(*), TOTAL(length), TOTAL(charge), COUNT(NULLIF(pins, 0)), TOTAL(length * (pins != 0)),
                    TOTAL(charge * (pins != 0)) FROM covers
                """
            ).first { row in (0..<6).map { Self.total(row, $0) } } ?? []
        (covers, bytes, charged) = (totals[0], totals[1], totals[2] + sizes)
        (pinnedCovers, pinnedBytes, pinnedCharge) = (totals[3], totals[4], totals[5])
        try connection.statement(
            "SELECT COUNT(*), TOTAL(c.length) FROM entries e LEFT JOIN covers c ON c.id = e.cover"
        ).first { row in (entries, entryBytes) = (Self.total(row, 0), Self.total(row, 1)) }
    }

    /// TOTAL returns a floating-point number, which cannot overflow.
    private static func total(_ row: borrowing Row, _ column: Int32) -> Int {
        Int(min(max(row.int64(column), 0), 1 << 48))
    }

    func save(_ connection: borrowing Connection) throws {
        try connection.statement(Self.update).run(Self.columns.map { .int(max(0, self[keyPath: $0.path])) })
    }

    /// Advances the recency clock and returns its new value.
    mutating func tick() -> Int {
        clock += 1
        return clock
    }
}
