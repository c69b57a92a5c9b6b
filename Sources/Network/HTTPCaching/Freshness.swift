package import HTTPTypes

/// The age of a response, and how long it is fresh (RFC 9111 section 4.2). Times are in milliseconds since 1970, durations in
/// milliseconds.
package struct Freshness {
    package let directives: CacheDirectives
    /// Whether the response answers no later request unless its server confirms it: `no-cache` (section 5.2.2.4) or `Vary: *` (section 4.1),
    /// of it or of a redirect that led to it; or `no-store` of a redirect (section 5.2.2.5), or of a 304 that has updated the response.
    package let needsValidation: Bool
    /// Whether the response states its lifetime (`max-age`, `Expires`).
    package let isExplicit: Bool
    /// When the response was generated (RFC 9110 section 6.6.1); when it arrived, if it has no valid `Date`.
    package let date: Int64
    /// The age at arrival (section 4.2.3).
    package let initialAge: Int64
    /// How long the response is fresh from `date` on (section 4.2.1).
    package let lifetime: Int64
    private let responseTime: Int64
    /// That of the redirects that led to the response.
    private let redirectsFreshUntil: Int64?

    /// The maximum heuristic lifetime (section 4.2.2).
    static let maximumHeuristic: Int64 = 7 * 86_400_000
    /// The maximum lifetime that `Expires` gives, one year: a later date is likely one of a wrong clock. RFC 2616 section 14.21 allowed
    /// no more; RFC 9111 section 5.3 warns of it.
    static let maximumExpires: Int64 = 365 * 86_400_000
    /// The share of the time since the last change; section 4.2.2 names a tenth as typical.
    private static let heuristicShare: Int64 = 10

    package init(_ response: StoredResponse) {
        let fields = response.fields
        responseTime = response.responseTime
        directives = CacheDirectives(fields)
        redirectsFreshUntil = response.redirects.freshUntil
        let variesWithEverything = fields.contains {
            $0.name == .vary && $0.value.contains("*") && Vary.names([$0.value]).contains("*")
        }
        let redirects = response.redirects.directives
        needsValidation =
            variesWithEverything || directives.noCache || redirects.noCache || redirects.noStore
            || response.forbidsStoring(directives)
        // Several lines of a field that must be sent once are joined, and then are no valid date (RFC 9110 section 5.3).
        func moment(_ name: HTTPField.Name) -> Int64? {
            fields.text(name).flatMap { HTTPDate.seconds($0) }.map { $0 * 1_000 }
        }
        date = moment(.date) ?? responseTime

        // The first `Age` counts; an invalid one is ignored (section 5.1).
        let age = fields.first { $0.name == .age }?.value.withBytes { list in
            var list = list
            return CacheDirectives.seconds(list.removePrefix(before: UInt8(ascii: ",")).trimmed)
        }
        let apparentAge = max(0, responseTime - date)
        initialAge = max(apparentAge, (age ?? 0) * 1_000 + max(0, responseTime - response.requestTime))

        let hasExpires = fields.contains { $0.name == .expires }
        isExplicit = directives.maxAge != nil || hasExpires
        if let maxAge = directives.maxAge {
            lifetime = maxAge * 1_000
        } else if hasExpires {
            // An invalid date, such as 0, means already expired (section 5.3).
            lifetime = min(max(0, (moment(.expires) ?? date) - date), Self.maximumExpires)
        } else if directives.isPublic || StoredResponse.heuristicallyCacheable.contains(response.status),
            let lastModified = moment(.lastModified)
        {
            // A `Date` ahead of the response is one of a wrong clock.
            let unchanged = max(0, min(date, responseTime) - lastModified)
            lifetime = min(unchanged / Self.heuristicShare, Self.maximumHeuristic)
        } else {
            lifetime = 0
        }
    }

    /// When the response, or a redirect that led to it, stops being fresh.
    package var freshUntil: Int64 {
        needsValidation
            ? responseTime : min(responseTime - initialAge + lifetime, redirectsFreshUntil ?? .max)
    }

    /// `freshUntil`, or nil if the response does not state its lifetime and no heuristic applies.
    package var knownFreshUntil: Int64? { isExplicit || needsValidation || lifetime > 0 ? freshUntil : nil }
}

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
            let freshness = response.freshness, stated = freshness.directives
            directives.noStore = directives.noStore || response.forbidsStoring(stated)
            directives.noCache = directives.noCache || freshness.needsValidation
            directives.mustRevalidate = directives.mustRevalidate || stated.mustRevalidate
            directives.isPrivate = directives.isPrivate || stated.isPrivate
            directives.staleIfError = [directives.staleIfError, stated.staleLimit].compactMap(\.self).min()
            let end = freshness.isExplicit ? freshness.freshUntil : now + Self.silentLifetime
            freshUntil = min(freshUntil ?? .max, end)
        }
    }
}

/// How long a 404 or a 410 is cached (RFC 9111 section 4), with a heuristic if the response states no lifetime (section 4.2.2).
package enum NegativeCaching {
    /// In milliseconds. A misconfigured lifetime must not hide a cover for months.
    package static let maximumLifetime: Int64 = 7 * 86_400_000
    /// A 404 does not say whether it lasts (RFC 9110 section 15.5.5). Runs in quick succession do not ask again, and a new cover
    /// is found the same day.
    private static let defaultLifetime404: Int64 = 10 * 60_000
    /// A 410 is likely to last (RFC 9110 section 15.5.11).
    private static let defaultLifetime410: Int64 = 86_400_000

    /// When the response stops being fresh, in milliseconds since 1970. Nil if it is no 404 or 410, must not be cached, or asks for a pause:
    /// it says "not yet".
    /// - Parameter guess: the lifetime of a response that states none, in milliseconds.
    package static func until(_ response: StoredResponse, guess: Int64? = nil) -> Int64? {
        guard response.status == 404 || response.status == 410, response.isStorable else { return nil }
        let freshness = response.freshness, now = response.responseTime
        if let pause = RetryAfter.delay(response.fields, now: now / 1_000), pause > .zero { return nil }
        if freshness.needsValidation { return nil }
        let guessed = now + (guess ?? (response.status == 410 ? defaultLifetime410 : defaultLifetime404))
        let until =
            freshness.isExplicit
            ? min(freshness.freshUntil, now + maximumLifetime) : min(guessed, response.redirects.freshUntil ?? .max)
        return until > now ? until : nil
    }
}

/// `Vary`: the fields of a request by which its server has chosen the response (RFC 9111 section 4.1).
package enum Vary {
    /// The names in the values of a response's `Vary`, in lower case; `*` stands for all.
    package static func names(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            .filter { !$0.isEmpty }
    }
}
