import Platform

/// The state of one host in a queue: an origin (RFC 6454), that is scheme, name and port. A proxy, through which hosts are reached, is as a
/// host without jobs: a transfer takes a place of both.
struct DownloadHost {
    typealias Instant = ContinuousClock.Instant

    /// Which of the queue's lists of hosts the host is in.
    enum Position {
        case none
        case roundRobin
        /// It has its share of all transfers, and takes what other hosts leave.
        case overflow
        /// It waits for a place of its proxy.
        case held
    }

    /// Why the host was given up.
    struct Outage {
        var reason = ""
        /// The host asked for fewer requests, or for a pause.
        var isRateLimit = false
        /// The kind of the last failure.
        var kind: CoverFailure.Kind?
        var isOfProxy = false
    }

    /// Name and port.
    let name: String
    /// The proxy of the host: an index into the queue's hosts.
    let proxy: Int?
    /// When a transfer first was one too many for the proxy, since the host has answered.
    var tooManySince: Instant?
    /// The next transfer failed, too: the proxy is not the cause.
    var failsBehindProxy = false
    /// The connections of the host's transfers are its own, behind its proxy.
    let tunnels: Bool
    /// Of a proxy: the hosts that wait for a place.
    var held: Deque<Int> = []
    var waiting = WaitingJobs()
    /// The host is in the queue's list of those whose next job someone waits for.
    var isUrgent = false
    /// Jobs that have not ended: waiting or in flight.
    var jobs = 0
    var gate: HostGate
    var inFlight: Int { gate.inFlight }
    var breaker = Breaker()
    /// Probes chosen so far.
    var probes = 0
    /// No transfer starts before then, because of the rate limit.
    private var closedUntil: Instant?
    /// An earlier run was asked for a pause until then, which has not been applied yet.
    private var earlierRest: Instant?
    var position = Position.none
    var outage = Outage()
    /// The outage was logged.
    var isOutageLogged = false
    /// The limit when it was logged last.
    private var loggedLimit: Int
    /// The end of the pause that was logged last.
    private var loggedPause: Instant?
    /// When a transfer ended last.
    var lastHeard: Instant?
    /// Failed transfers since the last success.
    private var failures = 0
    /// What they were.
    private var failedKinds: Set<CoverFailure.Kind> = []
    /// Covers that were answered with 403 since any other answer.
    private var refusedCovers = 0
    /// When a transfer first ended without an answer since the last answer; nil if the last one was answered.
    private var unansweredSince: Instant?
    /// Its postponed jobs (`DownloadQueue.postpone`). Some may have ended or gone on since.
    var postponed: [JobID] = []
    /// The postponed jobs of this outage have had their last round.
    private var hadLastRound = false

    /// - Parameter earlierRest: the end of the pause that it asked an earlier run for.
    init(
        _ name: String, _ gate: HostGate, proxy: Int? = nil, tunnels: Bool = false,
        restsUntil earlierRest: Instant? = nil
    ) {
        (self.name, self.gate, self.proxy, self.tunnels) = (name, gate, proxy, tunnels)
        loggedLimit = gate.limiter.limit
        self.earlierRest = earlierRest
    }

    /// The host asked for a pause until then, and has answered no request since.
    var restsUntil: Instant? { breaker.restsUntil ?? earlierRest }

    /// A message about the changes of the limit since the last message; nil if none is worth a line.
    mutating func limitMessage(after failure: CoverFailure?) -> String? {
        let (limit, before) = (gate.limiter.limit, loggedLimit)
        guard limit < before || limit >= 2 * before || (limit == gate.limiter.ceiling && limit > before) else {
            return nil
        }
        loggedLimit = limit
        let reason =
            limit > before
            ? "it answered all requests" : failure.map { $0.detail } ?? "its protocol allows no more"
        return "\(name) gets at most \(limit) in flight instead of \(before): \(reason)"
    }

    /// All that is left waits for a connection, though the host has answered over another one.
    var waitsForConnection: Bool { waiting.isEmpty && gate.waitsForConnection }

    // MARK: Whether a transfer may start

    /// The time before which nothing starts; nil if something may.
    mutating func closed(at now: Instant) -> Instant? {
        let own = closedUntil.flatMap { $0 > now ? $0 : nil }
        guard let end = pause(at: now)?.end else { return own }
        return max(own ?? end, end)
    }

    /// Until when the host is left alone, because it asked for that or its transfers failed, and why; nil if it is not.
    mutating func pause(at now: Instant) -> (end: Instant, reason: Outage)? {
        if let rest = earlierRest.take(), rest > now { breaker.rest(until: rest, now: now) }
        guard let end = breaker.opens, end > now else { return nil }
        return (end, outage.reason.isEmpty ? Outage(reason: "\(name) asked for a pause", isRateLimit: true) : outage)
    }

