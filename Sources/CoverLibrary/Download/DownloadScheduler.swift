import CoverCache
import CurlHTTP
import HTTPTypes
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Acts on what `DownloadQueue` decides: starts transfers, judges what they bring, hands covers to the disk, tries again.
/// Shares its executor with the client, so that nothing hops between them.
actor DownloadScheduler {
    /// Covers waiting for the disk may take this much memory, in bytes; no transfer starts beyond it.
    private static let mostBacklog = 10 << 20
    /// What is kept of broken transfers may take this much memory, in bytes.
    private static let mostPartial = 64 << 20
    /// Requests held in memory; whoever submits more waits. Many more while most places are free: further down the list
    /// there may be other hosts.
    private var mostWaiting: Int { queue.isIdle ? 32_768 : 4_096 }

    private nonisolated let client: HTTPClient
    private let policy: RetryPolicy
    private let observers: EventHub
    private let logger: Logger
    private var queue: DownloadQueue<Waiter>
    /// By the jobs' slots.
    private var flights: [Flight] = []
    private var arrivals: [Arrival] = []
    private var backlog = 0
    private var isStoring = false
    private var submitters: [CheckedContinuation<Void, Never>] = []
    private var store: (@Sendable ([Arrival]) async -> Void)?

    private struct Flight {
        /// Of the transfer under way; nil when there is none.
        var token: HTTPClient.Token?
        /// Length of the last transfer.
        var microseconds = 0
        /// The server's 304 was about another response: the cover has to come whole.
        var mustBring = false
        /// What the last transfer brought before it broke.
        var partial: PartialBody?
        /// What is remembered of where the URL leads holds no more.
        var hasLeftPlace = false
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { client.unownedExecutor }

    init(
        client: HTTPClient, limits: DownloadQueue<Waiter>.Limits, learnt: [String: HostPace.Learnt],
        policy: RetryPolicy, observe hub: EventHub, logger: Logger
    ) {
        self.logger = logger
        self.client = client
        self.policy = policy
        observers = hub
        queue = DownloadQueue(limits: limits, learnt: learnt)
    }

    /// To be called first. - Parameter store: takes covers to the disk; returns when it needs their bodies no more.
    func begin(store: @escaping @Sendable ([Arrival]) async -> Void) {
        self.store = store
        client.loop.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } }
    }

    /// Adds requests. Returns when there is room for more.
    func submit(_ requests: [(url: HTTPURL, waiter: Waiter)]) async {
        for (url, waiter) in requests {
            // Joining is told apart from starting when the cover is delivered: the first waiter is the one that started it.
            _ = queue.submit(url, waiter: waiter)
        }
        if queue.waiting > mostWaiting { await withCheckedContinuation { submitters.append($0) } }
    }

    /// Adds a waiter to a job that is there already. False when there is none.
    func join(_ key: String, _ waiter: Waiter) -> Bool {
        guard queue.contains(key), let url = try? HTTPURL(key) else { return false }
        return queue.submit(url, waiter: waiter)
    }

    /// Tells the waiters of `owner` that they were cancelled, and stops the transfers nobody else waits for.
    func abandon(_ owner: ObjectIdentifier) {
        let (waiters, inFlight) = queue.abandon { $0.owner == owner }
        for waiter in waiters {
            waiter.done(Delivery(result: .failure(.cancelled("")), isJoined: false, microseconds: 0))
        }
        releaseSubmitters()
        let dropped = inFlight.compactMap { flights[$0.slot].token.take() }
        client.assumeIsolated { client in
            for token in dropped { client.cancel(token) }
        }
    }

    /// What was found out about hosts, by origin.
    var learnt: [String: HostPace.Learnt] { queue.learnt }

    /// Ends every transfer; those who wait are told.
    func close() {
        client.loop.shutdown()
        let waiters = queue.abandon { _ in true }.waiters
        for waiter in waiters {
            waiter.done(Delivery(result: .failure(.cancelled("")), isJoined: false, microseconds: 0))
        }
        releaseSubmitters()
    }

    // MARK: One turn of the loop

    private func turn(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        flushArrivals()
        while backlog < Self.mostBacklog {
            switch queue.next(now: now) {
            case .start(let start): begin(start)
            case .askRobots(let url, let host): askRobots(url, host)
            case .drop(let job, let url, let failure):
                giveUp(job, url, failure.kind == .disallowed ? failure : failure.spreading(to: url.string))
            case .wait(let time):
                releaseSubmitters()
                return time
            }
        }
        return nil
    }

    private func begin(_ start: DownloadQueue<Waiter>.Start) {
        while flights.count <= start.job.slot { flights.append(Flight()) }
        if start.attempt == 0 { flights[start.job.slot] = Flight() }
        let partial = flights[start.job.slot].partial
        let conditions = partial?.conditions ?? stored(for: start)?.conditions ?? [:]
        var request = TransferRequest(
            url: place(for: start) ?? start.url, headerFields: conditions, waitsToMultiplex: start.multiplexes)
        request.continuing = partial
        flights[start.job.slot].token = client.assumeIsolated { client in
            client.start(request) { [weak self] result in
                self?.assumeIsolated { $0.ended(start, result) }
            }
        }
    }

    private func askRobots(_ url: HTTPURL, _ host: Int) {
        client.assumeIsolated { client in
            _ = client.start(TransferRequest(url: url)) { [weak self] result in
                self?.assumeIsolated { $0.learn(result, host) }
            }
        }
    }

    private func learn(_ result: Result<TransferResponse, TransferError>, _ host: Int) {
        let rules: Result<RobotsRules, RobotsUnknown>
        var response: TransferResponse?
        switch result {
        case .success(let answer):
            response = answer
            switch answer.head.status.kind {
            case .successful: rules = .success(RobotsRules(answer.body.bytes, agent: "sleeve"))
            case .clientError: rules = .success(.everything)
            default: rules = .failure(RobotsUnknown(reason: "the server answered \(answer.head.status.code)"))
            }
        case .failure(let error): rules = .failure(RobotsUnknown(reason: error.detail))
        }
        queue.learn(rules, host: host, http2: response?.isHTTP2, now: .now)
    }

    private func ended(_ start: DownloadQueue<Waiter>.Start, _ result: Result<TransferResponse, TransferError>) {
        guard flights[start.job.slot].token.take() != nil else { return }
        let now = ContinuousClock.now
        let hadPartial = flights[start.job.slot].partial.take() != nil
        switch result {
        case .failure(let error):
            let failure = CoverFailure(error)
            if leavesPlace(start, failure, now) { return }
            keep(error.partial, start.job)
            queue.note(failure.sign, of: start.job, failure: failure, now: now)
            failed(start, failure, retryAfter: nil, now)
        case .success(let response):
            queue.answered(start.job, http2: response.isHTTP2)
            flights[start.job.slot].microseconds = response.microseconds
            // There is no such rest: the body is another by now, or was whole (RFC 9110 §15.5.17).
            if hadPartial, response.head.status == .rangeNotSatisfiable {
                queue.note(.answered, of: start.job, now: now)
                return queue.retry(start.job, at: now)
            }
            if response.head.status == .notModified, let stored = stored(for: start) {
                queue.note(.answered, of: start.job, now: now)
                obey(response, start, now)
                return confirmed(start, response, stored)
            }
            switch Verdict(response, for: start.url.string) {
            case .cover(let header):
                queue.note(.answered, of: start.job, now: now)
                obey(response, start, now)
                landed(start, response, header)
            case .failure(let failure):
                if leavesPlace(start, failure, now) { return }
                queue.note(failure.sign, of: start.job, failure: failure, now: now)
                obey(response, start, now)
                let guess = queue.waiters(of: start.job).lazy.compactMap(\.remembered.guess).first
                if let until = Absence.until(StoredResponse(response), guess: guess) {
                    return absent(start, failure, until: until)
                }
                let wait = ResponseRules.retryAfter(response.head.headerFields, now: Int64(time(nil)))
                failed(start, failure, retryAfter: wait, now)
            }
        }
    }

    /// Takes the host's own count of the requests that are left.
    private func obey(
        _ response: TransferResponse, _ start: DownloadQueue<Waiter>.Start, _ now: ContinuousClock.Instant
    ) {
        let fields = response.head.headerFields
        guard let limit = RateLimit(fields, now: Int64(time(nil))) else { return }
        if limit.remaining == 0 {
            rest(start.job, until: now + limit.reset, .exhausted(start.url.string), now)
        } else {
            queue.allow(limit.remaining, hostOf: start.job, until: now + limit.reset)
        }
    }

    /// Keeps what has come of a body for the next try, where it can be gone on with and there is memory for it.
    private func keep(_ partial: PartialBody?, _ job: JobID) {
        guard let partial, !partial.conditions.isEmpty else { return }
        let kept = flights.reduce(0) { $0 + ($1.partial?.body.footprint ?? 0) }
        if kept + partial.body.footprint <= Self.mostPartial { flights[job.slot].partial = partial }
    }

    private func landed(_ start: DownloadQueue<Waiter>.Start, _ response: TransferResponse, _ header: ImageHeader) {
        let stored = StoredResponse(response)
        guard stored.isStorable() else {
            let settlement = Settlement(
                job: start.job, key: start.url.string, result: .failure(.notStorable(start.url.string)))
            return deliver(settlement, passing: (response.body, header))
        }
        let metadata = EntryMetadata(
            key: start.url.string, mediaType: header.mediaType, width: header.width, height: header.height,
            storedAt: stored.responseTime, freshUntil: stored.knownFreshUntil, fields: stored.keptFields)
        arrived(start.job, metadata, .cover(response.body), changes(start, response))
    }

    private func place(for start: DownloadQueue<Waiter>.Start) -> HTTPURL? {
        if flights[start.job.slot].hasLeftPlace { return nil }
        return queue.waiters(of: start.job).lazy.compactMap(\.remembered.place).first
    }

    /// Where the URL has led for good holds no more, which says nothing of the URL's own host: that is asked now. False: it was
    /// asked already.
    private func leavesPlace(
        _ start: DownloadQueue<Waiter>.Start, _ failure: CoverFailure, _ now: ContinuousClock.Instant
    ) -> Bool {
        guard place(for: start) != nil, failure.kind != .cancelled else { return false }
        flights[start.job.slot].hasLeftPlace = true
        queue.retry(start.job, at: now)
        return true
    }

    /// What the way of a response teaches.
    private func changes(_ start: DownloadQueue<Waiter>.Start, _ response: TransferResponse) -> [MemoryChange] {
        let key = start.url.string
        if let moved = Relocation(response, now: WallClock.milliseconds()) {
            return [.remember(Remembered(.moved, key, moved.place.string, until: moved.until))]
        }
        return flights[start.job.slot].hasLeftPlace ? [.forget(.moved, key)] : []
    }

    /// Nothing is there, and the next who want it need not ask.
    private func absent(_ start: DownloadQueue<Waiter>.Start, _ failure: CoverFailure, until: Int64) {
        let key = start.url.string
        var changes = [MemoryChange.remember(Remembered(.absent, key, "\(failure.status ?? 404)", until: until))]
        if flights[start.job.slot].hasLeftPlace { changes.append(.forget(.moved, key)) }
        if let stored = stored(for: start) {
            return arrived(start.job, stored.entry.metadata, .failure(stored.entry, failure), changes)
        }
        arrived(start.job, EntryMetadata(key: key, mediaType: "", storedAt: 0), .absent(failure), changes)
    }

    /// 304: what is stored still stands (RFC 9111 §4.3.4).
    private func confirmed(
        _ start: DownloadQueue<Waiter>.Start, _ response: TransferResponse, _ stored: Revalidation
    ) {
        let told = StoredResponse(response)
        guard StoredResponse.is(told.fields, about: stored.conditions[.ifNoneMatch]) else {
            flights[start.job.slot].mustBring = true
            return queue.retry(start.job, at: .now)
        }
        arrived(start.job, stored.entry.metadata, .notModified(stored.entry, told), changes(start, response))
    }

    private func arrived(
        _ job: JobID, _ metadata: EntryMetadata, _ content: Arrival.Content, _ changes: [MemoryChange] = []
    ) {
        queue.landed(job)
        backlog += content.footprint
        arrivals.append(Arrival(job: job, metadata: metadata, content: content, changes: changes))
    }

    private func stored(for start: DownloadQueue<Waiter>.Start) -> Revalidation? {
        if flights[start.job.slot].mustBring { return nil }
        return queue.waiters(of: start.job).lazy.compactMap(\.stored).first
    }

    private func failed(
        _ start: DownloadQueue<Waiter>.Start, _ failure: CoverFailure, retryAfter: Duration?,
        _ now: ContinuousClock.Instant
    ) {
        let decision = policy.decide(
            failure, retryAfter: retryAfter, attempt: start.attempt, random: .random(in: 0...1))
        if let retryAfter, failure.isHosts { rest(start.job, until: now + retryAfter, failure, now) }
        switch decision {
        case .retry(let delay):
            logger.debug("\(failure.message); trying again in \(Int(delay.inSeconds * 1_000)) ms")
            queue.retry(start.job, at: now + delay)
        case .giveUp: giveUp(start.job, start.url, failure)
        case .tooLong(let wait):
            giveUp(start.job, start.url, failure.asking(for: wait))
        }
    }

    /// A server that names a time means all of its covers, not this one alone.
    private func rest(
        _ job: JobID, until time: ContinuousClock.Instant, _ failure: CoverFailure, _ now: ContinuousClock.Instant
    ) {
        if time - now <= policy.longestRetryAfter {
            queue.close(hostOf: job, until: time)
        } else {
            queue.giveUp(hostOf: job, until: time, failure: failure.asking(for: time - now))
        }
    }

    /// What is stored stays; that its server was asked in vain is taken down, so that others come first next time.
    private func giveUp(_ job: JobID, _ url: HTTPURL, _ failure: CoverFailure) {
        guard let stored = queue.waiters(of: job).lazy.compactMap(\.stored).first, failure.kind != .cancelled else {
            return deliver(Settlement(job: job, key: url.string, result: .failure(failure)))
        }
        arrived(job, stored.entry.metadata, .failure(stored.entry, failure))
    }

    // MARK: To the disk and back

    private func flushArrivals() {
        guard !isStoring, !arrivals.isEmpty, let store else { return }
        isStoring = true
        let batch = arrivals
        arrivals = []
        Task {
            await store(batch)
            isStoring = false
            backlog -= batch.reduce(0) { $0 + $1.content.footprint }
        }
    }

    func settle(_ settlements: [Settlement]) {
        for settlement in settlements {
            if settlement.isLost { queue.retry(settlement.job, at: .now) } else { deliver(settlement) }
        }
    }

    private func deliver(_ settlement: Settlement, passing: (body: ResponseBody, header: ImageHeader)? = nil) {
        // A job that was dropped may never have flown.
        let slot = settlement.job.slot
        let microseconds = slot < flights.count ? flights[slot].microseconds : 0
        if slot < flights.count { flights[slot].partial = nil }
        if observers.isObserved, let event = LibraryEvent(settlement) { observers.publish(event) }
        for (position, waiter) in queue.end(settlement.job).enumerated() {
            waiter.done(
                Delivery(
                    result: settlement.result, isJoined: position > 0, microseconds: microseconds, passing: passing))
        }
    }

    private func releaseSubmitters() {
        guard !submitters.isEmpty, queue.waiting < mostWaiting / 2 else { return }
        let released = submitters
        submitters = []
        for submitter in released { submitter.resume() }
    }
}
