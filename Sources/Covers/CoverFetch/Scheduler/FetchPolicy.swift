package import CurlHTTP
package import HTTPTypes

/// How a scheduler limits, retries and follows redirects.
package struct FetchPolicy: Sendable {
    package var limits: FetchLimits
    package var retry: RetryPolicy
    package var redirect: RedirectPolicy
    /// What is sent with every request to an origin, by its normalised name.
    package var headerFields: [String: HTTPFields]

    package init(
        limits: FetchLimits, retry: RetryPolicy, redirect: RedirectPolicy, headerFields: [String: HTTPFields] = [:]
    ) {
        self.limits = limits
        self.retry = retry
        self.redirect = redirect
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
    /// A cover fails if its server's `Retry-After` is longer than this.
    package var longestRetryAfter = FetchLimits.longestRest

    package init(retries: Int) { self.retries = retries }

    enum Decision: Equatable {
        case retry(after: Duration)
        case giveUp
        /// `Retry-After` exceeds `longestRetryAfter`.
        case tooLong(Duration)
    }

    /// - Parameters:
    ///   - attempt: 0 for the first; -1 if none has sent a request.
    ///   - random: between 0 and 1.
    func decide(_ failure: CoverFailure, attempt: Int, random: Double) -> Decision {
        guard attempt < retries, failure.isTransient else { return .giveUp }
        let pause = failure.retryAfter ?? .zero
        if pause > longestRetryAfter { return .tooLong(pause) }
        let ceiling = min(cap, base * Double(1 << min(max(attempt, 0), 20)))
        return .retry(after: max(ceiling * random, pause))
    }
}

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
