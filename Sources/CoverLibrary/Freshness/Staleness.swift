import CoverCache
import HTTPCaching

/// Whether an entry of the cache may be given without its server being asked (RFC 9111 section 4.2.4).
enum Staleness {
    case fresh
    /// Its time is over, and nothing forbids it.
    case allowed
    /// Its server wants to be asked first: `must-revalidate`, `no-cache`, or a `stale-if-error` that is over.
    case forbidden

    static let reason =
        "its copy in the cache is stale and must not be shown before its server is asked (must-revalidate, no-cache, or a stale-if-error that is over)"

    /// - Parameter now: milliseconds since 1970.
    init(_ entry: CachedEntry, at now: Int64) {
        // What is fresh, as most is, need not be looked into.
        if let until = entry.metadata.freshUntil, until > now {
            self = .fresh
            return
        }
        switch StoredResponse(entry).reuse(at: now) {
        case .fresh: self = .fresh
        case .whileRevalidating, .afterValidation(ifError: true): self = .allowed
        case .afterValidation(ifError: false): self = .forbidden
        }
    }
}
