import CurlHTTP
import DequeModule
import HeapModule

/// Decides which transfer starts when. A pure value: no sockets, no clock; `DownloadScheduler` acts on what it says.
///
/// Invariants: a key has one job, whatever the number of those who wait for it (*join*). A job stands with the host it asks
/// next, which is another's than its URL's when redirects led there. A host is in `ring` or `beyond`
/// exactly when one of its jobs could start now, times and the limit for all hosts aside. Hosts in the ring take turns; those
/// that have their share of `parallel` already take what the others leave, unless nothing has been heard of them for a while.
/// So a host that has stalled keeps nobody waiting.
struct DownloadQueue<Waiter> {
    typealias Instant = ContinuousClock.Instant

    let limits: Limits
    private let learntBefore: [String: HostMemory]
    /// Those of `freeSlots` hold jobs that have ended.
    var slots: [Job] = []
    private var freeSlots: [Int] = []
    private var uses = 0
    var jobsByKey: [String: JobID] = [:]
    var hosts: [DownloadHost] = []
    private var hostNumbers: [Substring: Int] = [:]
    private var ring: Deque<Int> = []
    private var beyond: Deque<Int> = []
    /// Jobs that start before all others, whatever their hosts' limits.
    var urgent: Deque<JobID> = []
    /// Hosts that were given up, with jobs that wait for them.
    private var doomed: Deque<Int> = []
    /// Hosts with jobs.
    var busy = 0
    /// No start before then: the rate of all hosts.
    private var closedUntil: Instant?
    private var timers = Heap<Timer>()
    var inFlight = 0

    /// How long the first answer of a host may take before a few others are asked for.
    private static var patience: Duration { .milliseconds(500) }

    /// - Parameter learnt: what earlier runs found out about hosts, by origin.
    init(limits: Limits, learnt: [String: HostMemory] = [:]) {
        self.limits = limits
        learntBefore = learnt
    }

    /// What this run found out about hosts, by origin.
    var learnt: [String: HostMemory] {
        hostNumbers.reduce(into: [:]) { learnt, named in
            let (origin, host) = (String(named.key), hosts[named.value])
            learnt[origin] = HostMemory(
                pace: host.pace.learnt ?? learntBefore[origin]?.pace, restsUntil: host.restsUntil)
        }
    }

    /// Jobs not ended yet, in flight or not.
    var count: Int { jobsByKey.count }
    var waiting: Int { jobsByKey.count - inFlight }

    /// Adds a request. True when it joined one that was there already.
    /// - Parameters:
    ///   - place: where the URL is known to lead.
    ///   - isUrgent: the transfer starts now, also while its host is paused, given up, or at its limit.
    mutating func submit(_ url: HTTPURL, waiter: Waiter, at place: HTTPURL? = nil, isUrgent: Bool = false) -> Bool {
        if let id = jobsByKey[url.string] {
            slots[id.slot].waiters.append(waiter)
            if isUrgent { urgent.append(id) }
            return true
        }
        let host = number(of: place ?? url)
        let id = addJob(url, waiter, at: place, host)
        hosts[host].waiting.append(id)
        if isUrgent { urgent.append(id) }
        enterRing(host)
        return false
    }

    mutating func addJob(_ url: HTTPURL, _ waiter: Waiter, at place: HTTPURL?, _ host: Int) -> JobID {
        uses += 1
        let id = JobID(slot: freeSlots.popLast() ?? slots.count, use: uses)
        let job = Job(id: id, url: url, place: place, host: host, waiters: [waiter])
        if id.slot == slots.count { slots.append(job) } else { slots[id.slot] = job }
        jobsByKey[url.string] = id
        addJobs(1, host)
        return id
    }

    /// Most places are free: the hosts there are take no more for now.
    var isIdle: Bool { inFlight * 2 < limits.parallel }

    func contains(_ key: String) -> Bool { jobsByKey[key] != nil }

    /// What the first of those who wait for the job has of something.
    func first<Value>(of id: JobID, _ value: (Waiter) -> Value?) -> Value? {
        guard isThere(id) else { return nil }
        for index in slots[id.slot].waiters.indices {
            if let found = value(slots[id.slot].waiters[index]) { return found }
        }
        return nil
    }

