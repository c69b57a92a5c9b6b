import CurlHTTP

@testable import CoverLibrary

/// A `DownloadQueue` whose jobs are named by their URLs, which is how people read tests.
struct QueueDriver<Waiter> {
    private var queue: DownloadQueue<Waiter>
    /// Of every job that has started, ended or not.
    private var jobs: [String: JobID] = [:]

    init(limits: DownloadQueue<Waiter>.Limits) { queue = DownloadQueue(limits: limits) }

    var count: Int { queue.count }
    var waiting: Int { queue.waiting }
    var inFlight: Int { queue.inFlight }

    mutating func submit(_ url: HTTPURL, waiter: Waiter, at place: HTTPURL? = nil, isUrgent: Bool = false) -> Bool {
        queue.submit(url, waiter: waiter, at: place, isUrgent: isUrgent)
    }
    mutating func prefer(_ keys: [String]) { queue.prefer(keys) }
    mutating func withdraw(_ key: String, wantedBy isLeaving: (Waiter) -> Bool) -> [Waiter] {
        queue.withdraw(key, wantedBy: isLeaving)
    }
    mutating func forgetOutages() { queue.forgetOutages() }
    mutating func move(_ key: String, to place: HTTPURL) { if let job = jobs[key] { queue.move(job, to: place) } }
    mutating func learn(
        _ rules: Result<RobotsRules, RobotsUnknown>, host: Int, http2: Bool?, now: ContinuousClock.Instant
    ) {
        queue.learn(rules, host: host, http2: http2, now: now)
    }

    mutating func next(now: ContinuousClock.Instant) -> DownloadQueue<Waiter>.Decision {
        let decision = queue.next(now: now)
        if case .start(let start) = decision { jobs[start.key] = start.job }
        return decision
    }

    mutating func answered(_ key: String, http2: Bool) { if let job = jobs[key] { queue.answered(job, http2: http2) } }
    mutating func note(
        _ signal: HostSignal, of key: String, failure: CoverFailure? = nil, now: ContinuousClock.Instant
    ) {
        if let job = jobs[key] { queue.note(signal, of: job, failure: failure, now: now) }
    }
    mutating func allow(_ count: Int, hostOf key: String, until time: ContinuousClock.Instant) {
        if let job = jobs[key] { queue.allow(count, hostOf: job, until: time) }
    }
    mutating func end(_ job: JobID) -> [Waiter] { queue.end(job) }
    mutating func close(hostOf key: String, until time: ContinuousClock.Instant) {
        if let job = jobs[key] { queue.close(hostOf: job, until: time) }
    }
    mutating func giveUp(hostOf key: String, for wait: Duration, now: ContinuousClock.Instant) {
        if let job = jobs[key] { queue.giveUp(hostOf: job, for: wait, now: now) }
    }
    mutating func landed(_ key: String) { if let job = jobs[key] { queue.landed(job) } }
    mutating func retry(_ key: String, at time: ContinuousClock.Instant, from place: HTTPURL? = nil) {
        if let job = jobs[key] { queue.retry(job, at: time, from: place) }
    }
    mutating func end(_ key: String) -> [Waiter] { jobs[key].map { queue.end($0) } ?? [] }

    mutating func abandon(_ leaves: (Waiter) -> Bool) -> (waiters: [Waiter], inFlight: [String]) {
        let (waiters, inFlight) = queue.abandon(leaves)
        return (waiters, inFlight.compactMap { job in jobs.first { $0.value == job }?.key })
    }
}

extension DownloadQueue.Start {
    var key: String { url.string }
}
