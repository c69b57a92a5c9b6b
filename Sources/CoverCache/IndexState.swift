import GRDB

/// The index's single row of counters.
struct IndexState {
    /// Bytes charged to the capacity.
    var charged = 0
    var blobs = 0
    /// The recency clock: a counter that advances with every use.
    var clock: Int64 = 0
    var hits = 0
    var misses = 0
    /// In bytes; 0 if it was never set.
    var capacity = 0
    /// The highest segment number ever used.
    var lastSegment = 0

    init(_ database: Database) throws {
        guard let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT * FROM state")) else { return }
        charged = row["live"]
        blobs = row["blobs"]
        clock = row["clock"]
        hits = row["hits"]
        misses = row["misses"]
        capacity = row["capacity"]
        lastSegment = row["lastSegment"]
    }

    func save(_ database: Database) throws {
        try database.cachedStatement(
            sql: "UPDATE state SET live=?, blobs=?, clock=?, hits=?, misses=?, capacity=?, lastSegment=?"
        ).execute(arguments: [charged, blobs, clock, hits, misses, capacity, lastSegment])
    }

    /// Advances the recency clock and returns its new value.
    mutating func tick() -> Int64 {
        clock += 1
        return clock
    }
}
