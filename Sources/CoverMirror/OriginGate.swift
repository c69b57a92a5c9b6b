import CoverFetch
import HTTPCaching
import HTTPTypes

/// Decides whether the origin may be asked now: a circuit breaker, and the pauses that the origin asks for with `Retry-After`.
struct OriginGate {
    typealias Instant = ContinuousClock.Instant

    /// The origin must not be asked now.
    struct Closed: Error, Hashable {
        /// The origin asked for the pause (`Retry-After`); else it has failed.
        var isRequested: Bool
        /// How long to wait before the next attempt.
        var delay: Duration
    }

    /// Every failure keeps a client waiting, so three in a row open the breaker, and probes follow quickly.
    private var breaker = Breaker(
        .init(failures: 3, firstFailures: 3, rest: .seconds(5), maximumRest: .seconds(30)))
    private var closedUntil: Instant?
    private var requestCount = 0
    private(set) var hasFailed = false

    /// One URL's `Retry-After` must not block all others for a day.
    private static let maximumRetryAfter = Duration.seconds(600)

    /// Nil if the origin may be asked.
    func closed(at now: Instant) -> Closed? {
        if let closedUntil, closedUntil > now { return Closed(isRequested: true, delay: closedUntil - now) }
        if breaker.isProbing { return Closed(isRequested: false, delay: .seconds(1)) }
        if let opens = breaker.opens, opens > now { return Closed(isRequested: false, delay: opens - now) }
        return nil
    }

    /// Whether the origin has failed or must not be asked: a stale response is better than waiting.
    func isDoubtful(at now: Instant) -> Bool { hasFailed || closed(at: now) != nil }

    /// Starts a request. One of the methods below reports its end.
    mutating func begin(at now: Instant) throws(Closed) -> JobID {
        if let closed = closed(at: now) { throw closed }
        requestCount += 1
        let job = JobID(slot: 0, use: requestCount)
        breaker.starts(job)
        return job
    }

    /// Any response shows that the origin is reachable. - Parameter time: now, in seconds since 1970.
    mutating func didRespond(status: Int, _ fields: HTTPFields, at now: Instant, time: Int64) {
        breaker.succeeded()
        hasFailed = false
        guard [429, 503].contains(status), let delay = RetryAfter.delay(fields, now: time) else { return }
        closedUntil = max(now + min(delay, Self.maximumRetryAfter), closedUntil ?? now)
    }

    mutating func didFail(_ job: JobID, at now: Instant) {
        breaker.failed(job, .unreachable, hasAnswered: true, now: now)
        if breaker.opens != nil { hasFailed = true }
    }

    /// The request ended without showing whether the origin is reachable.
    mutating func didCancel(_ job: JobID) { breaker.dropped(job) }
}
