import CurlHTTP
import Synchronization
import Testing

@testable import CoverFetch

/// A `DownloadQueue` whose jobs are named by their URLs, so that tests can be read.
struct QueueDriver<Request> {
    typealias Instant = ContinuousClock.Instant

    private var queue: DownloadQueue<Request>
    /// The jobs that have started, ended or not, by URL.
    private var jobs: [String: JobID] = [:]

    init(
        limits: FetchLimits, pauses: [String: Instant] = [:],
        proxy: @escaping @Sendable (HTTPURL) -> Proxy? = { _ in nil }
    ) {
        queue = DownloadQueue(limits: limits, pauses: pauses, proxy: proxy)
    }

    /// The limit of all hosts together.
    var limit: Int { queue.limiter.limit }

    var pauses: [String: Instant?] { queue.pauses }

    var count: Int { queue.jobs.count }
    var waiting: Int { queue.waiting }
    var inFlight: Int { queue.inFlight }
    var postponed: Int { queue.postponed }

    mutating func submit(
        _ url: HTTPURL, request: Request, priority: FetchPriority = .normal, ignoresOutage: Bool = false
    ) -> Bool {
        queue.submit(url, request: request, priority: priority, ignoresOutage: ignoresOutage)
    }

    mutating func prefer(_ keys: [String]) { queue.prefer(keys) }

    mutating func withdraw(_ key: String, _ isLeaving: (Request) -> Bool) -> [Request] {
        queue.withdraw(key, isLeaving)
    }

    mutating func forgetOutages() { queue.forgetOutages() }

    mutating func next(now: Instant) -> DownloadQueue<Request>.Decision {
        let decision = queue.next(now: now)
        if case .start(let job, _) = decision { jobs[key(of: job)] = job }
        return decision
    }

    func key(of job: JobID) -> String { queue.jobs[job].url.string }

    /// A transfer that starts.
    struct Start {
        let key: String
        let attempt: Int
        let request: TransferRequest
    }

    /// What a queue decides at one time.
    struct Turn {
        var starts: [Start] = []
        /// The keys of the jobs that start, and of those that are dropped with their reasons.
        var started: [String] { starts.map(\.key) }
        var dropped: [String] = []
        var details: [String] = []
        var wait: Instant?
    }

    /// All decisions at one time. No transfer is restarted.
    /// - Parameter postpones: jobs that may be postponed are not dropped.
    mutating func turn(_ now: Instant, postpones: Bool = false) -> Turn {
        var turn = Turn()
        while true {
            switch next(now: now) {
            case .start(let job, let request):
                turn.starts.append(Start(key: key(of: job), attempt: queue.jobs[job].attempt, request: request))
            case .restart: Issue.record("a transfer was restarted")
            case .drop(let job, let failure):
                if postpones, queue.postpone(job, now) { continue }
                turn.dropped.append(key(of: job))
                turn.details.append(failure.detail)
                _ = end(job)
            case .wait(let time):
                turn.wait = time
                return turn
            }
        }
    }

    mutating func cancel(_ shouldRemove: (Request) -> Bool) -> (requests: [Request], inFlight: [String]) {
        let (requests, inFlight) = queue.cancel(shouldRemove)
        return (requests, inFlight.map(\.url.string))
    }

    // MARK: Events of a started job. Unknown keys are ignored.

    mutating func didConnect(_ key: String, _ event: ConnectionEvent) -> Bool {
        jobs[key].map { queue.didConnect($0, event) } ?? false
    }

    mutating func mayConnect(_ key: String, others: Int) -> Bool {
        jobs[key].map { queue.mayConnect($0, others: others) } ?? true
    }

    func attempts(_ key: String) -> Int { jobs[key].map { queue.attempts($0) } ?? 0 }

    mutating func resend(_ key: String, retries: Int) -> Bool {
        jobs[key].map { queue.resend($0, retries: retries) } ?? true
    }

    mutating func resumesAsOneTooMany(_ key: String, now: Instant) -> Bool {
        jobs[key].map { queue.resumesAsOneTooMany($0, now) } ?? false
    }

    mutating func refusedTransferEnded(_ key: String) { if let job = jobs[key] { queue.refusedTransferEnded(job) } }

    mutating func didAnswer(_ key: String, http2: Bool) {
        if let job = jobs[key] { queue.didAnswer(job, http2: http2) }
    }

    mutating func didReceive(_ ending: Ending, of key: String, failure: CoverFailure? = nil, now: Instant) {
        if let job = jobs[key] { queue.didReceive(ending, of: job, failure: failure, now: now) }
    }

    mutating func overran(_ key: String, now: Instant) { if let job = jobs[key] { queue.overran(job, now: now) } }

    mutating func limitMessage(hostOf key: String, after failure: CoverFailure?) -> String? {
        jobs[key].flatMap { queue.limitMessage(hostOf: $0, after: failure) }
    }

    mutating func takeMessages() -> [String] { queue.takeMessages().map(\.message) }

    mutating func close(hostOf key: String, until time: Instant) {
        if let host = jobs[key].flatMap({ queue.host(of: $0) }) { queue.hosts[host].close(until: time) }
    }

    mutating func move(_ key: String, to target: HTTPURL, isShared: Bool = false) {
        if let job = jobs[key] { queue.move(job, to: target, isShared: isShared) }
    }

    mutating func takeFollowers(of key: String) -> [String] {
        guard let job = jobs[key] else { return [] }
        return queue.takeFollowers(of: job).map { queue.jobs[$0].url.string }
    }

    mutating func separateFollowers(of key: String) { if let job = jobs[key] { queue.separateFollowers(of: job) } }

    mutating func retry(_ key: String, at time: Instant) { if let job = jobs[key] { queue.retry(job, at: time) } }

    mutating func postpone(_ key: String, _ now: Instant) -> Bool { jobs[key].map { queue.postpone($0, now) } ?? false }

    mutating func end(_ key: String) -> [Request] { jobs[key].map { queue.end($0) } ?? [] }

    mutating func end(_ job: JobID) -> [Request] { queue.end(job) }
}

/// A URL of a host that is an address.
func url(_ path: Int, host: Int = 1) throws -> HTTPURL { try HTTPURL("http://10.0.0.\(host)/\(path)") }

/// A caller that records how its asks ended.
final class Caller: OutcomeSink {
    private let state = Mutex<[CoverOutcome]>([])
    var results: [CoverOutcome] { state.withLock { $0 } }
    var result: CoverOutcome? { results.first }
    let isWanted = true
    private let remembered: CoverFailure?

    /// - Parameter remembered: the failure of each URL.
    init(remembering remembered: CoverFailure? = nil) { self.remembered = remembered }

    func take(_ outcome: CoverOutcome, of ask: Ask) { state.withLock { $0.append(outcome) } }

    func failure(of url: HTTPURL) -> CoverFailure? { remembered }

    func ask(_ url: HTTPURL, _ change: (Ask) -> Void = { _ in }) -> Ask {
        let ask = Ask(url, location: url.string, sink: self)
        change(ask)
        return ask
    }
}
