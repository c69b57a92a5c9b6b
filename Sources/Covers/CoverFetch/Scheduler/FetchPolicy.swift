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
