/// Changes without durability needs. They are written with the next commit.
struct DeferredChanges {
    /// Hint changes between two sweeps of their table. The first change after opening also sweeps it.
    private static let hintSweepInterval = 4_096

    /// Rows of covers that were used, in order.
    private var used: [Int64] = []
    private var hits = 0
    private var misses = 0
    private var hints: [HintChange] = []
    /// The time of the last hint change, in milliseconds since 1970.
    private var now: Int64 = 0
    private var hintsUntilSweep = 0

    var isEmpty: Bool { used.isEmpty && hits + misses == 0 && hints.isEmpty }

    /// - Parameter recency: covers that were used after it need no use.
    mutating func add(_ usage: CacheUsage, olderThan recency: Int) {
        for use in usage.uses where use.lastUsed <= recency { used.append(use.cover) }
        hits += usage.hits
        misses += usage.misses
    }

    mutating func add(_ changes: [HintChange], now: Int64) {
        hints += changes
        self.now = now
    }

    /// Call `clear` once the transaction is committed.
    mutating func write(to index: IndexWriter, _ changes: inout IndexChanges) throws {
        for cover in used { try index.table.touch(cover, used: changes.state.tick()) }
        changes.state.hits += hits
        changes.state.misses += misses
        if hints.isEmpty { return }
        for change in hints { try index.hints.apply(change) }
        hintsUntilSweep -= hints.count
        if hintsUntilSweep < 0 {
            try index.hints.sweep(now: now)
            hintsUntilSweep = Self.hintSweepInterval
        }
    }

    mutating func clear() {
        used.removeAll(keepingCapacity: true)
        hints.removeAll(keepingCapacity: true)
        (hits, misses) = (0, 0)
    }
}
