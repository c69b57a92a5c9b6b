import SQLite

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
    /// Blobs with a higher row count as `evictedNewBlobs`. Not stored.
    var lastOldBlob: Int64 = 0
    /// The new blobs that this transaction has evicted. Not stored.
    var evictedNewBlobs = 0

    init() {}

    init(_ connection: borrowing Connection) throws {
        let state = try connection.statement(
            "SELECT live, blobs, clock, hits, misses, capacity, lastSegment FROM state"
        ).first { row in
            var state = IndexState()
            (state.charged, state.blobs) = (try row.counter(0), try row.counter(1))
            state.clock = Int64(try row.counter(2))
            (state.hits, state.misses) = (try row.counter(3), try row.counter(4))
            (state.capacity, state.lastSegment) = (try row.counter(5), try row.counter(6))
            return state
        }
        guard let state else { throw SQLiteError(.corrupt, "its counters are missing") }
        self = state
    }

    func save(_ connection: borrowing Connection) throws {
        try connection.statement(
            "UPDATE state SET live=?, blobs=?, clock=?, hits=?, misses=?, capacity=?, lastSegment=?"
        ).run(
            .int(max(0, charged)), .int(max(0, blobs)), .int(clock), .int(hits), .int(misses), .int(capacity),
            .int(lastSegment))
    }

    /// Advances the recency clock and returns its new value.
    mutating func tick() -> Int64 {
        clock += 1
        return clock
    }
}
