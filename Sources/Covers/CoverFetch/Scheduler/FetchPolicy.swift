package import CurlHTTP
package import HTTPTypes

/// How a scheduler limits, retries and follows redirects.
package struct FetchPolicy: Sendable {
    package var limits: FetchLimits
    package var retry: RetryPolicy
    /// Follow redirects from https to http, whose responses anyone on the path can change.
    package var allowsDowngrades: Bool
    /// What is sent with every request to an origin, by its normalised name.
    package var headerFields: [String: HTTPFields]

    package init(
        limits: FetchLimits, retry: RetryPolicy, allowsDowngrades: Bool = false,
        headerFields: [String: HTTPFields] = [:]
    ) {
        self.limits = limits
        self.retry = retry
        self.allowsDowngrades = allowsDowngrades
        self.headerFields = headerFields
    }
}

/// Whether and when a failed transfer is retried: exponential back-off with full jitter (Brooker, "Exponential Backoff And
/// Jitter", AWS Architecture Blog 2015), never before the server's `Retry-After`.
package struct RetryPolicy: Sendable {
    /// Maximum number of retries for a cover.
    package var retries: Int
    /// Upper bound of the first delay. It doubles with each retry.
    package var base: Duration = .milliseconds(250)
    package var cap: Duration = .seconds(30)

    package init(retries: Int) { self.retries = retries }

    enum Decision: Equatable {
        case retry(after: Duration)
        case giveUp
        /// `Retry-After` exceeds `FetchLimits.longestRest`.
        case tooLong(Duration)
    }

    /// - Parameters:
    ///   - attempt: 0 for the first; -1 if none has sent a request.
    ///   - random: between 0 and 1.
    func decide(_ failure: CoverFailure, attempt: Int, random: Double) -> Decision {
        guard attempt < retries, failure.isTransient else { return .giveUp }
        let pause = failure.retryAfter ?? .zero
        if pause > FetchLimits.longestRest { return .tooLong(pause) }
        let ceiling = min(cap, base * Double(1 << min(max(attempt, 0), 20)))
        return .retry(after: max(ceiling * random, pause))
    }
}

/// Whether a redirect is followed.
///
/// Each redirect is a request of its own in the queue of the host it leads to. That host's concurrency, rate and breaker
/// apply to it.
package enum RedirectPolicy {
    /// Maximum number of redirects for one cover.
    private static let maximumRedirects = 10

    /// The next URL to request, or why it is refused; nil if the response is no redirect.
    /// - Parameters:
    ///   - url: the cover's own URL.
    ///   - target: the URL that the response answers.
    ///   - redirectCount: redirects followed so far.
    ///   - allowsDowngrades: as `FetchPolicy.allowsDowngrades`.
    package static func decide(
        _ response: TransferResponse, of url: HTTPURL, at target: HTTPURL, redirectCount: Int, allowsDowngrades: Bool
    ) -> Result<HTTPURL, CoverFailure>? {
        guard let location = response.location, [300, 301, 302, 303, 307, 308].contains(response.head.status.code)
        else { return nil }
        func refused(_ kind: CoverFailure.Kind, _ detail: String) -> Result<HTTPURL, CoverFailure> {
            .failure(CoverFailure(kind, url: url.string, detail: detail))
        }
        do throws(HTTPURL.Problem) {
            let next = try HTTPURL(location)
            if !allowsDowngrades, !next.isHTTPS, url.isHTTPS || target.isHTTPS {
                return refused(
                    .refusedAddress,
                    "redirected from https to http, where anyone on the path can answer")
            }
            if redirectCount >= maximumRedirects {
                return refused(.tooManyRedirects, "more than \(maximumRedirects) redirects")
            }
            return .success(next)
        } catch {
            return refused(.refusedAddress, "redirected to what may not be fetched: \(error)")
        }
    }
}
