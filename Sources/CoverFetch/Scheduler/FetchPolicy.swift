/// How a scheduler limits, retries and follows redirects.
package struct FetchPolicy: Sendable {
    package var limits: FetchLimits
    package var retry: RetryPolicy
    package var redirect: RedirectPolicy

    package init(limits: FetchLimits, retry: RetryPolicy, redirect: RedirectPolicy) {
        self.limits = limits
        self.retry = retry
        self.redirect = redirect
    }
}
