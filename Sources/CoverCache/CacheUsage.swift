/// Uses, hits and misses that a reader collects for `CacheWriter.record(_:)`.
package struct CacheUsage: Sendable {
    package struct Use: Sendable {
        var blob: Int64
        /// The recency clock at the previous use.
        var lastUsed: Int64
    }
    package var uses: [Use] = []
    package var hits = 0
    package var misses = 0
    package init() {}

    var count: Int { hits + misses }
    package var isEmpty: Bool { count == 0 }
}
