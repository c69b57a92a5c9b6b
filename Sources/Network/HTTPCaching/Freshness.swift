import HTTPTypes

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