    /// Whether the job has not ended. Jobs are looked at where they lie: a copy of one costs as much as all that is done to it.
    func isThere(_ id: JobID) -> Bool { id.slot < slots.count && slots[id.slot].id == id }

    /// Whether the job has not ended, has no transfer in flight, and no cover on its way to the disk.
    func canStart(_ id: JobID) -> Bool { isThere(id) && !slots[id.slot].isInFlight && !slots[id.slot].hasLanded }

    /// Nil when the job has ended.
    func host(of id: JobID) -> Int? { isThere(id) ? slots[id.slot].host : nil }

    /// What to do now. To be asked again after everything but `.wait`.
    mutating func next(now: Instant) -> Decision {
        fire(now)
        if let start = startUrgent(now) { return .start(start) }
        if let dropped = popDoomed(now) { return dropped }
        if let closedUntil, closedUntil > now { return .wait(min(closedUntil, timers.min?.time ?? closedUntil)) }
        while inFlight < limits.parallel, let number = popRing(now) {
            hosts[number].honourEarlierRest(longest: limits.longestRest, now: now)
            if hosts[number].breaker.isGivenUp(now) {
                doomed.append(number)
                if let dropped = popDoomed(now) { return dropped }
                continue
            }
            if let closed = hosts[number].closed(at: now) {
                timers.insert(Timer(time: closed, wake: .host(number)))
                continue
            }
            guard hosts[number].hasRoom else { continue }
            if let question = robotsQuestion(number, now) { return question }
            guard let id = hosts[number].breaker.isClosed ? popWaiting(number) : popProbe(number) else { continue }
            if let refusal = refusal(id, number) { return refusal }
            return .start(start(id, number, now))
        }
        return .wait(timers.min?.time)
    }

    /// The host answered: what it speaks is known from now on.
    mutating func answered(_ id: JobID, http2: Bool) {
        guard let host = host(of: id) else { return }
        hosts[host].knowledge = .speaks(http2: http2)
        hosts[host].hasAnswered = true
        let ceiling = http2 ? limits.parallel : limits.perHost
        if hosts[host].pace.ceiling != ceiling { hosts[host].pace.ceiling = ceiling }
    }

    /// What the end of a transfer tells of its host. To be called before anything else is said of its end.
    /// - Parameter failure: why it brought nothing.
    mutating func note(_ signal: HostSignal, of id: JobID, failure: CoverFailure? = nil, now: Instant) {
        guard isThere(id), slots[id.slot].isInFlight, let began = slots[id.slot].began else { return }
        let number = slots[id.slot].host
        let hadOthers = !hosts[number].waiting.isEmpty
        if failure != nil { slots[id.slot].hasFailed = true }
        let ended = HostPace.Ended(began: began, company: slots[id.slot].company, hadOthers: hadOthers)
        hosts[number].note(signal, of: id, ended, failure: failure, now: now)
    }

    /// The host asked everybody to stay away until `time`.
    mutating func close(hostOf id: JobID, until time: Instant) {
        guard let host = host(of: id) else { return }
        hosts[host].restsUntil = time
        hosts[host].close(until: time)
    }

    /// The host takes no request for `wait`, which is too long: the jobs that wait for it are dropped.
    mutating func giveUp(hostOf id: JobID, for wait: Duration, now: Instant) {
        guard let host = host(of: id) else { return }
        hosts[host].restsUntil = now + wait
        hosts[host].giveUp(until: now + wait, reason: "\(hosts[host].name) asks to wait \(wait.components.seconds) s")
        doomed.append(host)
    }

    /// By the host's own count, so many more requests are taken until `time`.
    mutating func allow(_ count: Int, hostOf id: JobID, until time: Instant) {
        guard let host = host(of: id) else { return }
        // Those in flight besides this one are not among those it has counted, for all we know.
        hosts[host].allowance = .init(left: max(0, count - max(0, hosts[host].inFlight - 1)), until: time)
    }

