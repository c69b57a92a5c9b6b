import CurlHTTP
import Platform

/// Decides which transfer starts when. A pure value without sockets or clocks; `DownloadScheduler` acts on its decisions.
///
/// Invariants:
/// - A URL has one job, however many requests wait for it. A later request *joins* the job.
/// - A job is counted with the host it requests next, which differs from its URL's host after a redirect.
/// - A host is in `roundRobin` or `overflow` exactly when one of its jobs could start, times, the total limit and its proxy aside.
/// - A host whose proxy has no room waits with it. It takes the proxy's next place, before the others' turns.
/// - Hosts in `roundRobin` take turns. A host with its share of `parallel` moves to `overflow` and takes what the others leave,
///   unless no transfer of it has ended for a while. So a stalled host delays no other.
/// - A host with a job that someone waits for goes before the others' turns, and that job before its host's others. Priorities
///   order jobs; no limit is exceeded for one.
struct DownloadQueue<Request> {
    typealias Instant = ContinuousClock.Instant

    let limits: FetchLimits
    /// The ends of the pauses that hosts asked earlier runs for, by origin.
    private let earlierPauses: [String: Instant]
    private let proxy: @Sendable (HTTPURL) -> Proxy?
    /// Indices into `hosts`, by host and port.
    private var proxies: [String: Int] = [:]
    /// The limit of all hosts together: of the line that they share.
    var limiter: ConcurrencyLimiter
    /// Requests that hosts have answered.
    private var answers = 0
    var jobs = JobTable<Request>()
    var hosts: [DownloadHost] = []
    private var hostIndices: [Substring: Int] = [:]
    private var roundRobin: Deque<Int> = []
    private var overflow: Deque<Int> = []
    /// Hosts whose next job someone waits for, whatever else lists them. Each once.
    private var urgent: Deque<Int> = []
    /// Jobs whose transfers wait for a connection while their host has nothing else to do.
    var restarts: Deque<JobID> = []
    /// Hosts that were given up and have waiting jobs.
    private var failed: Deque<Int> = []
    /// Hosts with jobs.
    private var busyHosts = 0
    var timers = Heap<Timed<TimerEvent>>()
    /// Messages about long pauses and outages, for users, with their hosts.
    var messages: [(host: String, message: String)] = []
    /// The jobs that request the targets of redirects for others, by target, with those others, and how many did so in vain before.
    var shared: [String: (job: JobID, followers: [JobID], failures: Int)] = [:]
    /// Jobs that are postponed (`postpone`).
    var postponed = 0
    /// Messages about hosts whose jobs were postponed.
    var outageMessages = 0
    /// Hosts whose postponed jobs may have their last round.
    var returning: Deque<Int> = []
    private(set) var inFlight = 0

    /// - Parameters:
    ///   - pauses: the ends of those that hosts asked earlier runs for, by origin.
    ///   - proxy: the proxy through which a URL is requested; nil for none.
    init(
        limits: FetchLimits, pauses: [String: Instant] = [:],
        proxy: @escaping @Sendable (HTTPURL) -> Proxy? = { _ in nil }
    ) {
        self.limits = limits
        self.proxy = proxy
        earlierPauses = pauses
        limiter = ConcurrencyLimiter(ceiling: limits.parallel, isFixed: !limits.adapts, pauses: false)
    }

    /// The ends of the pauses that hosts asked this run or an earlier one for, by origin; nil for one that is over.
    var pauses: [String: Instant?] {
        hostIndices.reduce(into: [:]) { pauses, entry in
            let (origin, end) = (String(entry.key), hosts[entry.value].restsUntil)
            if end != nil || earlierPauses[origin] != nil { pauses.updateValue(end, forKey: origin) }
        }
    }

    /// Jobs that hold the list up. As many postponed jobs as `maximumPostponed` do not.
    var waiting: Int { jobs.count - inFlight - min(postponed, Self.maximumPostponed) }
    /// Most transfers could start, but the hosts take no more for now.
    var isIdle: Bool { inFlight * 2 < limiter.limit }

    /// A value of the first of the job's requests that has one.
    func first<Value>(of id: JobID, _ value: (Request) -> Value?) -> Value? {
        guard jobs.contains(id) else { return nil }
        for request in jobs[id].requests { if let found = value(request) { return found } }
        return nil
    }

    // MARK: Requests

