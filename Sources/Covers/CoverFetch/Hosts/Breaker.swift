/// A circuit breaker for one host (Nygard, "Release It!", 2nd edition 2018, chapter 5).
///
/// It opens when different requests fail and none succeeds, lets one request at a time through as a probe (*half-open*), and closes
/// with any success. A host that cannot be reached is given up after a few probes. A host that answers with errors is never given
/// up, as some of its covers may be fine: it is asked for one cover at a time until one succeeds. A host that refuses requests and
/// names a pause (`Retry-After`) is probed after that pause, and given up if the pause is longer than a run waits
/// (`FetchLimits.longestRest`), or if it has refused all probes for as long.
struct Breaker {
    typealias Instant = ContinuousClock.Instant

    enum Policy {
        /// Different requests without an answer or refused before the breaker opens: for a host that has answered before, and for one that
        /// never has. Three times as many answered with errors.
        static let failures = 8
        static let firstFailures = 3
        /// Probes in a row without an answer or refused before the host is given up.
        static let probes = 3
        /// Before the first probe; twice as long before each further one.
        static let pause = Duration.milliseconds(500)
        /// Between two probes of a host that answers with errors: it may be restarting. The first hundred only, then probes follow
        /// each other without a pause.
        static let errorPause = Duration.milliseconds(100)
        static let pausedErrors = 100
        /// A host that was given up is probed again after `rest`, twice as long after each further failure.
        static let rest = Duration.seconds(60)
        static let maximumRest = Duration.seconds(600)
    }

    private enum State {
        case closed
        /// Nil: the next request may start now.
        case open(until: Instant?)
        case probing(JobID)
        case givenUp(until: Instant)
    }

    private var state = State.closed
    /// Requests that failed since the last success, as far as the threshold needs them.
    private var failed: Set<JobID> = []
    private var weight = 0
    /// The first of the 429s since the last success.
    private var rateLimitedSince: Instant?
    private var failedProbes = 0
    private var errorProbes = 0
    /// When the breaker opened.
    private var opened: Instant?
    /// The host asked for a pause until then, and has answered no request since.
    private(set) var restsUntil: Instant?

    /// Longest pause that a host is believed to mean. A longer one is more likely a mistake.
    static let longestBelieved = Duration.seconds(86_400)

    /// No request starts before then; nil if one may start.
    var opens: Instant? {
        switch state {
        case .open(let until): until
        case .givenUp(let until): until
        case .closed, .probing: nil
        }
    }

    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// A probe is in flight, and nothing else starts.
    var isProbing: Bool { if case .probing = state { true } else { false } }

    func isGivenUp(_ now: Instant) -> Bool {
        if case .givenUp(let until) = state { now < until } else { false }
    }

    /// The breaker is open, and the last failed request was answered with an error.
    private(set) var isOpenForErrors = false

    /// Many different requests were answered with errors and none succeeded: a retry is of no use.
    var isFailingForLong: Bool { !isClosed && errorProbes >= Policy.pausedErrors }

    /// A request starts; while the breaker is open it is the probe.
    mutating func starts(_ job: JobID) {
        switch state {
        case .open, .givenUp: state = .probing(job)
        case .closed, .probing: break
        }
    }

    mutating func succeeded() {
        if isClosed, failed.isEmpty { return }
        self = Breaker()
    }

    /// Lets one request through if the host was given up.
    /// - Parameter isSameOutage: its failure makes the host rest no longer than the ones before.
    mutating func probeIfGivenUp(isSameOutage: Bool = false) {
        guard case .givenUp = state else { return }
        state = .open(until: nil)
        if isSameOutage { failedProbes -= 1 }
    }

    /// - Parameters:
    ///   - ending: one that has a weight.
    ///   - hasAnswered: the host has answered before, if only with an error.
    mutating func failed(_ job: JobID, _ ending: Ending, hasAnswered: Bool, now: Instant) {
        switch state {
        case .closed: count(job, ending, hasAnswered, now)
        case .probing(job): probeFailed(ending, now)
        // Requests that started before the breaker opened show nothing new.
        case .open, .probing, .givenUp: break
        }
    }

    private mutating func count(_ job: JobID, _ ending: Ending, _ hasAnswered: Bool, _ now: Instant) {
        let threshold = 3 * (hasAnswered ? Policy.failures : Policy.firstFailures)
        if weight < threshold, failed.insert(job).inserted { weight += ending.weight ?? 0 }
        if ending.isRefusal {
            // Many 429s at once are what exceeding a host's limit looks like. A host that refuses everything does so for a second,
            // or says for how long.
            let since = rateLimitedSince ?? now
            rateLimitedSince = since
            guard ending.pause != nil || now - since >= .seconds(1) else { return }
        }
        guard weight >= threshold else { return }
        opened = now
        open(ending, after: ending.isError ? Policy.errorPause : Policy.pause, now)
    }

    private mutating func probeFailed(_ ending: Ending, _ now: Instant) {
        if ending.isError {
            failedProbes = 0
            errorProbes += 1
            return open(ending, after: errorProbes < Policy.pausedErrors ? Policy.errorPause : nil, now)
        }
        failedProbes += 1
        let longest = FetchLimits.longestRest
        let isWaitedFor = ending.pause.map { $0 <= longest && now - (opened ?? now) < longest } ?? false
        if failedProbes < Policy.probes || isWaitedFor {
            open(ending, after: min(Policy.pause * Double(1 << min(failedProbes, 10)), Policy.rest), now)
        } else {
            let doublings = min(max(0, failedProbes - Policy.probes), 10)
            let rest = min(Policy.rest * Double(1 << doublings), Policy.maximumRest)
            keep(ending.pause, now)
            isOpenForErrors = false
            state = .givenUp(until: max(now + rest, restsUntil ?? now))
        }
    }

    /// - Parameter pause: nil if the next probe may start now.
    private mutating func open(_ ending: Ending, after pause: Duration?, _ now: Instant) {
        isOpenForErrors = ending.isError
        var until = pause.map { now + $0 }
        if let asked = ending.pause {
            keep(asked, now)
            // The probes show whether the host means all of its covers before they cost them.
            if asked <= FetchLimits.longestRest { until = max(until ?? now, now + asked) }
        }
        state = .open(until: until)
    }

    private mutating func keep(_ pause: Duration?, _ now: Instant) {
        guard let pause, pause > .zero else { return }
        restsUntil = now + min(pause, Self.longestBelieved)
    }

    /// Applies the pause that an earlier run was asked for: one probe shows whether it still holds. A pause that is too long to
    /// wait for delays the probe not at all.
    mutating func rest(until time: Instant, now: Instant) {
        let time = min(time, now + Self.longestBelieved)
        opened = now
        restsUntil = time
        failedProbes = Policy.probes - 1
        state = .open(until: time - now <= FetchLimits.longestRest ? time : nil)
    }

    /// The transfer of the job was cancelled, or its end was already recorded.
    mutating func dropped(_ job: JobID) {
        if case .probing(job) = state { state = .open(until: nil) }
    }
}

extension Ending {
    /// The host answered, with an error or only partly.
    fileprivate var isError: Bool { weight == 1 }
}
