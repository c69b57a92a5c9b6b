import CoverCache
import CurlHTTP
import HTTPCaching

/// Where a URL has moved permanently.
struct Relocation: Sendable, Hashable {
    var url: HTTPURL
    /// In milliseconds since 1970.
    var until: Int64

    /// Nil if the response was not redirected, or not permanently. - Parameter now: milliseconds since 1970.
    init?(_ response: TransferResponse, now: Int64) {
        guard let target = response.redirectedTo, let url = try? HTTPURL(target),
            let until = PermanentRedirect.freshUntil(response.redirects, now: now)
        else { return nil }
        self.url = url
        self.until = until
    }

    /// The cached target of `url`. Nil if it is no URL, or leads from https to http, where anybody on the path can answer.
    static func target(of url: HTTPURL, _ remembered: Hint?, allowsDowngrades: Bool) -> HTTPURL? {
        guard let remembered, let target = try? HTTPURL(remembered.value), target != url else { return nil }
        return url.isHTTPS && !target.isHTTPS && !allowsDowngrades ? nil : target
    }
}
