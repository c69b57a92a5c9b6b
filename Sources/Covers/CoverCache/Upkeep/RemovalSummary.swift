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
    public init() {}
}
