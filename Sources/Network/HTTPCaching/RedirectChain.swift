package import HTTPTypes

/// The redirects that led to a response (RFC 9110 section 15.4). The response answers the first URL only as long as each of them does:
/// their directives hold for it, and the first lifetime that ends counts.
package struct RedirectChain: Sendable, Hashable {
    /// When the first of them stops being fresh, in milliseconds since 1970. Nil without redirects.
    package private(set) var freshUntil: Int64?
    /// Each directive that one of them states. `Vary: *` counts as `no-cache` (RFC 9111 section 4.1).
    package private(set) var directives = CacheDirectives()
    /// Until when the last target is requested in place of the first URL, in milliseconds since 1970. Nil if a redirect is temporary (neither
    /// 301 nor 308), or may not be used again without asking.
    package private(set) var rememberedUntil: Int64?

    /// The lifetime of a redirect that states none, in milliseconds. RFC 9111 section 4.2.2 has no heuristic for temporary ones, but an
    /// archive that redirects to its nodes need not be asked each night.
    private static let silentLifetime: Int64 = 7 * 86_400_000
    /// The longest time that a permanent redirect is remembered, in milliseconds: a mistaken one must not last for ever.
    private static let maximumMemory: Int64 = 30 * 86_400_000

    /// Of a response without redirects.
    package init() {}

    /// As an entry stores it.
    /// - Parameter restrictions: as `CacheDirectives.restrictions`.
    package init(freshUntil: Int64?, restrictions: String) {
        (self.freshUntil, directives) = (freshUntil, CacheDirectives(restrictions))
    }

    /// - Parameters:
    ///   - memory: until when the redirect to the first of these URLs is remembered; nil if none was used.
    ///   - now: when they were answered, in milliseconds since 1970.
    package init(_ redirects: [HTTPResponse], after memory: Int64? = nil, now: Int64) {
        freshUntil = memory
        var until: Int64? = min(memory ?? .max, now + Self.maximumMemory)
        for redirect in redirects {
            let response = StoredResponse(
                status: redirect.status.code, fields: redirect.headerFields, requestTime: now, responseTime: now)
            let freshness = response.freshness
            add(freshness, isStored: !response.forbidsStoring(freshness.directives))
            let end = freshness.isExplicit ? freshness.freshUntil : now + Self.silentLifetime
            freshUntil = min(freshUntil ?? .max, end)
            let isPermanent = [301, 308].contains(response.status) && !directives.noStore && !directives.noCache
            until = isPermanent && !directives.mustRevalidate ? until : nil
            if freshness.isExplicit { until = until.map { min($0, end) } }
        }
        if !redirects.isEmpty, let until, until > now { rememberedUntil = until }
    }

    private mutating func add(_ freshness: Freshness, isStored: Bool) {
        let added = freshness.directives
        directives.noStore = directives.noStore || !isStored
        directives.noCache = directives.noCache || freshness.needsValidation
        directives.mustRevalidate = directives.mustRevalidate || added.mustRevalidate
        directives.isPrivate = directives.isPrivate || added.isPrivate
        directives.staleIfError = [directives.staleIfError, added.staleLimit].compactMap(\.self).min()
    }
}
