import CurlHTTP

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
    /// Attempts that sent no request, as the host did not take one connection more. They are no retries.
    var unsentAttempts = 0
    var isInFlight = false
    /// When the transfer in flight started.
    var began: Instant?
    /// Transfers in flight to the host when it started, this one included.
    var inFlightAtStart = 0
    /// How far the transfer is with its connection.
    var connection = HostConnections.Progress.none
    /// The transfer in flight opens a connection of its own.
    var opensConnection = false
    /// The last transfer failed as one connection too many.
    var wasCrowded = false
    /// A transfer of the job has failed.
    var hasFailed = false
    /// Its last transfer has ended, and the result is on its way to the store.
    fileprivate(set) var isBeingStored = false
    var requests: [Request]

    /// A transfer has started and not ended.
    var hasTransfer: Bool { isInFlight || connection == .refused }
    /// Whether a transfer may start: there is none, and nothing is being stored.
    var canStart: Bool { !hasTransfer && !isBeingStored }
}

/// The jobs that have not ended, by key and by ID. A key has at most one job.
struct JobTable<Request> {
    private var slots: [Job<Request>?] = []
    private var freeSlots: [Int] = []
    private var byKey: [String: JobID] = [:]
    private var uses = 0
    /// The number of jobs that are being stored.
    private(set) var beingStored = 0

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

    mutating func add(_ url: HTTPURL, target: HTTPURL, host: Int, request: Request) -> JobID {
        uses += 1
        let id = JobID(slot: freeSlots.popLast() ?? slots.count, use: uses)
        let job = Job(id: id, url: url, target: target, host: host, requests: [request])
        if id.slot == slots.count { slots.append(job) } else { slots[id.slot] = job }
        byKey[url.string] = id
        return id
    }

    /// Records whether a job that the table contains waits for the store.
    mutating func setBeingStored(_ isBeingStored: Bool, _ id: JobID) {
        guard self[id].isBeingStored != isBeingStored else { return }
        self[id].isBeingStored = isBeingStored
        beingStored += isBeingStored ? 1 : -1
    }

    /// Removes a job that the table contains.
    mutating func remove(_ id: JobID) -> Job<Request> {
        setBeingStored(false, id)
        let job = slots[id.slot].take()!
        byKey[job.url.string] = nil
        freeSlots.append(id.slot)
        return job
    }
}
