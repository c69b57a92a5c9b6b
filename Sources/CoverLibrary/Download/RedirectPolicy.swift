import CurlHTTP
import HTTPTypes

/// Whether a redirect is followed. Every step is a request of its own, in the queue of the host it leads to: that host's pace,
/// rate, `robots.txt` and breaker are what counts for it, and what it answers is noted of it alone.
struct RedirectPolicy: Sendable {
    /// Steps for one cover.
    var most = 5
    /// Follow redirects from https to http, whose answers anybody on the way may change.
    var allowsDowngrades = false

    /// Where to ask next, or why not to; nil: the response is no redirect.
    /// - Parameters:
    ///   - url: the cover's own, from which the way began.
    ///   - asked: what this response is the answer to.
    ///   - steps: those that led to this response.
    func decide(
        _ response: TransferResponse, of url: HTTPURL, at asked: HTTPURL, after steps: Int
    ) -> Result<HTTPURL, CoverFailure>? {
        guard let target = response.location, [300, 301, 302, 303, 307, 308].contains(response.head.status.code) else {
            return nil
        }
        func refused(_ kind: CoverFailure.Kind, _ detail: String) -> Result<HTTPURL, CoverFailure> {
            .failure(CoverFailure(kind, url: url.string, detail: detail))
        }
        do throws(HTTPURL.Problem) {
            let place = try HTTPURL(target)
            if url.isHTTPS || asked.isHTTPS, !place.isHTTPS, !allowsDowngrades {
                return refused(
                    .refusedAddress,
                    "redirected from https to http, where anybody on the way may answer (--allow-downgrade follows it)")
            }
            if steps >= most { return refused(.tooManyRedirects, "more than \(most) redirects") }
            return .success(place)
        } catch {
            return refused(.refusedAddress, "redirected to what may not be fetched: \(error)")
        }
    }
}

extension CoverFailure {
    /// Why a transfer to `place` brought nothing of the cover at `url`.
    init(_ error: TransferError, of url: HTTPURL, at place: HTTPURL) {
        self.init(error)
        self.url = url.string
        if place != url { self = elsewhere(place) }
    }

    /// The same, told of where redirects led.
    func elsewhere(_ place: HTTPURL) -> CoverFailure {
        var failure = self
        failure.detail += " (redirected to \(place))"
        failure.isElsewhere = true
        return failure
    }
}
