import CoverFetch
import HTTPCaching
import HTTPTypes

/// Decides whether the origin may be asked now: a circuit breaker, and the pauses that the origin asks for with `Retry-After`.
///
/// A pause concerns the URL that was refused. When several URLs in a row are refused, it concerns the origin.
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
    /// The URLs that were refused with a pause, and its end.
    private var pauses: [String: Instant] = [:]
    /// URLs that were refused since another one was answered, `refusals` at most.
    private var refused: Set<String> = []
    private var requestCount = 0
    private(set) var hasFailed = false

    private static let maximumRetryAfter = Duration.seconds(600)
    /// Different URLs that are refused in a row before the origin is no longer asked.
    private static let refusals = 3
    private static let maximumPauses = 1_000

    /// Nil if the origin may be asked for the URL.
    func closed(at now: Instant, _ url: String) -> Closed? {
        if let end = [closedUntil, pauses[url]].compactMap(\.self).max(), end > now {
            return Closed(isRequested: true, delay: end - now)
        }
        if breaker.isProbing { return Closed(isRequested: false, delay: .seconds(1)) }
        if let opens = breaker.opens, opens > now { return Closed(isRequested: false, delay: opens - now) }
        return nil
    }

    /// Whether the origin has failed or must not be asked: a stale response is better than waiting.
    func mayBeUnreachable(at now: Instant, _ url: String) -> Bool { hasFailed || closed(at: now, url) != nil }

    /// Starts a request. One of the methods below reports its end.
    mutating func begin(_ url: String, at now: Instant) throws(Closed) -> JobID {
        if let closed = closed(at: now, url) { throw closed }
        requestCount += 1
        let job = JobID(slot: 0, use: requestCount)
        breaker.starts(job)
        return job
    }

    /// Any response shows that the origin is reachable. - Parameter time: now, in seconds since 1970.
    mutating func didRespond(_ url: String, status: Int, _ fields: HTTPFields, at now: Instant, time: Int64) {
        breaker.succeeded()
        hasFailed = false
        guard [429, 503].contains(status), let delay = RetryAfter.delay(fields, now: time) else {
            pauses[url] = nil
            refused = []
            closedUntil = nil
            return
        }
        let end = now + min(delay, Self.maximumRetryAfter)
        if pauses.count >= Self.maximumPauses { pauses = pauses.filter { $0.value > now } }
        if pauses.count < Self.maximumPauses { pauses[url] = end }
        if refused.count < Self.refusals { refused.insert(url) }
        if refused.count == Self.refusals { closedUntil = max(end, closedUntil ?? now) }
    }

    mutating func didFail(_ job: JobID, at now: Instant) {
        breaker.failed(job, .unreachable, hasAnswered: true, now: now)
        if breaker.opens != nil { hasFailed = true }
    }

    /// The request ended without showing whether the origin is reachable.
    mutating func didCancel(_ job: JobID) { breaker.dropped(job) }
}