    /// Adds a request.
    /// - Parameters:
    ///   - priority: a job has the highest of its requests'.
    ///   - ignoresOutage: the host is probed if it was given up as unreachable.
    /// - Returns: whether it joined an existing job.
    mutating func submit(
        _ url: HTTPURL, request: Request, priority: FetchPriority = .normal, ignoresOutage: Bool = false
    ) -> Bool {
        defer { if ignoresOutage, let id = jobs.id(of: url.string) { probeHost(of: id) } }
        if let id = jobs.id(of: url.string) {
            jobs[id].requests.append(request)
            // The new request may not wait as long.
            continuePostponed(id)
            raise(id, to: priority)
            return true
        }
        let host = index(of: url)
        let id = jobs.add(url, host: host, priority: priority, request: request)
        addJob(to: host)
        hosts[host].waiting.append(id, priority)
        enqueue(host)
        return false
    }

    /// Removes the requests that `shouldRemove` selects, and the jobs without any other.
    /// - Returns: the removed requests, and the removed jobs that have a transfer.
    mutating func cancel(_ shouldRemove: (Request) -> Bool) -> (requests: [Request], inFlight: [Job<Request>]) {
        var removed: [Request] = []
        var inFlight: [Job<Request>] = []
        for id in Array(jobs.all) {
            let (leaving, job) = cancel(id, shouldRemove)
            removed += leaving
            if let job { inFlight.append(job) }
        }
        return (removed, inFlight)
    }

    /// The same for one job, which may have ended.
    mutating func cancel(
        _ id: JobID, _ shouldRemove: (Request) -> Bool
    ) -> (requests: [Request], inFlight: Job<Request>?) {
        guard jobs.contains(id) else { return ([], nil) }
        let job = jobs[id], leaving = job.requests.filter(shouldRemove)
        if leaving.isEmpty { return ([], nil) }
        jobs[id].requests.removeAll(where: shouldRemove)
        guard leaving.count == job.requests.count else { return (leaving, nil) }
        _ = end(id)
        return (leaving, job.hasTransfer ? job : nil)
    }

    // MARK: Decisions

    /// The next decision. The caller asks again after every decision but `.wait`.
    mutating func next(now: Instant) -> Decision {
        fireTimers(now)
        beginLastRounds(now)
        if let restart = nextRestart() { return restart }
        if let drop = dropFromFailedHost(now) { return drop }
        while inFlight < limiter.limit, let host = nextHost(now) {
            if isGivenUp(host, now) {
                failed.append(host)
                if let drop = dropFromFailedHost(now) { return drop }
                continue
            }
            if let closed = closed(host, at: now) {
                if let message = hosts[host].pauseMessage(at: now) { messages.append((hosts[host].name, message)) }
                timers.insert(Timed(time: closed, event: .host(host)))
                continue
            }
            guard hosts[host].hasRoom else { continue }
            if let proxy = hosts[host].proxy, !hosts[proxy].hasRoom {
                hold(host, proxy)
                continue
            }
            guard let id = hosts[host].breaker.isClosed ? popWaiting(host) : popProbe(host) else { continue }
            return .start(id, start(id, host, now))
        }
        return .wait(timers.min?.time)
    }

    /// Returns the messages about long pauses since the last call.
    mutating func takeMessages() -> [(host: String, message: String)] {
        defer { messages = [] }
        return messages
    }

    /// Puts a job that starts again in front of its host's others.
    mutating func resume(_ id: JobID) {
        guard canStart(id) else { return }
        let host = jobs[id].host
        hosts[host].waiting.prepend(id, jobs[id].priority)
        enqueue(host)
    }

    private mutating func start(_ id: JobID, _ host: Int, _ now: Instant) -> TransferRequest {
        inFlight += 1
        hosts[host].gate.start(&jobs[id].passage, now: now)
        let state = jobs[id].start(), proxy = hosts[host].proxy
        (state.shared.inFlightAtStart, state.shared.answersAtStart, state.shared.isOverdue) = (inFlight, answers, false)
        if let proxy {
            hosts[proxy].gate.start(&state.shared.proxy, now: now)
            hosts[proxy].breaker.starts(id)
        }
        if let interval = limits.interval { hosts[host].close(until: now + interval) }
        hosts[host].breaker.starts(id)
        enqueue(host)
        var request = TransferRequest(url: jobs[id].target, waitsToMultiplex: hosts[host].gate.multiplexes)
        (request.streams, request.isHTTP1) = (hosts[host].gate.streams, hosts[host].gate.keepsToHTTP1)
        if let proxy { request.proxy = (hosts[proxy].name, hosts[proxy].gate.limiter.limit) }
        return request
    }

    // MARK: Events of a transfer

