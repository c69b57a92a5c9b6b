import HTTPCaching
import HTTPTypes

/// How a mirror answers a GET or a HEAD, given the cached responses to the URL (RFC 9111 section 4).
enum MirrorDecision: Sendable, Hashable {
    case serve(CachedResponse)
    /// Serve the stale response, and validate it in the background (RFC 5861 section 3).
    case serveAndRevalidate(CachedResponse)
    /// Serve the stale response: the origin must not be asked.
    case serveStale(CachedResponse)
    /// Ask the origin first. If that fails, the stale response may be served if `ifError` is true (RFC 9111 section 4.2.4).
    case validate(CachedResponse, ifError: Bool, CacheStatus.Forwarding)
    case fetch(CacheStatus.Forwarding)
    /// Answer 504: only the cache may answer, and it has no response or a stale one (RFC 9111 section 5.2.1.7).
    case refuse(CachedResponse?)

    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - isOffline: the origin must not be asked.
    init(_ responses: [CachedResponse], for request: MirrorRequest, at now: Int64, isOffline: Bool) {
        let directives = request.directives
        guard let cached = CachedResponse.select(responses, for: request.fields) else {
            self =
                isOffline || directives.onlyIfCached
                ? .refuse(nil) : .fetch(responses.isEmpty ? .uriMiss : .varyMiss)
            return
        }
        switch cached.reuse(at: now, request: directives) {
        case .fresh: self = .serve(cached)
        case .whileRevalidating where isOffline || directives.onlyIfCached: self = .serveStale(cached)
        case .whileRevalidating: self = .serveAndRevalidate(cached)
        case .afterValidation where directives.onlyIfCached: self = .refuse(cached)
        case .afterValidation(let ifError):
            let mayServeStale = ifError && cached.response.isUsefulStale
            if isOffline {
                self = mayServeStale ? .serveStale(cached) : .refuse(cached)
            } else {
                let isFresh = cached.reuse(at: now, request: CacheDirectives()) == .fresh
                self = .validate(cached, ifError: mayServeStale, isFresh ? .request : .stale)
            }
        }
    }
}

extension StoredResponse {
    /// A stale error response says nothing about the resource now.
    var isUsefulStale: Bool { status < 400 }

    /// Whether storing the response can save a request or answer one.
    ///
    /// A fresh response can, and so can a stale one that can be validated or served without validation (section 4.2.4), unless it
    /// is an error. A response with `Vary: *` matches no later request (section 4.1).
    var isWorthStoring: Bool {
        let freshness = freshness, directives = freshness.directives
        if freshness.variesWithEverything { return false }
        if !directives.noCache, freshness.lifetime > freshness.initialAge { return true }
        return isUsefulStale && (!conditions.isEmpty || !(directives.mustRevalidate || directives.noCache))
    }

    /// Whether the response describes the resource, rather than a refused request.
    var invalidatesStored: Bool { status < 400 || status == 404 || status == 410 }

    /// Whether the server failed, which `stale-if-error` covers (RFC 5861 section 4).
    var isServerError: Bool { [500, 502, 503, 504].contains(status) }
}
