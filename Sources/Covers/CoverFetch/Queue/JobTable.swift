import CurlHTTP
import HTTPTypes

/// One URL to download, and the requests for it.
struct Job<Request> {
    typealias Instant = ContinuousClock.Instant

    let id: JobID
    let url: HTTPURL
    /// The URL to request: `url`, or the target of a redirect.
    var target: HTTPURL
    /// The host of `target`: an index into the queue's hosts.
    var host: Int
    /// 0 for the first.
    var attempt = 0
    /// Nothing is sent for it before then.
    var retriesAt: Instant?
    var isInFlight = false
    /// What its host must know of its transfer.
    var passage = HostGate.Passage()
    /// The highest of its requests' priorities.
    var priority: FetchPriority
    var requests: [Request]
    /// The scheduler's state of the job. The queue does not use it.
    var state = JobState()

    /// A transfer has started and not ended.
    var hasTransfer: Bool { isInFlight || passage.connection == .refused }
}

/// The scheduler's state of a job.
struct JobState {
    /// The transfer in flight.
    var token: HTTPClient.Token?
    /// The header fields that requests give, as the transfer in flight sends them.
    var headerFields: HTTPFields = [:]
    /// The transfer in flight connects to public addresses only.
    var deniesPrivateAddresses = false
    /// The transfer in flight sends credentials.
    var hadCredentials = false
    /// The version whose validators the transfer in flight sends.
    var revalidated: StoredVersion?
    /// Duration of the last attempt with its redirects, in microseconds.
    var microseconds = 0
    /// The stages of the last attempt with its redirects.
    var timings = TransferTimings()
    /// A 304 was about another response: the cover has to be downloaded.
    var ignoresStored = false
    /// The body had no content coding that can be decoded: it is taken as it is.
    var codingFailure: CoverFailure?
    /// The remembered redirect no longer holds.
    var ignoresRedirect = false
    /// When the last redirect was answered.
    var redirectedAt: ContinuousClock.Instant?
    /// The target of a redirect failed, and the URL itself was requested again.
    var hasReturned = false
    /// Why the last transfer brought no cover.
    var failure: CoverFailure?
    /// The redirects of this attempt, in order.
    var redirects: [HTTPResponse] = []
    /// The cookies that these redirects have set.
    var cookies: [String] = []

    /// Counts the time of a response.
    mutating func add(_ response: TransferResponse) {
        if redirects.isEmpty { (microseconds, timings) = (0, TransferTimings()) }
        microseconds += response.microseconds
        timings = timings + response.timings
    }

    /// The next attempt starts from the beginning: cookies hold for one chain of redirects.
    mutating func forgetRedirects() { (redirects, cookies) = ([], []) }
}

/// The jobs that have not ended, by key and by ID. A key has at most one job.
struct JobTable<Request> {
    private var slots: [Job<Request>?] = []
    private var freeSlots: [Int] = []
    private var byKey: [String: JobID] = [:]
    private var uses = 0

    var count: Int { byKey.count }
    /// All jobs, in no particular order.
    var all: some Sequence<Job<Request>> { slots.lazy.compactMap { $0 } }

    func id(of key: String) -> JobID? { byKey[key] }

    func contains(_ id: JobID) -> Bool { id.slot < slots.count && slots[id.slot]?.id == id }

    /// The job of an ID that the table contains. Jobs are changed in place: a copy would cost as much as the change.
    subscript(_ id: JobID) -> Job<Request> {
        _read { yield slots[id.slot]! }
        _modify { yield &slots[id.slot]! }
    }

    mutating func add(
        _ url: HTTPURL, target: HTTPURL, host: Int, priority: FetchPriority, request: Request
    ) -> JobID {
        uses += 1
        let id = JobID(slot: freeSlots.popLast() ?? slots.count, use: uses)
        let job = Job(id: id, url: url, target: target, host: host, priority: priority, requests: [request])
        if id.slot == slots.count { slots.append(job) } else { slots[id.slot] = job }
        byKey[url.string] = id
        return id
    }

    /// Removes a job that the table contains.
    mutating func remove(_ id: JobID) -> Job<Request> {
        let job = slots[id.slot].take()!
        byKey[job.url.string] = nil
        freeSlots.append(id.slot)
        return job
    }
}
