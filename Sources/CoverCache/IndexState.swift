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
    /// Blobs with a higher row count as `evictedNewBlobs`. Not stored.
    var lastOldBlob: Int64 = 0
    /// The new blobs that this transaction has evicted. Not stored.
    var evictedNewBlobs = 0

    init() {}

    init(_ database: Database) throws {
        guard let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT * FROM state")) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its counters are missing")
        }
        func counter(_ column: String) throws -> Int { try FastRow.size(Int64.fromDatabaseValue(row[column]) ?? -1) }
        charged = try counter("live")
        blobs = try counter("blobs")
        clock = Int64(try counter("clock"))
        hits = try counter("hits")
        misses = try counter("misses")
        capacity = try counter("capacity")
        lastSegment = try counter("lastSegment")
    }

    func save(_ database: Database) throws {
        try database.cachedStatement(
            sql: "UPDATE state SET live=?, blobs=?, clock=?, hits=?, misses=?, capacity=?, lastSegment=?"
        ).execute(arguments: [max(0, charged), max(0, blobs), clock, hits, misses, capacity, lastSegment])
    }

    /// Advances the recency clock and returns its new value.
    mutating func tick() -> Int64 {
        clock += 1
        return clock
    }
}
