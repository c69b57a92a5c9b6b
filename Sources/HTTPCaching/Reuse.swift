/// Whether a stored response may answer a request (RFC 9111 section 4).
package enum Reuse: Sendable, Hashable {
    /// Without validation.
    case fresh
    /// Without validation; the server is asked in the background (RFC 5861 section 3).
    case whileRevalidating
    /// After successful validation. If the server cannot be reached or answers with a server error, the stale response may be
    /// used if `ifError` is true (RFC 9111 section 4.2.4; RFC 5861 section 4).
    case afterValidation(ifError: Bool)
}

extension StoredResponse {
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - request: the directives of the request. The caller maps `Pragma` to `no-cache` (section 5.4).
    package func reuse(at now: Int64, request: CacheDirectives = CacheDirectives()) -> Reuse {
        let freshness = freshness, directives = freshness.directives
        let age = freshness.age(at: now), lifetime = directives.noCache ? 0 : freshness.lifetime
        let isFresh = freshness.isFresh(at: now)
        let staleness = max(0, age - lifetime)
        // These directives forbid stale responses whatever else is sent (sections 5.2.2.2 and 5.2.2.4).
        let isForbidden = directives.mustRevalidate || directives.noCache
        // Both responses and requests may send `stale-if-error` (RFC 5861 section 4).
        let ifErrorFor = [directives.staleIfError, request.staleIfError].compactMap(\.self).max() ?? .max / 1_000
        let ifError = !isForbidden && (isFresh || staleness <= ifErrorFor * 1_000)

        if request.noCache { return .afterValidation(ifError: ifError) }
        // `max-age` of a request is compared with the age in whole seconds (section 5.2.1.1).
        // A fresh immutable response needs no validation, even for a reload (RFC 8246 section 2).
        if let maxAge = request.maxAge, age / 1_000 > maxAge, !(directives.isImmutable && isFresh) {
            return .afterValidation(ifError: ifError)
        }
        if isFresh {
            let left = lifetime - age
            return left >= (request.minFresh ?? 0) * 1_000 ? .fresh : .afterValidation(ifError: ifError)
        }
        if isForbidden || request.minFresh != nil { return .afterValidation(ifError: ifError) }
        if let maxStale = request.maxStale, staleness / 1_000 <= maxStale { return .fresh }
        if let window = directives.staleWhileRevalidate, staleness <= window * 1_000 { return .whileRevalidating }
        return .afterValidation(ifError: ifError)
    }
}
