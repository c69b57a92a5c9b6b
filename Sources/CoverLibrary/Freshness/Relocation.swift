import CoverCache
import CurlHTTP
import HTTPTypes

/// Where a URL has moved for good: every redirect on the way said so (301, RFC 9110 section 15.4.2; 308, section 15.4.9).
struct Relocation: Sendable, Hashable {
    var place: HTTPURL
    /// In milliseconds since 1970: the soonest that one of the redirects says, else in 30 days.
    var until: Int64

    /// The longest a redirect is remembered, in milliseconds: one that was a mistake is not to last for ever.
    static let longest: Int64 = 30 * 86_400_000

    /// Nil: it has not moved, or not for good, or a redirect is not to be kept. - Parameter now: milliseconds since 1970.
    init?(_ response: TransferResponse, now: Int64) {
        guard let target = response.redirectedTo, !response.redirects.isEmpty, let place = try? HTTPURL(target) else {
            return nil
        }
        self.place = place
        until = now + Self.longest
        for redirect in response.redirects {
            guard [301, 308].contains(redirect.status.code) else { return nil }
            let stored = StoredResponse(
                status: redirect.status.code, fields: redirect.headerFields, requestTime: now, responseTime: now)
            let freshness = stored.freshness
            guard stored.isStorable(), !freshness.directives.noCache else { return nil }
            if freshness.directives.maxAge != nil || stored.fields.contains(.expires) {
                until = min(until, freshness.freshUntil)
            }
        }
        if until <= now { return nil }
    }

    /// The place as it was remembered of `url`; nil where it must not be asked: it is no URL any more, or leads from https to
    /// http, where anybody on the way may answer.
    static func place(of url: HTTPURL, _ remembered: Remembered?, allowsDowngrades: Bool) -> HTTPURL? {
        guard let remembered, let place = try? HTTPURL(remembered.value), place != url else { return nil }
        return url.isHTTPS && !place.isHTTPS && !allowsDowngrades ? nil : place
    }
}
