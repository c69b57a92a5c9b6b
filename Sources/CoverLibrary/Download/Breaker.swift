/// A circuit breaker for one host (Nygard, "Release It!", 2007): after failures in a row it lets nothing through for a while, then
/// one transfer as a probe (*half-open*), and everything once that has succeeded. When probes keep failing the host is given
/// up: what waits for it need not wait any longer.
struct Breaker {
    typealias Instant = ContinuousClock.Instant

    private enum State {
        case closed
        /// Nil: no longer.
        case open(until: Instant?)
        case probing(JobID)
        case givenUp(until: Instant)
    }

    /// After how much a host is left alone, and for how long.
    struct Patience {
        /// Failures in a row, from a host that has answered before, and from one that never has.
        var failures = 8
        var firstFailures = 3
        var probes = 3
        var pause = Duration.milliseconds(500)
        /// A host that was given up is probed again after this, and twice that when it fails once more.
        var rest = Duration.seconds(60)
        var longestRest = Duration.seconds(600)
    }

    private let patience: Patience
    private var state = State.closed
    private var failures = 0
    /// Of the first refusal in a row.
    private var overrunSince: Instant?
    private var failedProbes = 0

    init(_ patience: Patience = Patience()) { self.patience = patience }

    /// No start before then.
    var opens: Instant? {
        switch state {
        case .open(let until): until
        case .givenUp(let until): until
        case .closed, .probing: nil
        }
    }

    /// There is nothing to be careful about.
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// A probe is under way, and nothing else starts.
    var isProbing: Bool { if case .probing = state { true } else { false } }

    func isGivenUp(_ now: Instant) -> Bool { if case .givenUp(let until) = state { now < until } else { false } }

    /// A transfer starts; after a pause it is the probe.
    mutating func starts(_ job: JobID) {
        switch state {
        case .open, .givenUp: state = .probing(job)
        case .closed, .probing: break
        }
    }

    mutating func succeeded() {
        if isClosed, failures == 0, overrunSince == nil { return }
        self = Breaker(patience)
    }

    /// - Parameter hasAnswered: the host has answered before, if only with an error.
    mutating func failed(_ job: JobID, hasAnswered: Bool, now: Instant) {
        switch state {
        case .closed:
            failures += 1
            guard failures >= (hasAnswered ? patience.failures : patience.firstFailures) else { return }
            state = .open(until: now + patience.pause)
        case .probing(job):
            failedProbes += 1
            if failedProbes < patience.probes {
                state = .open(until: now + patience.pause * Double(1 << failedProbes))
            } else {
                let times = min(failedProbes - patience.probes, 10)
                state = .givenUp(until: now + min(patience.rest * Double(1 << times), patience.longestRest))
            }
        // Those that started before say what is known already.
        case .open, .probing, .givenUp: break
        }
    }

    /// The host refused, as it was asked too much. Many at once are what finding its wall looks like; what goes on for a second
    /// without an answer is a host that refuses everything.
    mutating func overran(_ job: JobID, now: Instant) {
        if case .probing(job) = state { return failed(job, hasAnswered: true, now: now) }
        let since = overrunSince ?? now
        overrunSince = since
        if failures < patience.failures - 1 {
            failures += 1
        } else if now - since >= .seconds(1) {
            failed(job, hasAnswered: true, now: now)
        }
    }

    /// The probe was taken away before it ended.
    mutating func dropped(_ job: JobID) {
        if case .probing(job) = state { state = .open(until: nil) }
    }

    /// The host wants to be left alone for longer than anybody waits.
    mutating func giveUp(until time: Instant) { state = .givenUp(until: time) }
}
