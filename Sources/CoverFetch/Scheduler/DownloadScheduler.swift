package import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
package import Logging
import Platform

/// Acts on the decisions of `DownloadQueue`: starts transfers, judges responses, retries, and hands finished jobs to the store.
///
/// Shares its executor with the client, so calls between them cost no hop.
package actor DownloadScheduler {
    /// Memory for finished jobs that wait for the store, in bytes. No transfer starts beyond it.
    private static let maximumBacklog = 10 << 20
    /// Time between two records of what was learnt about hosts.
    private static let hostsInterval = Duration.seconds(10)
    /// Requests in memory; `submit` suspends beyond it. More while most transfers could start: requests further down the list
    /// may be for other hosts.
    private var maximumWaiting: Int { queue.isIdle ? 32_768 : 4_096 }

    nonisolated let client: HTTPClient
    private let store: any DownloadStore
    let policy: FetchPolicy
    let logger: Logger
    var queue: DownloadQueue<FetchRequest>
    /// Indexed by the jobs' slots.
    var states: [JobState] = []
    var jobLeases: JobLeases
    private var batch = WriteBatch()
    /// Memory held by `batch` and by what the store has taken, in bytes.
    private var backlog = 0 { didSet { client.loop.unstoredBytes = backlog } }
    private var submitters: [CheckedContinuation<Void, Never>] = []
    private var storing: Task<Void, Never>?
    private var hostsRecorded: ContinuousClock.Instant?
    private var isClosed = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { client.unownedExecutor }

    /// - Parameters:
    ///   - leases: nil if no other process downloads for the same store.
    ///   - hosts: what earlier runs learnt about hosts, by origin.
    package init(
        client: HTTPClient, store: any DownloadStore, leases: (any DownloadLeases)? = nil, policy: FetchPolicy,
        hosts: [String: HostMemory], logger: Logger
    ) {
        self.client = client
        self.store = store
        self.policy = policy
        self.logger = logger
        queue = DownloadQueue(limits: policy.limits, hosts: hosts)
        jobLeases = JobLeases(leases, timeout: policy.leaseTimeout)
    }

    /// Starts the scheduler. Call it once, before anything else.
    package func start() {
        client.loop.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } }
    }

    // MARK: Requests

    /// Adds requests. Returns when there is room for more.
    package func submit(_ requests: [(url: HTTPURL, request: FetchRequest)]) async {
        add(requests)
        if queue.waiting > maximumWaiting { await withCheckedContinuation { submitters.append($0) } }
    }

    /// Adds requests ahead of all others of their hosts.
    /// - Parameters:
    ///   - order: their keys, the most important first.
    ///   - withdrawn: keys that `owner` no longer wants. Jobs in flight are left alone.
    package func submit(
        _ requests: [(url: HTTPURL, request: FetchRequest)], order: [String], withdrawing withdrawn: [String],
        of owner: ObjectIdentifier
    ) {
        for key in withdrawn {
            for request in queue.withdraw(key, { $0.owner == owner }) { request.cancel() }
        }
        if !withdrawn.isEmpty { endLeases() }
        add(requests)
        queue.prefer(order)
    }

    private func add(_ requests: [(url: HTTPURL, request: FetchRequest)]) {
        let now = ContinuousClock.now
        for (url, var request) in requests {
            if isClosed {
                request.cancel()
            } else if url.isInvalidHost {
                request.completion(FetchResult(.failure(.givenAsFile(url.string))))
            } else {
                request.submitted = now
                _ = queue.submit(
                    url, request: request, target: request.redirect, isImmediate: request.priority == .immediate)
            }
        }
    }

    /// Adds a request to an existing job. Returns false if there is none.
    package func join(_ url: HTTPURL, _ request: FetchRequest) -> Bool {
        queue.contains(url.string) && queue.submit(url, request: request)
    }

    /// Cancels the requests of `owner`, and the transfers without any other request.
    package func cancelRequests(of owner: ObjectIdentifier) {
        let (requests, inFlight) = queue.cancel { $0.owner == owner }
        endLeases()
        for request in requests { request.cancel() }
        // One of them may belong to the owner. The others submit one batch more than they should.
        resumeSubmitters()
        let tokens = inFlight.compactMap { states[$0.slot].token.take() }
        client.assumeIsolated { client in
            for token in tokens { client.cancel(token) }
        }
    }

    /// Cancels every request. Covers that have arrived are still stored.
    package func close() async {
        isClosed = true
        client.loop.shutdown()
        for request in queue.cancel({ _ in true }).requests { request.cancel() }
        endLeases()
        resumeSubmitters()
        // The loop may have had its last turn, and may as well have one more while this waits: both flush the same batch.
        while true {
            flushBatch(.now)
            guard let storing else { return }
            await storing.value
        }
    }

    // MARK: A turn of the loop

    private func turn(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        flushBatch(now)
        while backlog < Self.maximumBacklog {
            switch queue.next(now: now, admit: { admit($0, now) }) {
            case .start(let start): begin(start)
            case .restart(let job): cancelTransfer(job)
            case .drop(let job, let url, let failure): drop(job, url, failure)
            case .wait(let time):
                endTurn(now)
                return [time, lookUp(now)].compactMap(\.self).min()
            }
        }
        endTurn(now)
        return lookUp(now)
    }

    /// Hands over the jobs that were dropped in this turn: nothing else may wake the loop.
    private func endTurn(_ now: ContinuousClock.Instant) {
        flushBatch(now)
        for message in queue.takeMessages() { logger.warning("\(message)") }
        if queue.waiting < maximumWaiting / 2 { resumeSubmitters() }
    }

    private func begin(_ start: DownloadQueue<FetchRequest>.Start) {
        ensureState(start.job)
        var request = TransferRequest(
            url: start.target, headerFields: stored(for: start.job)?.conditions ?? [:],
            waitsToMultiplex: start.multiplexes)
        request.cookies = states[start.job.slot].cookies
        request.streams = start.streams
        request.followsRedirects = false
        request.onConnection = { [weak self] event in
            self?.assumeIsolated { scheduler in
                switch event {
                case .opening(let others) where !scheduler.queue.mayConnect(start.job, others: others): return false
                case .resending: return scheduler.mayResend(start.job)
                case .opening, .ready: break
                }
                // The loop has had its turn already.
                if scheduler.queue.didConnect(start.job, event) { scheduler.client.loop.wake() }
                return true
            } ?? true
        }
        states[start.job.slot].token = client.assumeIsolated { client in
            client.start(request) { [weak self] result in
                self?.assumeIsolated { $0.ended(start, result) }
            }
        }
    }

    private func cancelTransfer(_ job: JobID) {
        guard let token = states[job.slot].token.take() else { return }
        client.assumeIsolated { $0.cancel(token) }
    }

    /// Resets the state of a slot that another job has used.
    private func ensureState(_ job: JobID) {
        while states.count <= job.slot { states.append(JobState(use: 0)) }
        if states[job.slot].use != job.use { states[job.slot] = JobState(use: job.use) }
    }

    /// Ends a job whose host was given up.
    private func drop(_ job: JobID, _ url: HTTPURL, _ failure: CoverFailure) {
        ensureState(job)
        if retriesWithoutRedirect(job, url, failure) { return }
        // A cover that was tried fails for its own reason rather than its host's.
        finish(job, url, failing: states[job.slot].failure ?? failure)
    }

    // MARK: Responses

    private func ended(
        _ start: DownloadQueue<FetchRequest>.Start, _ result: Result<TransferResponse, TransferError>
    ) {
        guard states[start.job.slot].token.take() != nil else { return }
        let now = ContinuousClock.now
        switch result {
        case .failure(let error) where error.kind == .cancelled: queue.refusedTransferEnded(start.job)
        case .failure where queue.resumesOnOtherConnection(start.job): break
        case .failure(let error):
            states[start.job.slot].microseconds = error.microseconds
            let failure = CoverFailure(error, of: start.url, at: start.target)
            states[start.job.slot].failure = failure
            record(HostSignal(error), of: start.job, failure, now)
            if retriesWithoutRedirect(start.job, start.url, failure) { return }
            retryOrFail(start, failure, retryAfter: nil, now)
        case .success(let response): didAnswer(start, response, now)
        }
    }

    private func didAnswer(
        _ start: DownloadQueue<FetchRequest>.Start, _ response: TransferResponse, _ now: ContinuousClock.Instant
    ) {
        let (job, slot) = (start.job, start.job.slot)
        let response = states[slot].withRedirects(response, from: start.target)
        let earlier = states[slot].redirects.isEmpty ? 0 : states[slot].microseconds
        states[slot].microseconds = earlier + response.microseconds
        let timings = states[slot].redirects.isEmpty ? TransferTimings() : states[slot].timings
        states[slot].timings = timings + response.timings
        queue.didAnswer(job, http2: response.isHTTP2)
        let disposition = ResponseDisposition(
            response, of: start.url, at: start.target, redirectCount: states[slot].redirects.count,
            policy: policy.redirect, stored: stored(for: job))
        states[slot].failure = disposition.failure
        let pause = disposition.failure.flatMap { self.pause(after: $0, response) }
        let signal = HostSignal(disposition.failure, pause: pause)
        if signal == .answered { obeyRateLimit(of: response, job, now) }
        record(signal, of: job, disposition.failure, now)
        if case .redirect(let target) = disposition {
            states[slot].redirects.append(response.head)
            states[slot].cookies = response.cookies
            return queue.move(job, to: target)
        }
        switch disposition {
        case .redirect: break
        case .notModified(let version): notModified(start, response, version)
        case .cover(let header): received(start, response, header)
        case .failure(let failure): failed(start, response, failure, pause, now)
        }
    }

    private func received(
        _ start: DownloadQueue<FetchRequest>.Start, _ response: TransferResponse, _ header: ImageHeader
    ) {
        let stored = StoredResponse(response)
        guard stored.isStorable() else { return finish(start.job, start.url, .unstorable(header, response.body)) }
        finish(start.job, start.url, .cover(header, stored, response.body), hints(start, response))
    }

    /// 304: the stored version is still valid (RFC 9111 §4.3.4).
    private func notModified(
        _ start: DownloadQueue<FetchRequest>.Start, _ response: TransferResponse, _ version: any StoredVersion
    ) {
        let update = StoredResponse(response)
        guard StoredResponse.is(update.fields, about: version.entityTag) else {
            states[start.job.slot].ignoresStored = true
            return retry(start.job, at: .now)
        }
        finish(start.job, start.url, .notModified(version, update), hints(start, response))
    }

    private func failed(
        _ start: DownloadQueue<FetchRequest>.Start, _ response: TransferResponse, _ failure: CoverFailure,
        _ pause: Duration?, _ now: ContinuousClock.Instant
    ) {
        if retriesWithoutRedirect(start.job, start.url, failure) { return }
        let timeToLive = queue.first(of: start.job) { $0.negativeTimeToLive }
        if let until = NegativeCaching.until(StoredResponse(response), guess: timeToLive) {
            var hints = URLHints()
            hints.absence = (failure.status ?? 404, until)
            hints.forgetsRedirect = states[start.job.slot].ignoresRedirect
            return finish(start.job, start.url, .failure(failure, stored: stored(for: start.job)), hints)
        }
        retryOrFail(start, failure, retryAfter: pause, now)
    }

    /// What a response says about its URL.
    private func hints(_ start: DownloadQueue<FetchRequest>.Start, _ response: TransferResponse) -> URLHints {
        var hints = URLHints()
        if let target = response.redirectedTo.flatMap({ try? HTTPURL($0) }),
            let until = PermanentRedirect.freshUntil(response.redirects, now: WallClock.milliseconds())
        {
            hints.redirect = (target, until)
        }
        hints.forgetsRedirect = hints.redirect == nil && states[start.job.slot].ignoresRedirect
        return hints
    }

    // MARK: To the store

    func finish(_ job: JobID, _ url: HTTPURL, failing failure: CoverFailure) {
        let stored = failure.kind == .cancelled ? nil : queue.first(of: job) { $0.stored }
        finish(job, url, .failure(failure, stored: stored))
    }

    private func finish(_ job: JobID, _ url: HTTPURL, _ content: Download.Content, _ hints: URLHints = URLHints()) {
        queue.didReceive(job)
        let (state, now) = (states[job.slot], ContinuousClock.now)
        let timings = CoverTimings(
            submitted: queue.first(of: job) { $0.submitted } ?? now, transfer: state.timings, now: now)
        let download = Download(
            job: job, url: url, content: content, hints: hints, microseconds: state.microseconds,
            timings: timings)
        backlog += content.footprint
        batch.footprint += content.footprint
        batch.downloads.append(download)
    }

    private func flushBatch(_ now: ContinuousClock.Instant) {
        guard storing == nil, !batch.downloads.isEmpty else { return }
        // Now and then: a run that is killed loses little of what it learnt.
        if hostsRecorded.map({ now - $0 >= Self.hostsInterval }) ?? true {
            hostsRecorded = now
            batch.hosts = queue.learnt
        }
        batch.isLast = queue.hasReceivedAll
        let taken = batch
        batch = WriteBatch()
        storing = Task {
            await store.store(taken)
            storing = nil
            backlog -= taken.footprint
        }
    }

    /// Completes the requests of jobs that the store has ended. A later request for the URL starts a new job.
    package func didStore(_ results: [StoreResult]) {
        for result in results {
            switch result {
            case .finished(let job, var result):
                jobLeases.end(job)
                for request in queue.end(job) {
                    request.completion(result)
                    result.isJoined = true
                }
            case .lost(let job) where isClosed:
                jobLeases.end(job)
                for request in queue.end(job) { request.cancel() }
            case .lost(let job):
                states[job.slot].ignoresStored = true
                retry(job, at: .now)
            }
        }
    }

    private func resumeSubmitters() {
        let resumed = submitters
        submitters = []
        for submitter in resumed { submitter.resume() }
    }
}
