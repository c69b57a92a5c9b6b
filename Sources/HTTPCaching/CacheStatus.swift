/// `Cache-Status`: how a cache handled a request (RFC 9211 section 2).
package struct CacheStatus: Sendable, Hashable {
    /// Why a request was forwarded (section 2.2).
    package enum Forwarding: String, Sendable {
        case bypass
        case method
        case uriMiss = "uri-miss"
        case varyMiss = "vary-miss"
        case request
        case stale
    }

    /// Nil if the cache answered without forwarding.
    package var forwarding: Forwarding?
    /// Section 2.1.
    package var isHit = false
    /// The status of the forwarded request, if the client got another one (section 2.3).
    package var forwardStatus: Int?
    /// Section 2.5.
    package var isStored = false
    /// The request shared the response to another one (section 2.6).
    package var isCollapsed = false
    /// The remaining freshness lifetime in seconds; negative for a stale response (section 2.4).
    package var timeToLive: Int64?
    /// A token (section 2.8).
    package var detail: String?

    package static let hit = CacheStatus(isHit: true)

    package static func forwarded(_ forwarding: Forwarding) -> CacheStatus { CacheStatus(forwarding: forwarding) }

    /// The cache generated the response itself.
    package static func generated(_ detail: String) -> CacheStatus { CacheStatus(detail: detail) }

    /// A member of the list, as a structured field (RFC 9651).
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
