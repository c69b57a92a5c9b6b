/// What a cache did with a request, as `Cache-Status` tells it (RFC 9211 §2).
package struct CacheStatus: Sendable, Hashable {
    /// Why a request was forwarded (§2.2).
    package enum Forwarding: String, Sendable {
        case bypass
        case method
        case uriMiss = "uri-miss"
        case varyMiss = "vary-miss"
        case request
        case stale
    }

    /// Nil: answered from the cache, or by the mirror itself.
    package var forwarding: Forwarding?
    /// §2.1.
    package var isHit = false
    /// What the origin answered, where the client got another status (§2.3).
    package var forwardStatus: Int?
    /// §2.4.
    package var isStored = false
    /// §2.5: another's request brought the response.
    package var isCollapsed = false
    /// For how many seconds it is still fresh; below 0: for how long it has not been (§2.4).
    package var timeToLive: Int64?
    /// §2.8: a token.
    package var detail: String?

    package init(
        forwarding: Forwarding? = nil, isHit: Bool = false, forwardStatus: Int? = nil, isStored: Bool = false,
        isCollapsed: Bool = false, timeToLive: Int64? = nil, detail: String? = nil
    ) {
        self.forwarding = forwarding
        self.isHit = isHit
        self.forwardStatus = forwardStatus
        self.isStored = isStored
        self.isCollapsed = isCollapsed
        self.timeToLive = timeToLive
        self.detail = detail
    }

    package static let hit = CacheStatus(isHit: true)

    package static func forwarded(_ why: Forwarding) -> CacheStatus { CacheStatus(forwarding: why) }

    package static func own(_ detail: String) -> CacheStatus { CacheStatus(detail: detail) }

    /// One member of the list, a structured field (RFC 8941).
    package var text: String {
        var text = "sleeve"
        if isHit { text += "; hit" }
        if let forwarding { text += "; fwd=\(forwarding.rawValue)" }
        if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
        if let timeToLive { text += "; ttl=\(timeToLive)" }
        if isStored { text += "; stored" }
        if isCollapsed { text += "; collapsed" }
        if let detail { text += "; detail=\(detail)" }
        return text
    }
}