    /// The cover is here, but its waiters still wait: until it is durable, later requests join them.
    mutating func landed(_ id: JobID) {
        leave(id)
        if isThere(id) { slots[id.slot].hasLanded = true }
    }

    /// The job's transfer is over.
    private mutating func leave(_ id: JobID) {
        guard isThere(id), slots[id.slot].isInFlight else { return }
        slots[id.slot].isInFlight = false
        inFlight -= 1
        let host = slots[id.slot].host
        hosts[host].inFlight -= 1
        if case .asking = hosts[host].knowledge { hosts[host].knowledge = .unknown }
        hosts[host].breaker.dropped(id)
        enterRing(host)
    }

    /// The job goes on at `place`, as soon as that one's host allows.
    mutating func move(_ id: JobID, to place: HTTPURL) {
        leave(id)
        guard let host = put(id, at: place) else { return }
        hosts[host].waiting.prepend(id)
        enterRing(host)
    }

    /// - Returns: the host of the place; nil when the job has ended.
    private mutating func put(_ id: JobID, at place: HTTPURL) -> Int? {
        guard let before = host(of: id) else { return nil }
        let host = number(of: place)
        slots[id.slot].place = place
        slots[id.slot].host = host
        removeJobs(1, before)
        addJobs(1, host)
        return host
    }

    /// The transfer failed and is to be tried again at `time`, from `place` on; nil: from its URL on.
    mutating func retry(_ id: JobID, at time: Instant, from place: HTTPURL? = nil) {
        leave(id)
        guard isThere(id), put(id, at: place ?? slots[id.slot].url) != nil else { return }
        slots[id.slot].attempt += 1
        slots[id.slot].hasLanded = false
        timers.insert(Timer(time: time, wake: .job(id, attempt: slots[id.slot].attempt)))
    }

    /// Ends the job and returns those who waited for it.
    mutating func end(_ id: JobID) -> [Waiter] {
        leave(id)
        guard isThere(id) else { return [] }
        jobsByKey[slots[id.slot].url.string] = nil
        removeJobs(1, slots[id.slot].host)
        freeSlots.append(id.slot)
        return slots[id.slot].end()
    }

    /// Takes out the waiters that `leaves` names, and the jobs nobody waits for any more. Covers that have landed are left
    /// alone: they will be there in a moment.
    /// - Returns: the waiters, and the abandoned jobs that were in flight.
    mutating func abandon(_ leaves: (Waiter) -> Bool) -> (waiters: [Waiter], inFlight: [JobID]) {
        var left: [Waiter] = []
        var flying: [JobID] = []
        for job in slots {
            guard !job.hasEnded, !job.hasLanded else { continue }
            let leaving = job.waiters.filter(leaves)
            if leaving.isEmpty { continue }
            left += leaving
            slots[job.id.slot].waiters.removeAll(where: leaves)
            guard leaving.count == job.waiters.count else { continue }
            if job.isInFlight { flying.append(job.id) }
            _ = end(job.id)
        }
        return (left, flying)
    }

    // MARK: Inside

    mutating func addJobs(_ count: Int, _ number: Int) {
        if hosts[number].jobs == 0 { busy += 1 }
        hosts[number].jobs += count
    }

    mutating func removeJobs(_ count: Int, _ number: Int) {
        hosts[number].jobs -= count
        if hosts[number].jobs == 0 { busy -= 1 }
    }

    mutating func start(_ id: JobID, _ number: Int, _ now: Instant) -> Start {
        slots[id.slot].isInFlight = true
        slots[id.slot].began = now
        take(number, now)
        slots[id.slot].company = hosts[number].inFlight
        hosts[number].pace.begins(company: hosts[number].inFlight, now: now)
        hosts[number].breaker.starts(id)
        if hosts[number].pace.isFirst, hosts[number].inFlight == 1 {
            timers.insert(Timer(time: now + Self.patience, wake: .slowHost(number)))
        }
        var multiplexes = false
        switch hosts[number].knowledge {
        case .unknown: hosts[number].knowledge = .asking
        case .asking: break
        case .speaks(let http2): multiplexes = http2
        }
        enterRing(number)
        return Start(
            job: id, url: slots[id.slot].url, place: place(of: id), attempt: slots[id.slot].attempt,
            multiplexes: multiplexes)
    }

