import CoverCache
import CurlHTTP
import HTTPCaching

/// Whether a cached entry may be used without asking its server (RFC 9111 §4.2.4).
enum Staleness {
    case fresh
    /// Stale, and the server allows stale use.
    case allowed
    /// The server must be asked first: `must-revalidate`, `no-cache`, or an expired `stale-if-error`.
    case forbidden

    static let reason =
        "its copy in the cache is stale and must not be shown before its server is asked (must-revalidate, no-cache, or a stale-if-error that is over)"

    /// Whether the index says that an entry is fresh. A validation ahead of now was recorded with a wrong clock and is not trusted.
    /// - Parameters:
    ///   - until: as `EntryMetadata.freshUntil`.
    ///   - validatedAt: in milliseconds since 1970, as is `now`.
    static func isFresh(until: Int64?, validatedAt: Int64, at now: Int64) -> Bool {
        validatedAt <= now && until.map { $0 > now } ?? false
    }

    /// - Parameter now: milliseconds since 1970.
    init(_ entry: CachedEntry, at now: Int64) {
        // Most entries are fresh; the index says so without their header fields.
        if Self.isFresh(until: entry.metadata.freshUntil, validatedAt: entry.validatedAt, at: now) {
            self = .fresh
            return
        }
        // A cover that was given as a file has no server.
        if let url = try? HTTPURL(entry.metadata.key), url.isInvalidHost {
            self = .fresh
            return
        }
        self = StoredResponse(entry).mayBeStale(at: now) ? .allowed : .forbidden
    }
}
