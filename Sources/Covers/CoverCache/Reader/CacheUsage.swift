/// Uses, hits and misses that a reader collects for `CacheWriter.noteUsage(_:)`.
package struct CacheUsage: Sendable {
    /// The rows of covers that were used, with the recency clock at their previous uses.
    var uses: [(cover: Int64, lastUsed: Int)] = []
    var hits = 0
    var misses = 0

    /// Look-ups, or uses if they are more: some uses are no look-ups that count as hits.
    var count: Int { max(hits + misses, uses.count) }
    package var isEmpty: Bool { count == 0 }

    mutating func add(_ entry: CachedEntry) { uses.append((entry.row.cover, entry.lastUsed)) }
}
