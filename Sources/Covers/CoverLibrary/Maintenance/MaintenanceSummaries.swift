/// The result of `LibraryAPI.evict(to:dryRun:)`.
public struct EvictionSummary: Sendable, Hashable, Codable {
    /// Covers that were evicted.
    public var covers = 0
    /// What this has freed of the capacity, in bytes.
    public var bytes = 0

    /// A summary of nothing.
    public init() {}

    init(_ evicted: (covers: Int, bytes: Int)) { (covers, bytes) = evicted }
}

/// The result of `LibraryAPI.pin(_:onFailure:)` or `unpin(_:onFailure:)`.
public struct PinSummary: Sendable, Hashable, Codable {
    /// Covers of the selection.
    public var covers = 0
    /// How many changed: newly pinned, or no longer pinned.
    public var changed = 0
    /// Covers that are not cached, and URLs that cannot be used.
    public var failed = 0

    /// A summary of nothing.
    public init() {}

    init(covers: Int, changed: Int, failed: Int = 0) {
        (self.covers, self.changed, self.failed) = (covers, changed, failed)
    }
}
