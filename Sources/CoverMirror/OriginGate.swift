import HTTPCaching
import HTTPTypes

/// Whether the origin of a mirror may be asked now: after failures in a row it is only probed now and then, and not at all
/// before a time that it has named itself. A pure value.
struct OriginGate {
    typealias Instant = ContinuousClock.Instant

    /// The origin is not asked at the moment.
    struct Closed: Error, Hashable {
        /// It asked for that itself (`Retry-After`); else it has failed.
        var isAsked: Bool
        /// When asking may bring more, from now.
        var wait: Duration
    }

    /// A client waits for every answer: three time-outs in a row are enough, and an origin that is back is to be noticed soon.
    private var breaker = Breaker(
        .init(failures: 3, firstFailures: 3, rest: .seconds(5), maximumRest: .seconds(30)))
    private var closedUntil: Instant?
    private var starts = 0
    private(set) var hasFailed = false

    /// What one page wants must not close the way to all others for a day.
    private static let longestRetryAfter = Duration.seconds(600)

    /// Nil: it may be asked.
    func closed(at now: Instant) -> Closed? {
        if let closedUntil, closedUntil > now { return Closed(isAsked: true, wait: closedUntil - now) }
        if breaker.isProbing { return Closed(isAsked: false, wait: .seconds(1)) }
        if let opens = breaker.opens, opens > now { return Closed(isAsked: false, wait: opens - now) }
        return nil
    }

    /// Who may do with a stale answer had better not wait for the origin.
    func isDoubtful(at now: Instant) -> Bool { hasFailed || closed(at: now) != nil }

    /// A request begins; its end is to be told.
    mutating func begin(at now: Instant) throws(Closed) -> JobID {
        if let closed = closed(at: now) { throw closed }
        starts += 1
        let job = JobID(slot: 0, use: starts)
        breaker.starts(job)
        return job
    }

    /// Any answer shows that it is there. - Parameter time: now, in seconds since 1970.
    mutating func answered(status: Int, _ fields: HTTPFields, at now: Instant, time: Int64) {
        breaker.succeeded()
        hasFailed = false
        guard [429, 503].contains(status), let wait = RetryAfter.delay(fields, now: time) else { return }
        closedUntil = max(now + min(wait, Self.longestRetryAfter), closedUntil ?? now)
    }

    mutating func failed(_ job: JobID, at now: Instant) {
        breaker.failed(job, .unreachable, hasAnswered: true, now: now)
        if breaker.opens != nil { hasFailed = true }
    }

    /// It ended before anything was known.
    mutating func dropped(_ job: JobID) { breaker.dropped(job) }
}
