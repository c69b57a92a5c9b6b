import CurlHTTP
import HTTPTypes
import ImageHeader

/// What a response means for the job that asked.
enum Answer {
    /// The cover is elsewhere, to be asked for there.
    case redirect(HTTPURL)
    /// There is no such rest: the body is another by now, or was whole (RFC 9110 §15.5.17).
    case noRest
    /// What is stored still stands.
    case confirmed(Revalidation)
    case cover(ImageHeader)
    case failure(CoverFailure)

    /// - Parameters:
    ///   - url: the cover's own.
    ///   - asked: what this is the answer to.
    ///   - steps: redirects that led to this response.
    ///   - stored: what was asked about.
    ///   - asksForRest: the request was for the rest of a body.
    init(
        _ response: TransferResponse, of url: HTTPURL, at asked: HTTPURL, after steps: Int, _ redirects: RedirectPolicy,
        stored: Revalidation?, asksForRest: Bool
    ) {
        switch redirects.decide(response, of: url, at: asked, after: steps) {
        case .success(let place): self = .redirect(place)
        case .failure(let failure): self = .failure(failure)
        case nil where asksForRest && response.head.status == .rangeNotSatisfiable: self = .noRest
        case nil:
            if response.head.status == .notModified, let stored {
                self = .confirmed(stored)
                return
            }
            switch Verdict(response, for: url.string) {
            case .cover(let header): self = .cover(header)
            case .failure(let failure): self = .failure(failure)
            }
        }
    }

    var failure: CoverFailure? { if case .failure(let failure) = self { failure } else { nil } }
}
