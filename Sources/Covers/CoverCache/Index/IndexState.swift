import SQLite

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
    /// 0 if it was never set.
    var capacity = 0
    /// Lines of the entry log.
    var lines = 0

    private static let columns: [(name: String, path: any WritableKeyPath<IndexState, Int> & Sendable)] = [
        ("charged", \.charged), ("sizes", \.sizes), ("covers", \.covers), ("bytes", \.bytes), ("entries", \.entries),
        ("entryBytes", \.entryBytes), ("pinnedCovers", \.pinnedCovers), ("pinnedBytes", \.pinnedBytes),
        ("pinnedCharge", \.pinnedCharge), ("clock", \.clock), ("hits", \.hits), ("misses", \.misses),
        ("capacity", \.capacity), ("lines", \.lines),
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