    /// Whether one more transfer may be in flight, times aside. Inlined: a call would copy the host.
    @inline(__always) var hasRoom: Bool {
        if breaker.isProbing { return false }
        return gate.hasRoom(waiting: waiting.count)
    }

    /// No transfer has ended for 250 ms: the host gets no more than its share.
    func isSilent(at now: Instant) -> Bool { lastHeard.map { now - $0 > .milliseconds(250) } ?? false }

    // MARK: Pauses

    /// Starts nothing before `time`, or before an earlier call's time if that is later.
    mutating func close(until time: Instant) { closedUntil = max(time, closedUntil ?? time) }

    /// A pause that is reported.
    private static let notablePause = Duration.seconds(10)

    /// A message about a pause of ten seconds or longer that the host asked for, once.
    mutating func pauseMessage(at now: Instant) -> String? {
        guard breaker.restsUntil != nil, let until = breaker.opens, until - now >= Self.notablePause,
            until - (loggedPause ?? now) >= Self.notablePause
        else { return nil }
        loggedPause = until
        return "\(name) asked for a pause: no request for \((until - now).components.seconds) s"
    }

    // MARK: Ends of transfers

    /// Records the end of a transfer. - Parameter failure: why it brought no cover.
    mutating func didReceive(
        _ ending: Ending, of job: JobID, _ passage: inout HostGate.Passage, failure: CoverFailure?, now: Instant
    ) {
        let isRepeated = passage.hasFailed
        if failure != nil { passage.hasFailed = true }
        let isBan = isBan(ending, failure, isRepeated: isRepeated)
        // One request at a time, but the host is not given up: some of its other covers may be fine.
        let ending = isBan ? .erroneous : ending
        // A probe that fails says nothing about the number in flight, and a cover that hangs again nothing new.
        let isOneTooMany = gate.received(
            ending, of: &passage, hasFailed: failure != nil,
            adapts: breaker.isClosed && !(ending == .silent && isRepeated), now: now)
        // The host is reachable over its other connections, and what a proxy answers to one too many is no error of it.
        if isOneTooMany, ending.hasNoResponse || gate.isProxy { return }
        if !ending.hasNoResponse {
            (unansweredSince, hadLastRound) = (nil, false)
        } else if unansweredSince == nil {
            unansweredSince = now
        }
        if ending.weight != nil {
            failures = isBan ? refusedCovers : failures + 1
            if let failure {
                failedKinds.insert(failure.kind)
                let reason =
                    failedKinds.count == 1
                    ? failure.outage(of: name, count: failures) : "\(name) failed \(failures) times in a row"
                outage = Outage(
                    reason: reason, isRateLimit: ending.isRefusal,
                    kind: failure.kind, isOfProxy: gate.isProxy)
            }
            breaker.failed(job, ending, hasAnswered: gate.hasAnswered, now: now)
            if breaker.isGivenUp(now), let rest = breaker.restsUntil {
                outage.reason = "\(name) asks to wait \((rest - now).components.seconds) s"
            }
        } else {
            (failures, failedKinds) = (0, [])
            breaker.succeeded()
        }
        if gate.limiter.interval > .zero { close(until: now + gate.limiter.interval) }
    }

    /// Counts an answer. Temporary failures and expired signatures neither count nor end a ban.
    /// - Parameter isRepeated: a request for the cover has failed before.
    /// - Returns: whether the host refuses everything.
    private mutating func isBan(_ ending: Ending, _ failure: CoverFailure?, isRepeated: Bool) -> Bool {
        guard ending.weight == nil, !ending.mayPass, failure?.hasExpiredSignature != true else { return false }
        guard failure?.mayBeBan == true else {
            refusedCovers = 0
            return false
        }
        if !isRepeated { refusedCovers += 1 }
        return refusedCovers >= FetchLimits.ban
    }
}

/// Jobs that wait for the return of a host that cannot be reached.
extension DownloadHost {
    /// A server that restarts, or a resolver that fails, is likely back after this time.
    static let restartTime = Duration.seconds(8)
    /// The longest time that postponed jobs wait for the others of a queue that never ends.
    static let longestWait = Duration.seconds(600)

