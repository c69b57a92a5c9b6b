package import HTTPTypes

/// A response as a cache stores it (RFC 9111 section 3).
package struct StoredResponse: Sendable, Hashable {
    package let status: Int
    package let fields: HTTPFields
    /// When the request was sent, in milliseconds since 1970.
    package let requestTime: Int64
    /// When the response arrived, in milliseconds since 1970.
    package let responseTime: Int64
    /// The redirects that led to it.
    package let redirects: RedirectChain

    package init(
        status: Int, fields: HTTPFields, requestTime: Int64, responseTime: Int64,
        redirects: RedirectChain = RedirectChain()
    ) {
        self.status = status
        self.fields = fields
        self.redirects = redirects
        self.requestTime = min(max(requestTime, 0), Self.latestTime)
        self.responseTime = min(max(responseTime, 0), Self.latestTime)
    }

    /// The year 10,000: what a damaged index holds does not overflow the arithmetic of times.
    private static let latestTime: Int64 = 253_402_300_800_000

    /// Parsed at each call, as most responses are examined once.
    package var directives: CacheDirectives { CacheDirectives(fields) }
    /// Computed at each call.
    package var freshness: Freshness { Freshness(self) }
    /// When the response stops being fresh, in milliseconds since 1970. Nil if unknown.
    package var knownFreshUntil: Int64? { freshness.knownFreshUntil }

    /// Statuses that are cacheable without an explicit lifetime (RFC 9110 section 15.1).
    static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The final statuses that RFC 9110 section 15 defines.
    private static let understood = Set(200...206).union(300...308).union(400...417).union([421, 422, 426]).union(
        500...505)

    /// Whether `no-store` holds: `must-understand` overrides it if the status is understood (section 5.2.2.3).
    func forbidsStoring(_ directives: CacheDirectives) -> Bool {
        directives.noStore && !(directives.mustUnderstand && Self.understood.contains(status))
    }

    /// Whether a private cache may store the response (section 3). `no-store` of a redirect is about the redirect (section 5.2.2.5): its target's
    /// response is stored, and answers the first URL only after that was asked again (`Freshness.needsValidation`).
    package var isStorable: Bool {
        let directives = directives
        if forbidsStoring(directives) { return false }
        guard (200...599).contains(status), status != 206, status != 304 else { return false }
        return directives.isPublic || directives.isPrivate || directives.maxAge != nil || fields.contains(.expires)
            || Self.heuristicallyCacheable.contains(status)
    }

    /// Not stored: fields that hold for one exchange only, and the type, which an entry stores apart.
    private static let dropped: [HTTPField.Name] = [.contentType, .retryAfter]

    /// The fields that an entry stores, as field lines.
    package var keptFields: String {
        var text = ""
        for field in fields where !Self.dropped.contains(field.name) {
            text.append(fieldLine: field)
        }
        return text
    }
}
