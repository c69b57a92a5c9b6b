import CoverLibrary

/// The result of a prefetch or a refresh.
struct CoverRunResult: Encodable {
    private let requested, downloaded, deduplicated, revalidated, fresh, joined, skipped, failed, gone, remaining: Int
    private let leftOut: Int
    /// New covers that were evicted to make room for others.
    private let evicted: Int
    /// Smaller pictures that were made; nil if none were wanted.
    private let sizes: Int?
    private let bytes: Int
    private let seconds, coversPerSecond, bytesPerSecond: Double
    private let peakMemoryBytes: Int
    private let cancelled: Bool
    private let stopReason: String?

    init(_ summary: RunSummary, evicted: Int, sizes: Int?) {
        (requested, downloaded, deduplicated) = (summary.requested, summary.downloaded, summary.deduplicated)
        (revalidated, fresh, joined) = (summary.revalidated, summary.fresh, summary.joined)
        (skipped, failed, gone) = (summary.skipped, summary.failed, summary.gone)
        (remaining, leftOut, self.evicted, self.sizes) = (summary.remaining, summary.leftOut, evicted, sizes)
        (bytes, seconds, coversPerSecond) = (summary.bytes, summary.seconds, summary.coversPerSecond)
        (bytesPerSecond, peakMemoryBytes) = (summary.bytesPerSecond, ResidentMemory.peak)
        (cancelled, stopReason) = (summary.isCancelled, summary.stopReason)
    }
}
