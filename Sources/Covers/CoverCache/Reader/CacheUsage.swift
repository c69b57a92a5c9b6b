/// Uses, hits and misses that a reader collects for `CacheWriter.noteUsage(_:)`.
package struct CacheUsage: Sendable {
    package struct Use: Sendable {
        /// The cover's row.
        var cover: Int64
        /// The recency clock at the previous use.
        var lastUsed: Int
    }
    package var uses: [Use] = []
    package var hits = 0
    package var misses = 0
    package init() {}

    /// Look-ups, or uses if they are more: some uses are no look-ups that count as hits.
    var count: Int { max(hits + misses, uses.count) }
    package var isEmpty: Bool { count == 0 }
}

extension CacheUsage.Use {
    init(_ entry: CachedEntry) { self.init(cover: entry.row.cover, lastUsed: entry.lastUsed) }
}
