import CoverCache
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Logging
import Platform

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

    nonisolated let client: HTTPClient
    let policy: RetryPolicy
    private let redirects: RedirectPolicy
    private let observers: EventHub
    private let logger: Logger
    var queue: DownloadQueue<Waiter>
    /// By the jobs' slots.
    var flights: [Flight] = []
    private var landing = Landing()
    private var backlog = 0
    private var submitters: [CheckedContinuation<Void, Never>] = []
    private var storing: Task<Void, Never>?
    /// No request is taken any more.
    private(set) var isClosed = false
    /// When it was last written what was found out about hosts.
    private var hostsKept: ContinuousClock.Instant?
    private var store: (@Sendable (Landing) async -> Void)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { client.unownedExecutor }

    init(
        client: HTTPClient, limits: DownloadQueue<Waiter>.Limits, learnt: [String: HostMemory],
        policy: RetryPolicy, redirects: RedirectPolicy, observe hub: EventHub, logger: Logger
    ) {
        self.logger = logger
        self.client = client
        self.policy = policy
        self.redirects = redirects
        observers = hub
        queue = DownloadQueue(limits: limits, learnt: learnt)
    }

    /// To be called first. - Parameter store: takes covers to the disk; returns when it needs their bodies no more.
    func begin(store: @escaping @Sendable (Landing) async -> Void) {
        self.store = store
        client.loop.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } }
    }

    /// Adds requests. Returns when there is room for more.
    func submit(_ requests: [(url: HTTPURL, waiter: Waiter)]) async {
        add(requests)
        if queue.waiting > mostWaiting { await withCheckedContinuation { submitters.append($0) } }
    }

    /// Adds requests of the highest priority: `order` has their keys, most wanted first. Withdraws the keys that `owner` has
    /// `left`, unless they are in flight.
    func submit(
        _ requests: [(url: HTTPURL, waiter: Waiter)], before order: [String], withdrawing left: [String],
        of owner: ObjectIdentifier
    ) {
        for key in left { cancel(queue.withdraw(key) { $0.owner == owner }) }
        add(requests)
        queue.prefer(order)
    }

    private func add(_ requests: [(url: HTTPURL, waiter: Waiter)]) {
        if isClosed { return cancel(requests.map(\.waiter)) }
        for (url, waiter) in requests {
            // Joining is told apart from starting when the cover is delivered: the first waiter is the one that started it.
            _ = queue.submit(url, waiter: waiter, at: waiter.remembered.place, isUrgent: waiter.isUrgent)
        }
    }

    private func cancel(_ waiters: [Waiter]) {
        for waiter in waiters {
            waiter.done(Delivery(result: .failure(.cancelled("")), isJoined: false, microseconds: 0))
        }
    }

    /// Adds a waiter to a job that is there already. False when there is none.
    func join(_ key: String, _ waiter: Waiter) -> Bool {
        guard queue.contains(key), let url = try? HTTPURL(key) else { return false }
        return queue.submit(url, waiter: waiter)
    }

    /// Tells the waiters of `owner` that they were cancelled, and stops the transfers nobody else waits for.
    func abandon(_ owner: ObjectIdentifier) {
        let (waiters, inFlight) = queue.abandon { $0.owner == owner }
        cancel(waiters)
        releaseSubmitters()
        let dropped = inFlight.compactMap { flights[$0.slot].token.take() }
        client.assumeIsolated { client in
            for token in dropped { client.cancel(token) }
        }
    }

    /// Ends every transfer and every request; covers that have arrived are still stored.
    func close() async {
        isClosed = true
        client.loop.shutdown()
        cancel(queue.abandon { _ in true }.waiters)
        releaseSubmitters()
        // The loop has ended: nothing else hands over what has arrived.
        await storing?.value
        if let store, !landing.isEmpty { await store(landing) }
        landing = Landing()
    }

    // MARK: One turn of the loop

    private func turn(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        flushArrivals()
        while hasRoom {
            switch queue.next(now: now) {
            case .start(let start): begin(start)
            case .askRobots(let url, let host): askRobots(url, host)
            case .drop(let job, let url, let failure): drop(job, url, failure)
            case .wait(let time):
                // What was dropped meanwhile: nothing else may wake the loop for it.
                flushArrivals()
                releaseSubmitters()
                return time
            }
        }
        return nil
    }

    var hasRoom: Bool { backlog < Self.mostBacklog }

    /// What is kept of the job, and of none before it in its slot.
    func board(_ job: JobID) {
        while flights.count <= job.slot { flights.append(Flight(use: 0)) }
        if flights[job.slot].use != job.use { flights[job.slot] = Flight(use: job.use) }
    }

    private func begin(_ start: DownloadQueue<Waiter>.Start) {
        board(start.job)
        let request = request(for: start)
        flights[start.job.slot].token = client.assumeIsolated { client in
            client.start(request) { [weak self] result in
                self?.assumeIsolated { $0.ended(start, result) }
            }
        }
    }

    func request(for start: DownloadQueue<Waiter>.Start) -> TransferRequest {
        let partial = flights[start.job.slot].partial
        let conditions = partial?.conditions ?? stored(for: start)?.conditions ?? [:]
        var request = TransferRequest(
            url: start.place, headerFields: conditions, waitsToMultiplex: start.multiplexes)
        request.followsRedirects = false
        request.continuing = partial
        return request
    }

    /// The host of the job was given up, or forbids it.
    private func drop(_ job: JobID, _ url: HTTPURL, _ failure: CoverFailure) {
        board(job)
        if leavesPlace(job, url, failure) { return }
        // A cover that was tried fails for its own reason, not for its host's.
        giveUp(job, url, flights[job.slot].failure ?? failure)
    }

    func ended(_ start: DownloadQueue<Waiter>.Start, _ result: Result<TransferResponse, TransferError>) {
        guard flights[start.job.slot].token.take() != nil else { return }
        let now = ContinuousClock.now
        switch result {
        case .failure(let error):
            flights[start.job.slot].partial = nil
            let failure = CoverFailure(error, of: start.url, at: start.place)
            flights[start.job.slot].failure = failure
            queue.note(HostSignal(error), of: start.job, failure: failure, now: now)
            if leavesPlace(start.job, start.url, failure) { return }
            keep(error.partial, start.job)
            failed(start, failure, retryAfter: nil, now)
        case .success(let response): answered(start, response, now)
        }
    }

    private func answered(
        _ start: DownloadQueue<Waiter>.Start, _ response: TransferResponse, _ now: ContinuousClock.Instant
    ) {
        let slot = start.job.slot
        let response = flights[slot].whole(response, at: start.place)
        flights[slot].microseconds =
            (flights[slot].way.isEmpty ? 0 : flights[slot].microseconds) + response.microseconds
        queue.answered(start.job, http2: response.isHTTP2)
        let answer = Answer(
            response, of: start.url, at: start.place, after: flights[slot].way.count, redirects,
            stored: stored(for: start),
            asksForRest: flights[slot].partial != nil)
        flights[slot].failure = answer.failure
        queue.note(HostSignal(answer.failure), of: start.job, failure: answer.failure, now: now)
        if let notice = queue.outageNotice(hostOf: start.job) { logger.warning("\(notice)") }
        obey(response, start, now)
        if case .redirect(let place) = answer {
            flights[slot].way.append(response.head)
            return queue.move(start.job, to: place)
        }
        flights[slot].partial = nil
        switch answer {
        case .redirect: break
        case .noRest: retry(start.job, at: now)
        case .confirmed(let stored): confirmed(start, response, stored)
        case .cover(let header): landed(start, response, header)
        case .failure(let failure):
            let wait = RetryAfter.delay(response.head.headerFields, now: Int64(time(nil)))
            if let wait, failure.isHosts { rest(start.job, for: wait, now) }
            if leavesPlace(start.job, start.url, failure) { return }
            let guess = queue.first(of: start.job) { $0.remembered.guess }
            if let until = NegativeCaching.until(StoredResponse(response), guess: guess) {
                return absent(start, failure, until: until)
            }
            failed(start, failure, retryAfter: wait, now)
        }
    }

    /// Has it tried again from where it begins: where redirects lead may be elsewhere by then.
    private func retry(_ job: JobID, at time: ContinuousClock.Instant) {
        flights[job.slot].way = []
        queue.retry(job, at: time, from: place(of: job))
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
        arrived(start.job, start.url.string, .cover(metadata, response.body), changes(start, response))
    }

    /// Where the URL is remembered to lead for good.
    private func place(of job: JobID) -> HTTPURL? {
        if flights[job.slot].hasLeftPlace { return nil }
        return queue.first(of: job) { $0.remembered.place }
    }

    /// Where the URL has led for good holds no more, which says nothing of the URL's own host: that is asked now. False: it was
    /// asked already.
    private func leavesPlace(_ job: JobID, _ url: HTTPURL, _ failure: CoverFailure) -> Bool {
        guard place(of: job) != nil, failure.kind != .cancelled else { return false }
        flights[job.slot].hasLeftPlace = true
        flights[job.slot].way = []
        queue.move(job, to: url)
        return true
    }

    /// What the way of a response teaches.
    private func changes(_ start: DownloadQueue<Waiter>.Start, _ response: TransferResponse) -> [HintChange] {
        let key = start.url.string
        if let moved = Relocation(response, now: WallClock.milliseconds()) {
            return [.set(Hint(.moved, key, moved.url.string, until: moved.until))]
        }
        return flights[start.job.slot].hasLeftPlace ? [.forget(.moved, key)] : []
    }

    /// Nothing is there, and the next who want it need not ask.
    private func absent(_ start: DownloadQueue<Waiter>.Start, _ failure: CoverFailure, until: Int64) {
        let key = start.url.string
        var changes = [HintChange.set(Hint(.absent, key, "\(failure.status ?? 404)", until: until))]
        if flights[start.job.slot].hasLeftPlace { changes.append(.forget(.moved, key)) }
        if let stored = stored(for: start) {
            return arrived(start.job, key, .failure(stored, failure), changes)
        }
        arrived(start.job, key, .absent(failure), changes)
    }

    /// 304: what is stored still stands (RFC 9111 §4.3.4).
    private func confirmed(
        _ start: DownloadQueue<Waiter>.Start, _ response: TransferResponse, _ stored: Revalidation
    ) {
        let told = StoredResponse(response)
        guard StoredResponse.is(told.fields, about: stored.tag) else {
            flights[start.job.slot].mustBring = true
            return retry(start.job, at: .now)
        }
        arrived(start.job, start.url.string, .notModified(stored, told), changes(start, response))
    }

    private func arrived(
        _ job: JobID, _ key: String, _ content: Arrival.Content, _ changes: [HintChange] = []
    ) {
        queue.landed(job)
        backlog += content.footprint
        landing.footprint += content.footprint
        landing.arrivals.append(Arrival(job: job, key: key, content: content, changes: changes))
    }

    private func stored(for start: DownloadQueue<Waiter>.Start) -> Revalidation? {
        if flights[start.job.slot].mustBring { return nil }
        return queue.first(of: start.job) { $0.stored }
    }

    private func failed(
        _ start: DownloadQueue<Waiter>.Start, _ failure: CoverFailure, retryAfter: Duration?,
        _ now: ContinuousClock.Instant
    ) {
        if queue.isFailingForLong(hostOf: start.job) { return giveUp(start.job, start.url, failure) }
        let decision = policy.decide(
            failure, retryAfter: retryAfter, attempt: start.attempt, random: .random(in: 0...1))
        switch decision {
        case .retry(let delay):
            logger.debug("\(failure.message); trying again in \(Int(delay.inSeconds * 1_000)) ms")
            retry(start.job, at: now + delay)
        case .giveUp: giveUp(start.job, start.url, failure)
        case .tooLong(let wait):
            giveUp(start.job, start.url, failure.asking(for: wait))
        }
    }

    /// What is stored stays; that its server was asked in vain is taken down, so that others come first next time.
    private func giveUp(_ job: JobID, _ url: HTTPURL, _ failure: CoverFailure) {
        guard let stored = queue.first(of: job, { $0.stored }), failure.kind != .cancelled else {
            return deliver(Settlement(job: job, key: url.string, result: .failure(failure)))
        }
        arrived(job, url.string, .failure(stored, failure))
    }

    // MARK: To the disk and back

    private func flushArrivals() {
        guard storing == nil, !landing.isEmpty, let store else { return }
        landing.changes = newlyLearnt()
        landing.isAll = queue.inFlight == 0 && queue.waiting == 0
        let landed = landing
        landing = Landing()
        storing = Task {
            await store(landed)
            storing = nil
            backlog -= landed.footprint
        }
    }

    /// What was found out about hosts, now and then, so that a run that is killed does not lose all of it.
    private func newlyLearnt() -> [HintChange] {
        let now = HostMemory.Moment.now
        if let hostsKept, now.instant - hostsKept < .seconds(10) { return [] }
        hostsKept = now.instant
        return HostMemory.changes(queue.learnt, at: now)
    }

    func settle(_ settlements: [Settlement]) {
        for settlement in settlements {
            if settlement.isLost, !isClosed { retry(settlement.job, at: .now) } else { deliver(settlement) }
        }
    }

    private func deliver(_ settlement: Settlement, passing: (body: ResponseBody, header: ImageHeader)? = nil) {
        let microseconds = flights[settlement.job.slot].microseconds
        flights[settlement.job.slot].partial = nil
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
