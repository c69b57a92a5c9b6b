import HTTPCaching
import HTTPTypes

/// What a mirror does with a GET or a HEAD for a URL of which it may hold responses (RFC 9111 §4). A pure value.
enum MirrorDecision: Sendable, Hashable {
    /// As it is stored.
    case serve(HeldResponse)
    /// As it is stored; the origin is asked beside (RFC 5861 §3).
    case serveAndRevalidate(HeldResponse)
    /// Stale, and the origin must not be asked.
    case serveStale(HeldResponse)
    /// After the origin has been asked. If it fails, the stale response may be used where `ifError` says so (RFC 9111 §4.2.4).
    case validate(HeldResponse, ifError: Bool, CacheStatus.Forwarding)
    case fetch(CacheStatus.Forwarding)
    /// 504: the cache alone was to answer, and cannot (RFC 9111 §5.2.1.7), either because nothing is there, or because of what
    /// is there, which is too old.
    case refuse(HeldResponse?)

    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - isOffline: the origin is not to be asked.
    init(_ held: [HeldResponse], for request: MirrorRequest, at now: Int64, isOffline: Bool) {
        let directives = request.directives
        guard let chosen = HeldResponse.select(held, for: request.fields) else {
            self = isOffline || directives.onlyIfCached ? .refuse(nil) : .fetch(held.isEmpty ? .uriMiss : .varyMiss)
            return
        }
        switch chosen.reuse(at: now, request: directives) {
        case .fresh: self = .serve(chosen)
        case .whileRevalidating where isOffline || directives.onlyIfCached: self = .serveStale(chosen)
        case .whileRevalidating: self = .serveAndRevalidate(chosen)
        case .afterValidation where directives.onlyIfCached: self = .refuse(chosen)
        case .afterValidation(let ifError):
            let mayStand = ifError && chosen.response.isWorthKeepingStale
            if isOffline {
                self = mayStand ? .serveStale(chosen) : .refuse(chosen)
            } else {
                let wasFresh = chosen.reuse(at: now, request: CacheDirectives()) == .fresh
                self = .validate(chosen, ifError: mayStand, wasFresh ? .request : .stale)
            }
        }
    }
}

extension StoredResponse {
    /// An error of yesterday tells nothing of today.
    var isWorthKeepingStale: Bool { status < 400 }

    /// Whether it may ever answer anything. An error is kept for as long as its server says, and no longer. What is stale when
    /// it comes is of use once its server says that it stands, or unasked: offline, in place of an error, for a client's
    /// `max-stale` (§4.2.4). One that must be validated and gives nothing to do that with is of none, nor is one that no other
    /// request matches (`Vary: *`, §4.1).
    var isWorthKeeping: Bool {
        if Variance.names(fields[values: .vary]).contains("*") { return false }
        if !directives.noCache, lifetime > initialAge { return true }
        return status < 400 && (!conditions.isEmpty || !(directives.mustRevalidate || directives.noCache))
    }

    /// It tells what the resource is now, rather than that the request was turned away.
    var replacesOthers: Bool { status < 400 || status == 404 || status == 410 }

    /// The server failed, rather than refused (RFC 5861 §4).
    var isServerError: Bool { [500, 502, 503, 504].contains(status) }
}
