public import CoverFetch

/// A change of a library, for its observers. Further events may be added: a `switch` needs a `default`.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum LibraryEvent: Sendable, Hashable {
    /// A cover is stored by this process: on disk, indexed, and safe from power loss. Its URL is the normalised one: the cover's key in the cache.
    case arrived(CoverOutcome)
    /// A cover could not be downloaded or stored.
    case failed(CoverFailure)
    /// This process has removed a cover from the cache, under all its URLs: it was evicted, replaced, removed or damaged.
    /// - Parameter digest: SHA-256 of its bytes, in hexadecimal, as `CoverStatus.digest`.
    case removed(digest: String)
    /// The albums have changed, in this process or another. Noticed at the library's next access to them.
    case albumsChanged
    /// The observer was too slow: this many events were dropped here.
    case missed(Int)

    /// Nil for an outcome that changes nothing, such as a revalidated cover.
    init?(_ outcome: CoverOutcome) {
        if outcome.kind == .downloaded {
            self = .arrived(outcome)
        } else if let failure = outcome.failure {
            self = .failed(failure)
        } else {
            return nil
        }
    }
}
