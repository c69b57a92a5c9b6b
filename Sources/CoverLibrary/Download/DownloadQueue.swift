import CurlHTTP
import DequeModule
import HeapModule

/// Names a job of a `DownloadQueue`, and no other after it has ended.
struct JobID: Hashable, Sendable {
    /// Small, and used again: for tables beside the queue.
    var slot: Int
    fileprivate var use: Int
}

/// Decides which transfer starts when. A pure value: no sockets, no clock; `DownloadScheduler` acts on what it says.
///
/// Invariants: a key has one job, whatever the number of those who wait for it (*join*). A host is in `ring` exactly when one
/// of its jobs could start now, the limit for all hosts aside. Hosts in the ring take turns.
struct DownloadQueue<Waiter> {
    struct Limits {
        /// In flight, all hosts together.
        var parallel: Int
        /// In flight to one host that speaks HTTP/1.1.
        var perHost: Int
        /// Time between two starts to one host.
        var interval: Duration?
    }

    struct Start {
        var job: JobID
        var url: HTTPURL
        var attempt: Int
        /// The host has answered over HTTP/2 before.
        var multiplexes: Bool
    }

    enum Decision {
        case start(Start)
        /// Nothing can start before then; nil: not before something else happens.
        case wait(ContinuousClock.Instant?)
    }

    private enum Knowledge {
        case unknown
        case asking
        case speaks(http2: Bool)
    }

    private struct Host {
        var waiting: Deque<JobID> = []
        var inFlight = 0
        var knowledge = Knowledge.unknown
        /// No start before then: the rate, or the host's own `Retry-After`.
        var closedUntil: ContinuousClock.Instant?
        var isInRing = false
    }

    private struct Job {
        var id: JobID
        var url: HTTPURL
        var host: Int
        var attempt = 0
        var isInFlight = false
        /// Its cover is here and on its way to the disk.
        var hasLanded = false
        var waiters: [Waiter]
    }

    private struct Timer: Comparable {
        enum Wake {
            case host(Int)
            case job(JobID)
        }
        var time: ContinuousClock.Instant
        var wake: Wake
        static func < (left: Timer, right: Timer) -> Bool { left.time < right.time }
        static func == (left: Timer, right: Timer) -> Bool { left.time == right.time }
    }

    private let limits: Limits
    private var slots: [Job?] = []
    private var freeSlots: [Int] = []
    private var uses = 0
    private var jobsByKey: [String: JobID] = [:]
    private var hosts: [Host] = []
    private var hostNumbers: [Substring: Int] = [:]
    private var ring: Deque<Int> = []
    private var timers = Heap<Timer>()
    private(set) var inFlight = 0

    init(limits: Limits) { self.limits = limits }

    /// Jobs not ended yet, in flight or not.
    var count: Int { jobsByKey.count }
    var waiting: Int { jobsByKey.count - inFlight }

    /// Adds a request. True when it joined one that was there already.
    mutating func submit(_ url: HTTPURL, waiter: Waiter) -> Bool {
        if let id = jobsByKey[url.string] {
            slots[id.slot]?.waiters.append(waiter)
            return true
        }
        let host = number(of: url)
        uses += 1
        let id = JobID(slot: freeSlots.popLast() ?? slots.count, use: uses)
        let job = Job(id: id, url: url, host: host, waiters: [waiter])
        if id.slot == slots.count { slots.append(job) } else { slots[id.slot] = job }
        jobsByKey[url.string] = id
        hosts[host].waiting.append(id)
        enterRing(host)
        return false
    }

    func contains(_ key: String) -> Bool { jobsByKey[key] != nil }

    /// Those who wait for the job.
    func waiters(of id: JobID) -> [Waiter] { job(id)?.waiters ?? [] }

    /// Nil when the job has ended.
    private func job(_ id: JobID) -> Job? {
        guard id.slot < slots.count, let job = slots[id.slot], job.id == id else { return nil }
        return job
    }

    /// What to do now. To be asked again after every `.start`.
    mutating func next(now: ContinuousClock.Instant) -> Decision {
        fire(now)
        while inFlight < limits.parallel, let number = ring.popFirst() {
            hosts[number].isInRing = false
            if let closed = hosts[number].closedUntil {
                if closed > now {
                    timers.insert(Timer(time: closed, wake: .host(number)))
                    continue
                }
                hosts[number].closedUntil = nil
            }
            guard mayStart(hosts[number]), let id = popWaiting(number) else { continue }
            return .start(start(id, number, now))
        }
        return .wait(timers.min?.time)
    }

    /// The host answered: what it speaks is known from now on.
    mutating func answered(_ id: JobID, http2: Bool) {
        guard let host = job(id)?.host else { return }
        hosts[host].knowledge = .speaks(http2: http2)
    }

