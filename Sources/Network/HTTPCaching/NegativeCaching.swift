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
