/// What a prefetch has done so far, or in all.
///
/// `requested` is `downloaded + revalidated + fresh + joined + skipped + failed` once the run is over.
public struct PrefetchSummary: Sendable, Hashable {
    /// Covers asked for, usable or not.
    public var requested = 0
    /// Transfers that brought a body.
    public var downloaded = 0
    /// Those of `downloaded` whose bytes were stored already.
    public var deduplicated = 0
    /// Answered 304: what was stored is still good.
    public var revalidated = 0
    /// In the cache already; no transfer was needed.
    public var fresh = 0
    /// Asked for more than once in the run; one transfer served all.
    public var joined = 0
    /// No usable URL.
    public var skipped = 0
    /// Could not be had.
    public var failed = 0
    /// Left for the next run, as this one was stopped or its budget was spent: cut off, or never begun. Neither failed nor among
    /// those requested. What a prefetch that is stopped has not read of its list is not counted.
    public var remaining = 0
    /// Bytes of the bodies downloaded.
    public var bytes = 0
    /// Wall time.
    public var seconds = 0.0
    /// The run was cancelled before its end.
    public var isCancelled = false
    /// Why the run ended early, other than by being cancelled: the disk is full, for example.
    public var stopReason: String?

    /// A summary of nothing.
    public init() {}

    /// Covers that have got their outcome.
    public var settled: Int { downloaded + revalidated + fresh + joined + skipped + failed }
    /// Covers downloaded and stored, a second; failures never count.
    public var coversPerSecond: Double { seconds > 0 ? Double(downloaded) / seconds : 0 }
    /// Bytes downloaded a second.
    public var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }
}

/// What became of one cover of a prefetch. It is told after the commit that makes it true.
public struct CoverOutcome: Sendable, Hashable {
    /// The words of the report.
    public enum Kind: String, Sendable {
        /// A transfer brought it.
        case downloaded
        /// The server said that what is stored is still good.
        case revalidated
        /// It was stored already.
        case fresh
        /// Another request of the same run brought it.
        case joined
        /// Its URL cannot be used.
        case skipped
        /// It could not be had.
        case failed
    }

    /// What happened.
    public var kind: Kind
    /// As given.
    public var url: String
    /// SHA-256 in hexadecimal; nil when there is no cover.
    public var digest: String?
    /// Length of the cover; 0 when there is none.
    public var bytes: Int
    /// Length of the transfer; 0 when there was none.
    public var milliseconds: Double
    /// Why there is no cover.
    public var failure: CoverFailure?
    /// The same bytes were stored already.
    public var isDuplicate = false
}