    /// The host asked everybody to stay away until `time`.
    mutating func close(hostOf id: JobID, until time: ContinuousClock.Instant) {
        guard let host = job(id)?.host else { return }
        hosts[host].closedUntil = max(time, hosts[host].closedUntil ?? time)
    }

    /// The cover is here, but its waiters still wait: until it is durable, later requests join them.
    mutating func landed(_ id: JobID) {
        leave(id)
        if job(id) != nil { slots[id.slot]?.hasLanded = true }
    }

    /// The job's transfer is over.
    private mutating func leave(_ id: JobID) {
        guard let job = job(id), job.isInFlight else { return }
        slots[id.slot]?.isInFlight = false
        inFlight -= 1
        hosts[job.host].inFlight -= 1
        if case .asking = hosts[job.host].knowledge { hosts[job.host].knowledge = .unknown }
        enterRing(job.host)
    }

    /// The transfer failed and is to be tried again at `time`.
    mutating func retry(_ id: JobID, at time: ContinuousClock.Instant) {
        leave(id)
        guard job(id) != nil else { return }
        slots[id.slot]?.attempt += 1
        slots[id.slot]?.hasLanded = false
        timers.insert(Timer(time: time, wake: .job(id)))
    }

    /// Ends the job and returns those who waited for it.
    mutating func end(_ id: JobID) -> [Waiter] {
        leave(id)
        guard let job = job(id) else { return [] }
        slots[id.slot] = nil
        freeSlots.append(id.slot)
        jobsByKey[job.url.string] = nil
        return job.waiters
    }

    /// Takes out the waiters that `leaves` names, and the jobs nobody waits for any more. Covers that have landed are left
    /// alone: they will be there in a moment.
    /// - Returns: the waiters, and the abandoned jobs that were in flight.
    mutating func abandon(_ leaves: (Waiter) -> Bool) -> (waiters: [Waiter], inFlight: [JobID]) {
        var left: [Waiter] = []
        var flying: [JobID] = []
        for job in slots {
            guard let job, !job.hasLanded else { continue }
            let leaving = job.waiters.filter(leaves)
            if leaving.isEmpty { continue }
            left += leaving
            slots[job.id.slot]?.waiters.removeAll(where: leaves)
            guard leaving.count == job.waiters.count else { continue }
            if job.isInFlight { flying.append(job.id) }
            _ = end(job.id)
        }
        return (left, flying)
    }

    // MARK: Inside

    private func mayStart(_ host: Host) -> Bool {
        switch host.knowledge {
        // One transfer finds out what a new host speaks, and looks its name up once.
        case .unknown: host.inFlight == 0
        case .asking: false
        case .speaks(let http2): host.inFlight < (http2 ? limits.parallel : limits.perHost)
        }
    }

    private mutating func start(_ id: JobID, _ number: Int, _ now: ContinuousClock.Instant) -> Start {
        slots[id.slot]?.isInFlight = true
        inFlight += 1
        hosts[number].inFlight += 1
        if let interval = limits.interval { hosts[number].closedUntil = now + interval }
        var multiplexes = false
        switch hosts[number].knowledge {
        case .unknown: hosts[number].knowledge = .asking
        case .asking: break
        case .speaks(let http2): multiplexes = http2
        }
        enterRing(number)
        let job = slots[id.slot]!
        return Start(job: id, url: job.url, attempt: job.attempt, multiplexes: multiplexes)
    }

    /// The next job of a host. Jobs that were abandoned have left their names behind.
    private mutating func popWaiting(_ number: Int) -> JobID? {
        while let id = hosts[number].waiting.popFirst() {
            if job(id) != nil { return id }
        }
        return nil
    }

    private mutating func enterRing(_ number: Int) {
        guard !hosts[number].isInRing, !hosts[number].waiting.isEmpty, mayStart(hosts[number]) else { return }
        hosts[number].isInRing = true
        ring.append(number)
    }

    private mutating func fire(_ now: ContinuousClock.Instant) {
        while let timer = timers.min, timer.time <= now {
            timers.removeMin()
            switch timer.wake {
            case .host(let number): enterRing(number)
            case .job(let id):
                guard let job = job(id) else { continue }
                hosts[job.host].waiting.prepend(id)
                enterRing(job.host)
            }
        }
    }

    private mutating func number(of url: HTTPURL) -> Int {
        let origin = url.origin
        if let number = hostNumbers[origin] { return number }
        var host = Host()
        // Nothing to find out: no name to look up, and HTTP/2 is only spoken over TLS.
        if url.hostIsAddress, !url.isHTTPS { host.knowledge = .speaks(http2: false) }
        hosts.append(host)
        hostNumbers[origin] = hosts.count - 1
        return hosts.count - 1
    }
}
