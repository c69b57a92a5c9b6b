package import HTTPTypes

/// How a scheduler limits, retries and follows redirects.
package struct FetchPolicy: Sendable {
    package var limits: FetchLimits
    package var retry: RetryPolicy
    package var redirect: RedirectPolicy
    /// How long a cover waits for another process that downloads it. A holder without a failure needs no longer than a request may.
    package var leaseTimeout: Duration
    /// What is sent with every request to an origin, by its normalised name.
    package var headerFields: [String: HTTPFields]

    package init(
        limits: FetchLimits, retry: RetryPolicy, redirect: RedirectPolicy, leaseTimeout: Duration = .seconds(60),
        headerFields: [String: HTTPFields] = [:]
    ) {
        self.limits = limits
        self.retry = retry
        self.redirect = redirect
        self.leaseTimeout = leaseTimeout
        self.headerFields = headerFields
    }
}
