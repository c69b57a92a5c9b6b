import DequeModule

/// What the end of a transfer shows of its host.
enum HostSignal {
    /// The host did what it was asked, if only to say that there is no such cover.
    case answered
    /// Too many requests (429).
    case rateLimited
    /// 503.
    case overloaded
    /// Another 5xx, or a response that broke off.
    case serverError
    /// No answer in time.
    case timedOut
    /// No connection: no address, refused, no TLS.
    case unreachable

    /// Fewer requests may help.
    fileprivate var isOverload: Bool { self == .rateLimited || self == .overloaded || self == .timedOut }

    /// Nil: it is no failure.
    fileprivate var failure: Breaker.Failure? {
        switch self {
        case .answered: nil
        case .rateLimited: .rateLimited
        case .overloaded, .serverError: .serverError
        case .timedOut, .unreachable: .unreachable
        }
    }
}

/// What a queue knows of one host: an origin (RFC 6454), that is scheme, name and port.
struct DownloadHost {
    typealias Instant = ContinuousClock.Instant

    enum Knowledge {
        case unknown
        case asking
        case speaks(http2: Bool)
    }

    /// What it lets crawlers fetch, where that is asked.
    enum Robots {
        case unknown(tries: Int)
        case asking(tries: Int)
        /// - problem: why nothing is known, and so nothing allowed.
        case known(RobotsRules, until: Instant, problem: String?)
    }

    /// Where it stands among those that could start something.
    enum Place {
        case nowhere
        case ring
        /// It has had its share, and takes what others leave.
        case beyond
    }

    var waiting: Deque<JobID> = []
    /// Not ended yet, whether waiting, in flight, or on the way to the disk; and what is asked of it besides jobs.
    var jobs = 0
    var inFlight = 0
    var knowledge = Knowledge.unknown
    /// Nil: nobody asks.
    var robots: Robots?
    var pace: HostPace
    var breaker = Breaker()
    /// Jobs chosen to find out whether the host works again.
    var probes = 0
    var allowance: Allowance?
    /// No start before then: the rate, or the host's own `Retry-After`.
    var closedUntil: Instant?
    /// It asked to be left alone until then, this run or an earlier one.
    var restsUntil: Instant?
    /// Whether that is what an earlier run was asked, which nobody has looked at yet.
    var hasEarlierRest = false
    var place = Place.nowhere
    /// The host has answered a request, if only with an error.
    var hasAnswered = false
    /// When a transfer of it ended last.
    private var heard: Instant?
    var outage = Outage()
    /// The outage was reported.
    var isAnnounced = false
    /// Failed transfers since the last success.
    private var failures = 0

    /// Why the host was given up, for the covers that are not tried.
    struct Outage {
        var reason = ""
        /// The host asked for fewer requests, or for none for a while.
        var isRateLimit = false
    }

    /// So many requests are left until then, by the host's own count.
    struct Allowance {
        var left: Int
        var until: Instant
    }

    /// Name and port, as people know the host.
    let name: String

    init(_ name: String, _ pace: HostPace) {
        self.name = name
        self.pace = pace
    }

    /// The time before which nothing starts; nil: something may.
    mutating func closed(at now: Instant) -> Instant? {
        if let allowance, allowance.until <= now { self.allowance = nil }
        let times = [closedUntil, breaker.opens, allowance.flatMap { $0.left > 0 ? nil : $0.until }]
        return times.compactMap(\.self).max().flatMap { $0 > now ? $0 : nil }
    }

    /// No start before `time`, nor before what was said earlier.
    mutating func close(until time: Instant) { closedUntil = max(time, closedUntil ?? time) }

    /// The host takes no request before `time`, which is too long to wait for.
    mutating func giveUp(until time: Instant, reason: String) {
        outage = Outage(reason: reason, isRateLimit: true)
        breaker.giveUp(until: time)
    }

    /// What it asked of an earlier run holds on, as if it had asked now.
    mutating func honourEarlierRest(longest: Duration, now: Instant) {
        guard hasEarlierRest else { return }
        hasEarlierRest = false
        guard let restsUntil, restsUntil > now else { return }
        if restsUntil - now <= longest { return close(until: restsUntil) }
        let wait = (restsUntil - now).components.seconds
        giveUp(until: restsUntil, reason: "\(name) asked an earlier run to wait; \(wait) s are left")
    }

    /// What the end of a transfer tells.
    mutating func note(
        _ signal: HostSignal, of id: JobID, _ ended: HostPace.Ended, failure: CoverFailure?, now: Instant
    ) {
        heard = now
        if let kind = signal.failure {
            failures += 1
            if let failure {
                outage = Outage(reason: failure.outage(of: name, count: failures), isRateLimit: signal == .rateLimited)
            }
            if signal.isOverload { pace.refused(ended, now: now) }
            breaker.failed(id, kind, hasAnswered: hasAnswered, now: now)
        } else {
            answered(ended, now: now)
        }
        if pace.interval > .zero { close(until: now + pace.interval) }
    }

    /// It did what it was asked.
    mutating func answered(_ ended: HostPace.Ended, now: Instant) {
        heard = now
        failures = 0
        hasAnswered = true
        breaker.succeeded()
        pace.answered(ended, now: now)
    }

    /// What it lets crawlers fetch, as far as asking has shown.
    mutating func learn(_ rules: Result<RobotsRules, RobotsUnknown>, now: Instant) {
        guard case .asking(let tries) = robots else { return }
        switch rules {
        // Rules are good for a day (RFC 9309 §2.4).
        case .success(let rules): robots = .known(rules, until: now + .seconds(86_400), problem: nil)
        case .failure where tries < Self.robotsTries:
            robots = .unknown(tries: tries + 1)
            close(until: now + .milliseconds(500) * Double(1 << tries))
        case .failure(let unknown):
            robots = .known(.nothing, until: now + .seconds(60), problem: unknown.reason)
        }
    }

    /// How often a `/robots.txt` is asked for again.
    private static let robotsTries = 3

    /// Nothing has been heard of it for a while: no more than its share is asked.
    func isSilent(at now: Instant) -> Bool { heard.map { now - $0 > .milliseconds(250) } ?? false }

    /// Whether one more may be in flight, the time aside. Inlined, as the host is copied for it otherwise, several times a job.
    @inline(__always) var hasRoom: Bool {
        if breaker.isProbing { return false }
        if case .asking = robots { return false }
        return switch knowledge {
        // One transfer finds out what a new host speaks, and looks its name up once.
        case .unknown: inFlight == 0
        case .asking: false
        case .speaks: inFlight < pace.limit
        }
    }
}
