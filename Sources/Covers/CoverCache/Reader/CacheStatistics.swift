import SQLite

/// The size and the use of a cache.
public struct CacheStatistics: Sendable, Hashable, Codable {
    /// URLs that have a cover.
    public var entries = 0
    /// Different covers.
    package var blobs = 0
    /// Length of the different covers in bytes.
    package var liveBytes = 0
    /// Blocks charged against the capacity, in bytes.
    public var chargedBytes = 0
    /// Space that the covers, the index and the files beside it take on disk, in bytes.
    package var diskBytes = 0
    /// The part of `chargedBytes` that covers in smaller sizes take.
    package var sizeBytes = 0
    /// The limit of `chargedBytes`.
    public var capacity = 0
    /// Requests answered from the cache, over its life.
    public var hits = 0
    /// Requests it could not answer, over its life.
    public var misses = 0
    /// Bytes saved by storing equal covers once.
    package var deduplicatedBytes = 0
    /// Different covers that are pinned.
    package var pinned = 0
    /// Length of the pinned covers in bytes.
    package var pinnedBytes = 0
    /// When the oldest entry was stored, in milliseconds since 1970.
    package var oldest: Int64?
    /// When the newest entry was stored, in milliseconds since 1970.
    package var newest: Int64?

    /// The statistics of an empty cache.
    package init() {}

    init(_ state: IndexState) {
        (entries, blobs, pinned) = (state.entries, state.covers, state.pinnedCovers)
        (liveBytes, chargedBytes, pinnedBytes) = (state.bytes, state.charged, state.pinnedBytes)
        // Covers that were replaced and can be put back have no entries.
        deduplicatedBytes = max(0, state.entryBytes - state.bytes)
        (sizeBytes, capacity, hits, misses) = (state.sizes, state.capacity ?? 0, state.hits, state.misses)
    }

    /// With `diskBytes`, `oldest` and `newest`.
    init(_ connection: borrowing Connection, _ directory: CacheDirectory) throws {
        self.init(try IndexState(connection))
        oldest = try connection.integer("SELECT MIN(stored) FROM entries")
        newest = try connection.integer("SELECT MAX(stored) FROM entries")
        diskBytes = chargedBytes + directory.overhead + directory.logLength
    }
}

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

/// The result of `LibraryAPI.evict(to:dryRun:)`.
public struct EvictionSummary: Sendable, Hashable {
    /// Covers that were evicted.
    public var covers = 0
    /// What this has freed of the capacity, in bytes.
    public var bytes = 0
}

/// The result of `LibraryAPI.remove(_:includingPinned:dryRun:onFailure:)`.
public struct RemovalSummary: Sendable, Hashable {
    /// URLs that were removed from the cache.
    public var entries = 0
    /// Bytes of the capacity that this freed. Covers that other URLs share stay.
    public var bytes = 0
    /// URLs of the selection that stay because they are pinned.
    public var pinned = 0
    /// Covers that are not cached, and URLs that cannot be used.
    public var failed = 0

    /// A summary of nothing.
    package init() {}
}
