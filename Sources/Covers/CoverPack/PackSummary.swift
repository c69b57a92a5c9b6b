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
