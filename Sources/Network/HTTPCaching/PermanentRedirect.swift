package import HTTPTypes

/// How long a chain of permanent redirects (301, RFC 9110 section 15.4.2; 308, section 15.4.9) is cached.
package enum PermanentRedirect {
    /// In milliseconds. A mistaken redirect must not last for ever.
    static let maximumLifetime: Int64 = 30 * 86_400_000

    /// When the first of the redirects stops being fresh, in milliseconds since 1970; at most `maximumLifetime` from now.
    /// Nil if the chain is empty, if a redirect is temporary, or if one must not be cached.
    /// - Parameter now: milliseconds since 1970.
    package static func freshUntil(_ redirects: [HTTPResponse], now: Int64) -> Int64? {
        if redirects.isEmpty { return nil }
        var until = now + maximumLifetime
        for redirect in redirects {
            guard [301, 308].contains(redirect.status.code) else { return nil }
            let stored = StoredResponse(
                status: redirect.status.code, fields: redirect.headerFields, requestTime: now, responseTime: now)
            let freshness = stored.freshness
            guard stored.isStorable, !freshness.directives.noCache else { return nil }
            if freshness.isExplicit { until = min(until, freshness.freshUntil) }
        }
        return until > now ? until : nil
    }
}
