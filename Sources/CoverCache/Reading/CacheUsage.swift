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

    var count: Int { hits + misses }
    package var isEmpty: Bool { count == 0 }
}
