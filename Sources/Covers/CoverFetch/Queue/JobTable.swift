import CurlHTTP
import HTTPTypes

/// One URL to download, and the requests for it.
struct Job<Request> {
    typealias Instant = ContinuousClock.Instant

    private(set) var id: JobID
    /// One of the addresses that its requests have with this key.
    private(set) var url: HTTPURL
    /// The URL to request: `url`, or the target of a redirect.
    var target: HTTPURL
    /// The host of `target`: an index into the queue's hosts.
    var host: Int
    /// 0 for the first.
    var attempt = 0
    /// Nothing is sent for it before then.
    var retriesAt: Instant?
    var isInFlight = false
    /// It neither waits nor is in flight: `DownloadQueue.postpone`.
    var isPostponed = false
    /// What its host must know of its transfer.
    var passage = HostGate.Passage()
    /// The highest of its requests' priorities.
    var priority: FetchPriority
    var requests: [Request]
    /// Nil before its first transfer: tens of thousands of jobs may wait.
    private var started: JobState?

    init(id: JobID, url: HTTPURL, host: Int, priority: FetchPriority, requests: [Request]) {
        (self.id, self.url, target, self.host) = (id, url, url, host)
        (self.priority, self.requests) = (priority, requests)
    }

    /// The scheduler's state of the job. The queue uses `shared` only. Nothing is to be set in it before `start`.
    var state: JobState { started ?? JobState() }

    /// A transfer starts.
    mutating func start() -> JobState {
        let state = state
        (started, isInFlight) = (state, true)
        return state
    }

    /// A transfer has started and not ended.
    var hasTransfer: Bool { isInFlight || passage.connection == .refused }

    /// Starts from the beginning with another address of the same key.
    mutating func restart(at other: HTTPURL) {
        let new = JobState()
        new.sent.addresses = state.sent.addresses + [url.address]
        // Its transfer may still have a place of the proxy.
        new.shared = state.shared
        (url, started) = (other, new)
    }

    /// Lets go of what an ended job holds.
    mutating func clear() { (id.use, requests, started) = (0, [], nil) }
}

/// A job's way through the limits that its host shares with others.
struct SharedPassage {
    var proxy = HostGate.Passage()
    /// Transfers in flight when its own started, itself included, and the answers of all hosts before.
    var inFlightAtStart = 0
    var answersAtStart = 0
    /// The transfer in flight has taken longer than transfers should.
    var isOverdue = false
}

/// The scheduler's state of a job. A class: the scheduler reads and changes it many times for each cover, and never needs a copy.
final class JobState {
    /// What is different about the job's next transfers. Each is tried once.
    enum SecondChance {
        /// A 304 was about another response, or the server refuses conditional requests: the cover is downloaded.
        case withoutConditions
        /// The target of a redirect failed: the URL itself is requested again.
        case withoutRedirect
        /// The connection was none for the URL (421): the transfers open their own.
        case ownConnections
    }

    /// What its proxy and the limit of all hosts must know of its transfer.
    var shared = SharedPassage()
    /// The transfer in flight.
    var transfer: Transfer.ID?
    /// What the transfer in flight sends of what its requests gave. Its addresses are those of the job's key to which the server has answered with a
    /// failure: another one is requested now.
    var sent = SentRequest()
    /// The names of the header fields that callers gave and this attempt sent, in lower case, by the origin that got them.
    var fieldNames: [String: Set<String>] = [:]
    /// The version whose validators the transfer in flight sends.
    var revalidated: StoredVersion?
    /// Duration of the last attempt with its redirects, in microseconds.
    var microseconds = 0
    /// The stages of the last attempt with its redirects.
    var timings = TransferTimings()
    /// The second chances that the job has had.
    var chances: Set<SecondChance> = []
    /// The body had no content coding that can be decoded: it is taken as it is.
    var codingFailure: CoverFailure?
    /// The origin whose HTTP/2 has failed: the next requests to it go over HTTP/1.1.
    var http1Origin: Substring?
    /// The host has accepted the last request and sent nothing: the next goes to the addresses of this family.
    var addressFamily: (origin: Substring, family: AddressFamily)?
    /// A redirect may be another's: whatever the transfer in flight brings, the URL itself is requested next.
    var mustStartAgain = false
    /// When the last redirect was answered.
    var redirectedAt: ContinuousClock.Instant?
    /// Why the last transfer brought no cover.
    var failure: CoverFailure?
    /// The redirects of this attempt, in order.
    var redirects: [HTTPResponse] = []
    /// A response of this attempt came over a used connection: an answer there that nobody asked for may still show that it is another's.
    var mayBeAnothers = false
    /// When the response arrived that another job's transfer has brought, in milliseconds since 1970; nil for the job's own.
    var sharedAt: Int64?
    /// The cookies that these redirects have set.
    var cookies: [String] = []

