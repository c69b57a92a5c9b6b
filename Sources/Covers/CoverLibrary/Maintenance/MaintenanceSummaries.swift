/// The result of `LibraryAPI.pin(_:onFailure:)` or `unpin(_:onFailure:)`.
public struct PinSummary: Sendable, Hashable {
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

/// The result of `LibraryAPI.pack(_:to:onFailure:)`.
public struct PackSummary: Sendable, Hashable {
    /// URLs whose covers are in the pack.
    public var covers = 0
    /// Length of the different covers in bytes.
    public var bytes = 0
    /// Length of the pack in bytes.
    public var packBytes = 0
    /// Covers that are not cached or are damaged.
    public var failed = 0
    /// The task was cancelled: no file was written.
    public var isCancelled = false

    /// A summary of nothing.
    public init() {}
}

/// The result of `LibraryAPI.unpack(_:onFailure:)`.
public struct UnpackSummary: Sendable, Hashable {
    /// Covers that were stored.
    public var stored = 0
    /// Those of `stored` whose bytes were already stored.
    public var deduplicated = 0
    /// Covers that are cached already and were validated at the same time or later. They stay as they are.
    public var kept = 0
    /// Damaged records, and covers that could not be stored.
    public var failed = 0
    /// Length of the stored covers in bytes.
    public var bytes = 0
    /// The task was cancelled before the end of the pack.
    public var isCancelled = false

    /// A summary of nothing.
    public init() {}
}

/// The result of `LibraryAPI.push(_:)`.
public struct PushSummary: Sendable, Hashable {
    /// Covers that were put into the tier.
    public var put = 0
    /// Covers that the tier has, as new or newer.
    public var kept = 0
    /// Covers that may not be shared, or are too large.
    public var unsuitable = 0
    /// Covers that could not be put.
    public var failed = 0

    /// A summary of nothing.
    public init() {}
}