    /// The host answered, in this version of HTTP.
    /// - Parameter isInstead: HTTP/1.1 was spoken because HTTP/2 had failed for the job.
    mutating func didAnswer(_ id: JobID, http2: Bool, isInstead: Bool = false) {
        guard let host = host(of: id) else { return }
        if isInstead { hosts[host].gate.answeredInstead() } else { hosts[host].gate.setVersion(http2: http2) }
        hosts[host].gate.hasAnswered = true
    }

    /// The end of a transfer shows something about its host. Precedes every other event of that end.
    /// - Parameter failure: why it brought no cover.
    mutating func didReceive(_ ending: Ending, of id: JobID, failure: CoverFailure? = nil, now: Instant) {
        guard let host = host(of: id), jobs[id].isInFlight else { return }
        hosts[host].lastHeard = now
        guard ending.tellsOfHost else { return }
        if ending.weight == nil {
            answers += 1
            if !jobs[id].state.shared.isOverdue { limiter.answered(ended(id, now)) }
        } else if ending == .silent, failure?.isPartial == true, !jobs[id].state.shared.isOverdue {
            limiter.rejected(ended(id, now), now: now)
        }
        if let proxy = hosts[host].proxy, didReceive(ending, of: id, through: proxy, failure, now) { return }
        hosts[host].didReceive(ending, of: id, &jobs[id].passage, failure: failure, now: now)
        if hosts[host].hasReturned { continuePostponed(of: host) }
    }

    /// The time of a transfer is over, and it goes on, as its body arrives: there may be too much in flight for the line that all hosts share.
    mutating func overran(_ id: JobID, now: Instant) {
        guard let host = host(of: id), jobs[id].isInFlight else { return }
        hosts[host].gate.hasAnswered = true
        if jobs[id].state.shared.isOverdue { return }
        jobs[id].state.shared.isOverdue = true
        var ended = ended(id, now)
        // It may take four times its time: a quarter of them would take it.
        ended.answered = max(ended.answered, inFlight / 4)
        limiter.rejected(ended, now: now)
    }

    /// As many as were answered since a transfer started are not too many for the line, though it hangs.
    private func ended(_ id: JobID, _ now: Instant) -> ConcurrencyLimiter.Ended {
        let shared = jobs[id].state.shared
        return ConcurrencyLimiter.Ended(
            start: jobs[id].passage.began ?? now, inFlightAtStart: shared.inFlightAtStart, inFlight: inFlight,
            answered: answers - shared.answersAtStart)
    }

    /// The job requests `target` next, as soon as that host allows.
    /// - Parameter isShared: or it takes the response of a job that was moved there in the same way.
    mutating func move(_ id: JobID, to target: HTTPURL, isShared: Bool = false) {
        endTransfer(id)
        guard let host = setTarget(target, of: id) else { return }
        if isShared, joinsTarget(id) { return }
        hosts[host].waiting.prepend(id, jobs[id].priority)
        enqueue(host)
    }

    /// The job is retried at `time`, starting from its own URL.
    mutating func retry(_ id: JobID, at time: Instant) {
        endTransfer(id)
        guard jobs.contains(id), setTarget(jobs[id].url, of: id) != nil else { return }
        jobs[id].attempt += 1
        jobs[id].retriesAt = time
        timers.insert(Timed(time: time, event: .retry(id, attempt: jobs[id].attempt)))
    }

    /// Ends the job. - Returns: its requests.
    mutating func end(_ id: JobID) -> [Request] {
        endTransfer(id)
        guard jobs.contains(id) else { return [] }
        leaveTarget(id)
        let job = jobs.remove(id)
        if job.isPostponed { postponed -= 1 }
        removeJob(from: job.host)
        return job.requests
    }

    mutating func endTransfer(_ id: JobID) {
        guard jobs.contains(id), jobs[id].isInFlight else { return }
        leave(id)
        let host = jobs[id].host
        if hosts[host].waitsForConnection {
            for other in jobs.all where jobs[other].host == host && jobs[other].isInFlight { restarts.append(other) }
        }
    }

    /// The transfer of the job gives up its places.
    mutating func leave(_ id: JobID) {
        jobs[id].isInFlight = false
        inFlight -= 1
        let host = jobs[id].host
        hosts[host].gate.end(&jobs[id].passage)
        hosts[host].breaker.dropped(id)
        if let proxy = hosts[host].proxy {
            hosts[proxy].gate.end(&jobs[id].state.shared.proxy)
            hosts[proxy].breaker.dropped(id)
        }
        enqueue(host)
    }

    /// - Returns: the target's host; nil if the job has ended.
    mutating func setTarget(_ target: HTTPURL, of id: JobID) -> Int? {
        guard let before = host(of: id) else { return nil }
        leaveTarget(id)
        let host = index(of: target)
        jobs[id].target = target
        jobs[id].host = host
        removeJob(from: before)
        addJob(to: host)
        return host
    }