    /// Counts the time of a response.
    func add(_ response: TransferResponse) {
        if redirects.isEmpty { (microseconds, timings) = (0, TransferTimings()) }
        microseconds += response.microseconds
        timings = timings + response.timings
    }

    /// The next attempt starts from the beginning: cookies, and what was sent, hold for one chain of redirects.
    func forgetRedirects() { (redirects, cookies, fieldNames, mayBeAnothers) = ([], [], [:], false) }
}

/// The jobs that have not ended, by key and by ID. A key has at most one job.
///
/// A free slot keeps an emptied job until another takes its place: reading an optional one would copy it.
struct JobTable<Request> {
    /// A free one has the use 0.
    private var slots: [Job<Request>] = []
    private var freeSlots: [Int] = []
    private var byKey: [String: JobID] = [:]
    private var uses = 0

    var count: Int { byKey.count }
    /// The IDs of all jobs, in no particular order.
    var all: some Sequence<JobID> { slots.lazy.map(\.id).filter { $0.use > 0 } }

    func id(of key: String) -> JobID? { byKey[key] }

    func contains(_ id: JobID) -> Bool { id.slot < slots.count && slots[id.slot].id == id }

    /// The job of an ID that the table contains. Jobs are read and changed in place: a copy would cost as much as the change.
    subscript(_ id: JobID) -> Job<Request> {
        _read { yield slots[id.slot] }
        _modify { yield &slots[id.slot] }
    }

    mutating func add(_ url: HTTPURL, host: Int, priority: FetchPriority, request: Request) -> JobID {
        uses += 1
        let id = JobID(slot: freeSlots.popLast() ?? slots.count, use: uses)
        let job = Job(id: id, url: url, host: host, priority: priority, requests: [request])
        if id.slot == slots.count { slots.append(job) } else { slots[id.slot] = job }
        byKey[url.string] = id
        return id
    }

    /// Removes a job that the table contains.
    mutating func remove(_ id: JobID) -> Job<Request> {
        let job = slots[id.slot]
        slots[id.slot].clear()
        byKey[job.url.string] = nil
        freeSlots.append(id.slot)
        return job
    }
}

extension DownloadQueue {
    /// The next step of the scheduler.
    enum Decision {
        /// Start a transfer of the job. The request has its target, and what its host and its proxy say of connections.
        case start(JobID, TransferRequest)
        /// Cancel the job's transfer. It starts again.
        case restart(JobID)
        /// End the job without a transfer: its host was given up.
        case drop(JobID, CoverFailure)
        /// Nothing starts before this time; nil for none before another event.
        case wait(Instant?)
    }

    enum TimerEvent {
        case host(Int)
        case lastRound(Int)
        case retry(JobID, attempt: Int)
    }
}

/// An entry of a heap: an event and its time.
struct Timed<Event>: Comparable {
    var time: ContinuousClock.Instant
    var event: Event
    static func < (left: Self, right: Self) -> Bool { left.time < right.time }
    static func == (left: Self, right: Self) -> Bool { left.time == right.time }
}
