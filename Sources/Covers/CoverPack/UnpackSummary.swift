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
