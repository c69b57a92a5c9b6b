import CurlHTTP

/// Decides which missing covers this process may download, and which it has to look up first.
///
/// - A cover whose lease another process holds waits, and is looked up with all that wait, five times a second: the other process
///   may have stored it. If it is still missing, its lease is asked for again.
/// - A cover whose lease was taken is looked up once more if another process has stored anything: it may have stored this one
///   between the first look-up and the lease.
/// - After `timeout` the cover is downloaded without a lease: the holder may have been stopped.
struct JobLeases {
    typealias Instant = ContinuousClock.Instant

    private enum Status {
        /// Another process has the lease.
        case awaited(since: Instant)
        /// The lease is taken. The cover has to be looked up.
        case unverified(Int)
        /// The lease is taken, and the cover has been missing since.
        case verified(Int)
        /// The lease was awaited for too long.
        case waived
    }

    /// Time between two look-ups of the covers whose leases are awaited.
    static let interval = Duration.milliseconds(200)
    /// Covers with leases that are looked up together. Few: they keep their leases until their hosts have room.
    static let maximumUnverified = 32

    /// Nil if every cover may be downloaded at once.
    let leases: (any DownloadLeases)?
    private let timeout: Duration
    private var statuses: [JobID: Status] = [:]
    private var awaited: [JobID] = []
    private var unverified: [JobID] = []
    /// When the awaited covers are looked up next.
    private var nextLookup: Instant?
    private var isLookingUp = false

    /// - Parameter timeout: how long a cover waits for a lease.
    init(_ leases: (any DownloadLeases)?, timeout: Duration) {
        self.leases = leases
        self.timeout = timeout
    }

    /// Whether a job with a missing cover may start. One that must wait is among the next `jobsToLookUp`.
    mutating func admit(_ job: JobID, _ key: String, now: Instant) -> Admission {
        guard let leases else { return .start }
        switch statuses[job] {
        case .verified, .waived: return .start
        case .unverified: return .wait
        case .awaited(let since) where now - since >= timeout:
            statuses[job] = .waived
            return .start
        case .awaited, nil: break
        }
        if isLookingUp || unverified.count >= Self.maximumUnverified { return .stop }
        guard let lease = leases.take(key) else {
            if statuses[job] == nil { statuses[job] = .awaited(since: now) }
            awaited.append(job)
            nextLookup = nextLookup ?? now + Self.interval
            return .wait
        }
        if !leases.hasForeignCommits {
            statuses[job] = .verified(lease)
            return .start
        }
        statuses[job] = .unverified(lease)
        unverified.append(job)
        return .wait
    }

    // MARK: Looking up

    /// When `jobsToLookUp` has more to return; nil for not before `admit` or `didLookUp`.
    var deadline: Instant? { isLookingUp ? nil : unverified.isEmpty ? nextLookup : .now }

    /// The jobs to look up now. Until `didLookUp` there are no others.
    mutating func jobsToLookUp(now: Instant) -> [JobID] {
        if isLookingUp { return [] }
        var jobs = unverified
        unverified = []
        if let time = nextLookup, time <= now {
            jobs += awaited
            (awaited, nextLookup) = ([], nil)
        }
        isLookingUp = !jobs.isEmpty
        return jobs
    }

    mutating func didLookUp() { isLookingUp = false }

    /// The cover of a job is still missing.
    mutating func isMissing(_ job: JobID) {
        if case .unverified(let lease) = statuses[job] { statuses[job] = .verified(lease) }
    }

    // MARK: Ends

    /// Releases the job's lease, if it has one. The job may take it again.
    mutating func release(_ job: JobID) {
        switch statuses[job] {
        case .unverified(let lease), .verified(let lease):
            statuses[job] = nil
            leases?.release(lease)
        case .awaited, .waived, nil: break
        }
    }

    /// The job has ended, and its download is handed to the store. - Returns: its lease, which ends with the download.
    mutating func handOver(_ job: JobID) -> Int? {
        switch statuses.removeValue(forKey: job) {
        case .unverified(let lease), .verified(let lease): lease
        case .awaited, .waived, nil: nil
        }
    }

    /// The job has ended without a download.
    mutating func end(_ job: JobID) {
        release(job)
        statuses[job] = nil
    }

    /// Ends the jobs that `isCurrent` does not know.
    mutating func endAll(except isCurrent: (JobID) -> Bool) {
        for job in Array(statuses.keys) where !isCurrent(job) { end(job) }
    }
}

/// The right to download a URL, which one process at a time has. Backed by what the processes share: the cache.
package protocol DownloadLeases: Sendable {
    /// Takes the lease of a key. Does not block. - Returns: the lease, for `release`; nil while another process holds it.
    func take(_ key: String) -> Int?

    /// Ends a lease. Does not block.
    func release(_ lease: Int)

    /// Whether another process has stored covers, so that one that was missing may be stored by now. Does not block.
    var hasForeignCommits: Bool { get }

    /// The stored cover of each key, as the outcome of its requests; nil for those missing.
    func stored(_ keys: [String]) async -> [CoverOutcome?]
}

/// Covers that another process may be downloading, or may have stored.
extension DownloadScheduler {
    /// Whether a job may start. Revalidating and reloading need no lease: what another process stores is no answer to them.
    func admit(_ job: Job<Ask>, _ now: ContinuousClock.Instant) -> Admission {
        job.requests.contains { $0.stored != nil || $0.reloads }
            ? .start : jobLeases.admit(job.id, job.url.string, now: now)
    }

    /// Looks up the covers that wait for it. - Returns: when to call it next; nil for after the next event.
    func lookUp(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let jobs = jobLeases.jobsToLookUp(now: now)
        if !jobs.isEmpty {
            let waiting = jobs.compactMap { job in queue.keyToStart(job).map { (job, $0) } }
            Task { didLookUp(waiting.map(\.0), await jobLeases.leases?.stored(waiting.map(\.1)) ?? []) }
        }
        return jobLeases.deadline
    }

    /// Releases the leases of jobs that were cancelled.
    func endLeases() { jobLeases.endAll { queue.contains($0) } }

    private func didLookUp(_ jobs: [JobID], _ covers: [CoverOutcome?]) {
        jobLeases.didLookUp()
        for (job, cover) in zip(jobs, covers) where queue.keyToStart(job) != nil {
            if let cover {
                jobLeases.end(job)
                _ = queue.end(job).complete(cover)
            } else {
                jobLeases.isMissing(job)
                queue.resume(job)
            }
        }
    }
}
