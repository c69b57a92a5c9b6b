import HTTPTypes

/// Whether a stored response may answer a request (RFC 9111 §4).
package enum Reuse: Sendable, Hashable {
    /// As it is, without asking.
    case fresh
    /// As it is; the server is to be asked beside (RFC 5861 §3).
    case whileRevalidating
    /// After the server has been asked. If it cannot be reached, or answers with a server error, the stale response may
    /// be used where `ifError` says so (§4.2.4; RFC 5861 §4).
    case afterValidation(ifError: Bool)
}

extension StoredResponse {
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - request: what the request says; `Pragma` is the caller's to turn into `no-cache` (§5.4).
    package func reuse(at now: Int64, request: CacheDirectives = CacheDirectives()) -> Reuse {
        let freshness = freshness, directives = freshness.directives
        let age = freshness.age(at: now), lifetime = directives.noCache ? 0 : freshness.lifetime
        let isFresh = !directives.noCache && age < lifetime
        let staleness = max(0, age - lifetime)
        // Nothing allows a stale one where the server forbids it (§5.2.2.2, §5.2.2.4).
        let isForbidden = directives.mustRevalidate || directives.noCache
        // Requests may say it too (RFC 5861 §4).
        let ifErrorFor = [directives.staleIfError, request.staleIfError].compactMap(\.self).max() ?? .max / 1_000
        let ifError = !isForbidden && (isFresh || staleness <= ifErrorFor * 1_000)

        if request.noCache { return .afterValidation(ifError: ifError) }
        // An age in whole seconds is what the request means (§5.2.1.1).
        // What is immutable is as good as just validated while it is fresh, also for a reload (RFC 8246 §2).
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