    /// Nil if the job has ended.
    func host(of id: JobID) -> Int? { jobs.contains(id) ? jobs[id].host : nil }

    // MARK: Hosts

    private mutating func addJob(to host: Int) {
        if hosts[host].jobs == 0 { busyHosts += 1 }
        hosts[host].jobs += 1
    }

    private mutating func removeJob(from host: Int) {
        hosts[host].jobs -= 1
        if hosts[host].jobs == 0 { busyHosts -= 1 }
    }

    /// Each host's share of all transfers, rounded up: a host that has just stalled would collect the remainder before the stall
    /// is noticed.
    private var share: Int { (limiter.limit + max(1, busyHosts) - 1) / max(1, busyHosts) }

    /// The host whose turn it is.
    private mutating func nextHost(_ now: Instant) -> Int? {
        // It may be in another list as well, and stays there.
        while let host = urgent.popFirst() {
            hosts[host].isUrgent = false
            if hosts[host].waiting.hasImmediate, hosts[host].hasRoom { return host }
        }
        for proxy in proxies.values where hosts[proxy].hasRoom {
            while let host = hosts[proxy].held.popFirst() {
                // It was in another list as well, and had its turn.
                guard case .held = hosts[host].position else { continue }
                hosts[host].position = .none
                return host
            }
        }
        while let host = roundRobin.popFirst() {
            if hosts[host].inFlight < share {
                hosts[host].position = .none
                return host
            }
            hosts[host].position = .overflow
            overflow.append(host)
        }
        while let host = overflow.popFirst() {
            // A host that went back to the round robin leaves its index behind.
            guard case .overflow = hosts[host].position else { continue }
            hosts[host].position = .none
            // A stalled host would collect all transfers. It comes back when one of its transfers ends.
            if hosts[host].isSilent(at: now) { continue }
            return host
        }
        return nil
    }

    /// Puts the host into the round robin if one of its jobs could start.
    mutating func enqueue(_ host: Int) {
        guard !hosts[host].waiting.isEmpty, hosts[host].hasRoom else { return }
        if hosts[host].waiting.hasImmediate, !hosts[host].isUrgent {
            hosts[host].isUrgent = true
            urgent.append(host)
        }
        switch hosts[host].position {
        case .roundRobin, .held: return
        case .overflow where hosts[host].inFlight >= share: return
        case .overflow, .none: break
        }
        hosts[host].position = .roundRobin
        roundRobin.append(host)
    }

    private mutating func dropFromFailedHost(_ now: Instant) -> Decision? {
        while let host = failed.first {
            if isGivenUp(host, now), let id = popWaiting(host), let failure = notTried(id, now) {
                return .drop(id, failure)
            }
            failed.removeFirst()
        }
        return nil
    }

    /// The host's next job. Jobs that ended leave their IDs behind.
    mutating func popWaiting(_ host: Int) -> JobID? {
        while let id = hosts[host].waiting.popFirst() {
            if canStart(id) { return id }
        }
        return nil
    }

    func canStart(_ id: JobID) -> Bool { jobs.contains(id) && !jobs[id].hasTransfer }

    private mutating func fireTimers(_ now: Instant) {
        while let timer = timers.min, timer.time <= now {
            timers.removeMin()
            switch timer.event {
            case .host(let host): enqueue(host)
            case .lastRound(let host): returning.append(host)
            case .retry(let id, let attempt):
                guard canStart(id), jobs[id].attempt == attempt else { continue }
                let host = jobs[id].host
                // Covers that were not tried yet come first: URLs that time out again and again delay no others.
                hosts[host].waiting.append(id, jobs[id].priority)
                enqueue(host)
            }
        }
    }

    private mutating func index(of url: HTTPURL) -> Int {
        let origin = url.origin
        if let host = hostIndices[origin] { return host }
        let proxy = proxy(url), place = proxy.map { index(of: $0) }
        hosts.append(
            DownloadHost(
                url.authority, HostGate(of: url, limits), proxy: place, tunnels: url.isHTTPS || proxy?.isSOCKS ?? false,
                restsUntil: earlierPauses[String(origin)]))
        hostIndices[origin] = hosts.count - 1
        return hosts.count - 1
    }

    private mutating func index(of proxy: Proxy) -> Int {
        if let host = proxies[proxy.authority] { return host }
        hosts.append(DownloadHost("the proxy \(proxy.authority)", HostGate(of: nil, limits)))
        proxies[proxy.authority] = hosts.count - 1
        return hosts.count - 1
    }
}
