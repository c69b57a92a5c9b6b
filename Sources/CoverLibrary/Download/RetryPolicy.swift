import CurlHTTP
import HTTPTypes

/// Whether a failed transfer is tried again, and when: exponential back-off with full jitter (Brooker, "Exponential Backoff
/// And Jitter", AWS Architecture Blog 2015), never before the time the server names.
struct RetryPolicy: Sendable {
    var retries: Int
    var base: Duration = .milliseconds(250)
    var cap: Duration = .seconds(30)
    /// A server that wants to be left alone longer than this gets its wish: the cover fails.
    var longestRetryAfter = patience
    static let patience = Duration.seconds(120)

    enum Decision: Equatable {
        case retry(after: Duration)
        case giveUp
        /// `Retry-After` names a time too far off.
        case tooLong(Duration)
    }

    /// - Parameters:
    ///   - attempt: 0 for the first.
    ///   - random: between 0 and 1.
    func decide(_ failure: CoverFailure, retryAfter: Duration?, attempt: Int, random: Double) -> Decision {
        guard attempt < retries, Self.isTransient(failure) else { return .giveUp }
        if let retryAfter, retryAfter > longestRetryAfter { return .tooLong(retryAfter) }
        let ceiling = min(cap, base * Double(1 << min(attempt, 20)))
        return .retry(after: max(ceiling * random, retryAfter ?? .zero))
    }

    static func isTransient(_ failure: CoverFailure) -> Bool {
        switch failure.kind {
        case .connect, .broken, .nameResolution, .timeout, .truncated: true
        case .status: [408, 425, 429, 500, 502, 503, 504].contains(failure.status ?? 0)
        case .overQuota: true
        default: false
        }
    }
}