    /// Where a job that has not ended asks next.
    func place(of id: JobID) -> HTTPURL { slots[id.slot].place ?? slots[id.slot].url }

    /// A request to the host begins: it counts for every limit.
    mutating func take(_ number: Int, _ now: Instant) {
        inFlight += 1
        hosts[number].inFlight += 1
        hosts[number].allowance?.left -= 1
        if let interval = limits.interval { hosts[number].close(until: now + interval) }
        if let interval = limits.totalInterval { closedUntil = now + interval }
    }

    /// How many of the places for all hosts are each one's. Rounded up: what were left over, a host that has just stalled would
    /// gather before it is noticed.
    var share: Int { (limits.parallel + max(1, busy) - 1) / max(1, busy) }

    /// The host whose turn it is.
    private mutating func popRing(_ now: Instant) -> Int? {
        while let number = ring.popFirst() {
            if hosts[number].inFlight < share {
                hosts[number].place = .nowhere
                return number
            }
            hosts[number].place = .beyond
            beyond.append(number)
        }
        while let number = beyond.popFirst() {
            // It may have gone back into the ring, and left its number behind.
            guard case .beyond = hosts[number].place else { continue }
            hosts[number].place = .nowhere
            // One that has stalled would gather place after place. It comes back when something of it ends.
            if hosts[number].isSilent(at: now) { continue }
            return number
        }
        return nil
    }

    private mutating func popDoomed(_ now: Instant) -> Decision? {
        while let number = doomed.first {
            if hosts[number].breaker.isGivenUp(now), let id = popWaiting(number) {
                let url = slots[id.slot].url
                var failure = CoverFailure.notTried(url.string, hosts[number].outage)
                failure.isElsewhere = place(of: id).origin != url.origin
                return .drop(id, url, failure)
            }
            doomed.removeFirst()
        }
        return nil
    }

    /// The next job of a host. Jobs that were abandoned have left their names behind.
    mutating func popWaiting(_ number: Int) -> JobID? {
        while let id = hosts[number].waiting.popFirst() {
            if canStart(id) { return id }
        }
        return nil
    }

    mutating func enterRing(_ number: Int) {
        guard !hosts[number].waiting.isEmpty, hosts[number].hasRoom else { return }
        switch hosts[number].place {
        case .ring: return
        case .beyond where hosts[number].inFlight >= share: return
        case .beyond, .nowhere: break
        }
        hosts[number].place = .ring
        ring.append(number)
    }

    private mutating func fire(_ now: Instant) {
        while let timer = timers.min, timer.time <= now {
            timers.removeMin()
            switch timer.wake {
            case .host(let number): enterRing(number)
            case .slowHost(let number):
                hosts[number].pace.waitedLong()
                enterRing(number)
            case .job(let id, let attempt):
                guard canStart(id), slots[id.slot].attempt == attempt else { continue }
                let host = slots[id.slot].host
                // Covers that were not tried yet come first: URLs that time out again and again hold up no others.
                hosts[host].waiting.append(id)
                enterRing(host)
            }
        }
    }

    mutating func number(of url: HTTPURL) -> Int {
        let origin = url.origin
        if let number = hostNumbers[origin] { return number }
        let pace = HostPace(
            ceiling: limits.perHost, isFixed: !limits.adapts, learnt: learntBefore[String(origin)]?.pace)
        var host = DownloadHost(url.authority, pace)
        (host.restsUntil, host.hasEarlierRest) = (learntBefore[String(origin)]?.restsUntil, true)
        if limits.respectsRobots { host.robots = .unknown(tries: 0) }
        // Nothing to find out: no name to look up, and HTTP/2 is only spoken over TLS.
        if url.hostIsAddress, !url.isHTTPS { host.knowledge = .speaks(http2: false) }
        hosts.append(host)
        hostNumbers[origin] = hosts.count - 1
        return hosts.count - 1
    }
}
