package import CurlHTTP
import HTTPTypes

/// Whether a redirect is followed.
///
/// Each redirect is a request of its own in the queue of the host it leads to. That host's concurrency, rate and breaker
/// apply to it.
package struct RedirectPolicy: Sendable {
    /// Maximum number of redirects for one cover.
    private static let maximumRedirects = 10
    /// Follow redirects from https to http, whose responses anyone on the path can change.
    package var allowsDowngrades = false

    package init(allowsDowngrades: Bool = false) { self.allowsDowngrades = allowsDowngrades }

    /// The next URL to request, or why it is refused; nil if the response is no redirect.
    /// - Parameters:
    ///   - url: the cover's own URL.
    ///   - target: the URL that the response answers.
    ///   - redirectCount: redirects followed so far.
    package func decide(
        _ response: TransferResponse, of url: HTTPURL, at target: HTTPURL, redirectCount: Int
    ) -> Result<HTTPURL, CoverFailure>? {
        guard let location = response.location, [300, 301, 302, 303, 307, 308].contains(response.head.status.code)
        else { return nil }
        func refused(_ kind: CoverFailure.Kind, _ detail: String) -> Result<HTTPURL, CoverFailure> {
            .failure(CoverFailure(kind, url: url.string, detail: detail))
        }
        do throws(HTTPURL.Problem) {
            let next = try HTTPURL(location)
            if isDowngrade(from: url, to: next) || isDowngrade(from: target, to: next) {
                return refused(
                    .refusedAddress,
                    "redirected from https to http, where anyone on the path can answer")
            }
            if redirectCount >= Self.maximumRedirects {
                return refused(.tooManyRedirects, "more than \(Self.maximumRedirects) redirects")
            }
            return .success(next)
        } catch {
            return refused(.refusedAddress, "redirected to what may not be fetched: \(error)")
        }
    }

    private func isDowngrade(from url: HTTPURL, to target: HTTPURL) -> Bool {
        url.isHTTPS && !target.isHTTPS && !allowsDowngrades
    }
}
