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
