package import HTTPTypes

/// The redirects that led to a response (RFC 9110 section 15.4). The response answers the first URL only as long as each of them does:
/// their directives hold for it, and the first lifetime that ends counts.
package struct RedirectChain: Sendable, Hashable {
    /// When the first of them stops being fresh, in milliseconds since 1970. Nil without redirects.
    package private(set) var freshUntil: Int64?
    /// Each directive that one of them states. `Vary: *` counts as `no-cache` (RFC 9111 section 4.1).
    package private(set) var directives = CacheDirectives()

    /// The lifetime of a redirect that states none, in milliseconds. RFC 9111 section 4.2.2 has no heuristic for temporary ones, but an
    /// archive that redirects to its nodes need not be asked each night.
    private static let silentLifetime: Int64 = 7 * 86_400_000

    /// Of a response without redirects.
    package init() {}

    /// As an entry stores it.
    /// - Parameter restrictions: as `CacheDirectives.restrictions`.
    package init(freshUntil: Int64?, restrictions: String) {
        (self.freshUntil, directives) = (freshUntil, CacheDirectives(restrictions))
    }

    /// - Parameter now: when they were answered, in milliseconds since 1970.
    package init(_ redirects: [HTTPResponse], now: Int64) {
        for redirect in redirects {
            let response = StoredResponse(
                status: redirect.status.code, fields: redirect.headerFields, requestTime: now, responseTime: now)
            let freshness = response.freshness
            add(freshness, isStored: !response.forbidsStoring(freshness.directives))
            let end = freshness.isExplicit ? freshness.freshUntil : now + Self.silentLifetime
            freshUntil = min(freshUntil ?? .max, end)
        }
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
