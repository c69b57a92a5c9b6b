import CoverCache
import CurlHTTP
import HTTPTypes
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One who waits for a cover.
struct Waiter: Sendable {
    /// Whom `DownloadScheduler.abandon` takes away.
    var owner: ObjectIdentifier
    /// Called on the event loop, once, after the commit that makes a success true.
    var done: @Sendable (Delivery) -> Void
}

/// What a waiter gets.
struct Delivery: Sendable {
    var result: Result<Settlement.Stored, CoverFailure>
    /// The request joined another's transfer.
    var isJoined: Bool
    /// From the start of the last transfer to its end.
    var microseconds: Int
}

/// Acts on what `DownloadQueue` decides: starts transfers, judges what they bring, hands covers to the disk, tries again.
/// Shares its executor with the client, so that nothing hops between them.
actor DownloadScheduler {
    /// Covers waiting for the disk may take this much memory, in bytes; no transfer starts beyond it.
    private static let mostBacklog = 10 << 20
    /// Requests held in memory; whoever submits more waits.
    private static let mostWaiting = 4_096

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
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { client.unownedExecutor }

    init(
        client: HTTPClient, limits: DownloadQueue<Waiter>.Limits, policy: RetryPolicy, observe hub: EventHub,
        logger: Logger
    ) {
        self.logger = logger
        self.client = client
        self.policy = policy
        observers = hub
        queue = DownloadQueue(limits: limits)
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
        if queue.waiting > Self.mostWaiting { await withCheckedContinuation { submitters.append($0) } }
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
            case .wait(let time):
                releaseSubmitters()
                return time
            }
        }
        return nil
    }

    private func begin(_ start: DownloadQueue<Waiter>.Start) {
        let request = TransferRequest(url: start.url, waitsToMultiplex: start.multiplexes)
        while flights.count <= start.job.slot { flights.append(Flight()) }
        flights[start.job.slot].token = client.assumeIsolated { client in
            client.start(request) { [weak self] result in
                self?.assumeIsolated { $0.ended(start, result) }
            }
        }
    }

    private func ended(_ start: DownloadQueue<Waiter>.Start, _ result: Result<TransferResponse, TransferError>) {
        guard flights[start.job.slot].token.take() != nil else { return }
        switch result {
        case .failure(let error): failed(start, CoverFailure(error), retryAfter: nil)
        case .success(let response):
            queue.answered(start.job, http2: response.isHTTP2)
            switch Verdict(response, for: start.url.string) {
            case .cover(let header): landed(start, response, header)
            case .failure(let failure):
                let now = Int64(time(nil))
                failed(start, failure, retryAfter: ResponseRules.retryAfter(response.head.headerFields, now: now))
            }
        }
    }

    private func landed(_ start: DownloadQueue<Waiter>.Start, _ response: TransferResponse, _ header: ImageHeader) {
        queue.landed(start.job)
        flights[start.job.slot].microseconds = response.microseconds
        let now = WallClock.milliseconds()
        let metadata = EntryMetadata(
            key: start.url.string, mediaType: header.mediaType, width: header.width, height: header.height,
            storedAt: now,
            freshUntil: ResponseRules.freshUntil(response.head.headerFields, now: now),
            fields: ResponseRules.kept(response.head.headerFields))
        backlog += response.body.footprint
        arrivals.append(Arrival(job: start.job, metadata: metadata, body: response.body))
    }

    private func failed(_ start: DownloadQueue<Waiter>.Start, _ failure: CoverFailure, retryAfter: Duration?) {
        let decision = policy.decide(
            failure.kind, status: failure.status, retryAfter: retryAfter, attempt: start.attempt,
            random: .random(in: 0...1))
        switch decision {
        case .retry(let delay):
            logger.debug("\(failure.message); trying again in \(delay)")
            let time = ContinuousClock.Instant.now + delay
            // A server that names a time means all of its covers, not this one alone.
            if retryAfter != nil { queue.close(hostOf: start.job, until: time) }
            queue.retry(start.job, at: time)
        case .giveUp:
            deliver(Settlement(job: start.job, key: start.url.string, result: .failure(failure)))
        case .tooLong(let wait):
            var failure = failure
            failure.detail += "; it asks to be left alone for \(wait.components.seconds) s, so this was not tried again"
            deliver(Settlement(job: start.job, key: start.url.string, result: .failure(failure)))
        }
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
            backlog -= batch.reduce(0) { $0 + $1.body.footprint }
        }
    }

    func settle(_ settlements: [Settlement]) {
        for settlement in settlements {
            if settlement.isLost { queue.retry(settlement.job, at: .now) } else { deliver(settlement) }
        }
    }

    private func deliver(_ settlement: Settlement) {
        let microseconds = flights[settlement.job.slot].microseconds
        if observers.isObserved { observers.publish(LibraryEvent(settlement)) }
        for (position, waiter) in queue.end(settlement.job).enumerated() {
            waiter.done(Delivery(result: settlement.result, isJoined: position > 0, microseconds: microseconds))
        }
    }

    private func releaseSubmitters() {
        guard !submitters.isEmpty, queue.waiting < Self.mostWaiting / 2 else { return }
        let released = submitters
        submitters = []
        for submitter in released { submitter.resume() }
    }
}
