/// What a library has read from its tier and put there since it was opened.
public struct TierStatistics: Sendable, Hashable {
    /// Covers that the tier had.
    public var hits = 0
    /// Covers that the tier lacked, or could not be asked for. `damaged` and `forbidden` are among them.
    public var misses = 0
    /// Covers that were not whole, or were no images.
    public var damaged = 0
    /// Covers that the tier refused to return.
    public var forbidden = 0
    /// Covers that were put.
    public var stored = 0
    /// Covers that could not be put.
    public var failed = 0
    /// Covers that may not be shared (`Cache-Control: private`, `Vary`), or are too large.
    public var unsuitable = 0

    /// Statistics of nothing.
    public init() {}
}
