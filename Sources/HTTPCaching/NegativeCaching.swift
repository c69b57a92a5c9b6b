import HTTPTypes

/// How long a server's word that nothing is at a URL is taken for, without asking again (RFC 9111 section 4: 404 and 410 are
/// responses that may be kept like any other; section 4.2.2 lets a cache guess where they say nothing of their time).
package enum NegativeCaching {
    /// The longest, in milliseconds: an error in somebody's configuration is not to keep a cover away for months.
    package static let longest: Int64 = 7 * 86_400_000
    /// A 404 says nothing of whether it lasts (RFC 9110 section 15.5.5): long enough that runs close after each other do not
    /// ask again, short enough that a cover that is put there now is had today.
    package static let guess404: Int64 = 10 * 60_000
    /// A 410 is likely to last (RFC 9110 section 15.5.11).
    package static let guess410: Int64 = 86_400_000

    /// Until when it is taken for, in milliseconds since 1970; nil: it is no such response, or must not be kept.
    /// - Parameter guess: for one that says nothing of its time, in milliseconds.
    package static func until(_ response: StoredResponse, guess: Int64? = nil) -> Int64? {
        guard response.status == 404 || response.status == 410, response.isStorable() else { return nil }
        let freshness = response.freshness
        guard !freshness.directives.noCache, !freshness.variesWithEverything else { return nil }
        let now = response.responseTime
        guard freshness.directives.maxAge != nil || response.fields.contains(.expires) else {
            return now + (guess ?? (response.status == 410 ? guess410 : guess404))
        }
        let until = min(freshness.freshUntil, now + longest)
        return until > now ? until : nil
    }
}