    /// Whether a job may be postponed: the host is given up, or has answered nothing since the job's last transfer began, and a later request may
    /// be answered. A host that asks for a pause has answered, and one whose TLS cannot be trusted will not be trusted later.
    func mayPostpone(_ passage: HostGate.Passage, _ now: Instant) -> Bool {
        guard let unansweredSince, !hadLastRound else { return false }
        let hadNoAnswer = passage.began.map { unansweredSince <= $0 } ?? false
        return switch outage.kind {
        case .connect, .nameResolution, .broken: breaker.isGivenUp(now) || hadNoAnswer
        // Some URLs hang wherever their host is.
        case .timeout: breaker.isGivenUp(now)
        default: false
        }
    }

    /// The host has answered, and has postponed jobs.
    var hasReturned: Bool { !postponed.isEmpty && unansweredSince == nil }

    /// When the last round of its postponed jobs may begin; nil if there are none. A host that has answered before may be restarting, and a resolver
    /// may fail for a moment. A host that never answered is more likely dead.
    var lastRound: Instant? {
        guard !postponed.isEmpty, let unansweredSince else { return nil }
        return gate.hasAnswered || outage.kind == .nameResolution ? unansweredSince + Self.restartTime : unansweredSince
    }

    /// The postponed jobs have waited for too long.
    func isOverdue(_ now: Instant) -> Bool { unansweredSince.map { now - $0 >= Self.longestWait } ?? true }

    /// The host is probed once more, unless it was a moment ago, and had been away for long by then.
    mutating func beginLastRound(_ now: Instant) {
        hadLastRound = true
        guard let unansweredSince, let lastHeard else { return }
        if lastHeard - unansweredSince >= Self.restartTime, now - lastHeard < .seconds(1) { return }
        breaker.probeIfGivenUp(isSameOutage: true)
    }

    mutating func forgetOutage() {
        breaker.succeeded()
        (unansweredSince, hadLastRound) = (nil, false)
    }
}

/// The jobs that wait for one host: first those that someone waits for, then those of runs, each in the order of their turns.
struct WaitingJobs {
    private var immediate: Deque<JobID> = []
    private var normal: Deque<JobID> = []

    var isEmpty: Bool { immediate.isEmpty && normal.isEmpty }
    var count: Int { immediate.count + normal.count }
    /// Someone waits for the first job.
    var hasImmediate: Bool { !immediate.isEmpty }

    mutating func append(_ id: JobID, _ priority: FetchPriority) {
        if priority == .immediate { immediate.append(id) } else { normal.append(id) }
    }

    mutating func prepend(_ id: JobID, _ priority: FetchPriority) {
        if priority == .immediate { immediate.prepend(id) } else { normal.prepend(id) }
    }

    mutating func popFirst() -> JobID? { immediate.popFirst() ?? normal.popFirst() }

    /// Returns whether the job was there.
    mutating func remove(_ id: JobID, _ priority: FetchPriority) -> Bool {
        guard let index = (priority == .immediate ? immediate : normal).firstIndex(of: id) else { return false }
        if priority == .immediate { immediate.remove(at: index) } else { normal.remove(at: index) }
        return true
    }

    /// The job at a position among those of runs.
    subscript(position: Int) -> JobID { normal[position] }

    /// Removes the job at a position among those of runs.
    mutating func remove(at position: Int) -> JobID { normal.remove(at: position) }
}

/// The limits that decide when a transfer may start.
package struct FetchLimits: Sendable {
    /// Maximum number of transfers in flight, all hosts together.
    package var parallel: Int
    /// Maximum number of transfers in flight to one host over HTTP/1.1, and of the first ones over HTTP/2.
    package var perHost: Int
    /// Time between two starts to one host.
    package var interval: Duration?
    /// Adapts the number of transfers in flight per host. If false, `perHost` always applies.
    package var adapts: Bool
    /// The first transfers of a host wait for its connections. If false, a host gets `perHost` from the first one on.
    package var awaitsConnections = true

    /// Longest pause that a host may ask for and a run waits.
    package static let longestRest = Duration.seconds(120)
    /// From this number of covers on that a host answers with 403, and none otherwise, it may have banned this machine.
    package static let ban = 8

    package init(parallel: Int, perHost: Int, interval: Duration? = nil, adapts: Bool = false) {
        self.parallel = parallel
        self.perHost = perHost
        self.interval = interval
        self.adapts = adapts
    }
}

/// The order of the requests to one host. None exceeds a limit.
package enum FetchPriority: Sendable {
    /// Of a run.
    case normal
    /// Before all others, and before other hosts' turns: someone waits for the cover.
    case immediate
}

/// Names a job of a `DownloadQueue`. No other job ever has the same name.
struct JobID: Hashable, Sendable {
    /// Small and reused: an index into tables beside the queue.
    var slot: Int
    var use: Int
}
