package import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
package import Logging
import Platform

/// Acts on the decisions of `DownloadQueue`: starts transfers, judges responses, retries, and hands downloads to the store. It has done
/// with a cover when it has handed it over: nothing comes back but the rare cover that the store has lost.
///
/// Shares its executor with the client, so calls between them cost no hop.
package actor DownloadScheduler {
    /// The longest that the end of a run waits for an answer that is late by one.
    private static let longestSettling = Duration.milliseconds(500)
    /// Memory for downloads that wait for the store, in bytes. No transfer starts beyond it.
    private static let maximumBacklog = 10 << 20
    /// Requests in memory; `submit` suspends beyond it. More while most transfers could start: requests further down the list
    /// may be for other hosts.
    private var maximumWaiting: Int { queue.isIdle ? 16_384 : 4_096 }

    nonisolated let client: HTTPClient
    private let store: any DownloadStore
    let policy: FetchPolicy
    let logger: Logger
    var queue: DownloadQueue<Ask>
    /// Downloads that were handed to the store and have no outcome yet.
    package nonisolated let pending = PendingStores()
    private var batch = WriteBatch()
    private var recentTargets = RecentTargets()
    /// The covers that have the response to another one's request over a used connection, by the key of that one. Beyond `maximumShared`, each
    /// cover asks for itself.
    private var shared: [String: [RequestedCover]] = [:]
    private var sharedCount = 0
    private static let maximumShared = 16_384
    /// Memory held by `batch` and by what the store has taken, in bytes.
    private var backlog = 0
    private var submitters: [CheckedContinuation<Void, Never>] = []
    private var handingOver: Task<Void, Never>?
    /// The last of the tasks that give suspects to the store, one after the other.
    private var distrusting: Task<Void, Never>?
    private var isClosed = false
    /// The jobs of asks that have a time.
    var deadlines = Heap<Timed<JobID>>()
    let report: @Sendable (SchedulerReport) -> Void
    private var load = SchedulerReport.Load()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { client.unownedExecutor }

    /// - Parameters:
    ///   - pauses: the ends of those that hosts asked earlier runs for, by origin.
    ///   - report: called on libcurl's thread; must not block.
    package init(
        client: HTTPClient, store: any DownloadStore, policy: FetchPolicy, pauses: [String: ContinuousClock.Instant],
        logger: Logger, report: @escaping @Sendable (SchedulerReport) -> Void = { _ in }
    ) {
        self.client = client
        self.store = store
        self.policy = policy
        self.logger = logger
        self.report = report
        // libcurl uses them, and no other transport.
        let usesProxies = policy.limits.awaitsConnections
        queue = DownloadQueue(limits: policy.limits, pauses: pauses) { usesProxies ? Proxy(for: $0.requestURL) : nil }
    }

    /// Starts the scheduler. Call it once, before anything else.
    package func start() {
        client.loop.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } }
    }

    // MARK: Asks

    /// Adds asks. Returns when there is room for more.
    package func submit(_ asks: [Ask]) async {
        add(asks)
        if queue.waiting > maximumWaiting { await withCheckedContinuation { submitters.append($0) } }
    }

    /// Adds asks ahead of all others of their hosts.
    /// - Parameters:
    ///   - order: the keys of what its sinks ask for, the most important first, as it is now: an earlier call may have been slower.
    ///   - withdrawn: keys that `isLeaving` selects the asks of. Jobs in flight are left alone.
    package func submit(
        _ asks: [Ask], order: @Sendable () -> [String], withdrawing withdrawn: [String], where isLeaving: (Ask) -> Bool
    ) {
        for key in withdrawn {
            for ask in queue.withdraw(key, isLeaving) { ask.cancel() }
        }
        add(asks)
        queue.prefer(order())
    }

    func add(_ asks: [Ask]) {
        let now = ContinuousClock.now
        var moved: [Ask] = []
        for ask in asks {
            if isClosed {
                ask.close()
            } else if !ask.sink.isWanted {
                ask.cancel()
            } else if pending.join(ask) {
                continue
            } else if ask.mayHaveFailed, ask.ownFields == nil, let failure = ask.sink.failure(of: ask.url),
                queue.jobs.id(of: ask.url.string) == nil
            {
                if !ask.complete(CoverOutcome(failed: failure)) { moved.append(ask) }
            } else {
                ask.submitted = ask.submitted ?? now
                _ = queue.submit(
                    ask.url, request: ask, priority: ask.priority, ignoresOutage: ask.ignoresOutage)
                note(deadlineOf: ask)
            }
        }
        if !moved.isEmpty { add(moved) }
    }

    /// - Parameters:
    ///   - keys: of covers that the store has lost: the stored bytes that they shared, or that a 304 was about, were evicted before the commit.
    ///   - unanswered: asks that the store's outcome does not answer: they are at the next address of their album, or have their own fields.
    package func resubmit(_ keys: [String], _ unanswered: [Ask]) {
        let asks = pending.takeBack(keys)
        for ask in asks { (ask.stored, ask.storesBeforeLookUp) = (nil, nil) }
        add(asks + unanswered)
    }

    /// Cancels the asks of a sink that is no longer wanted, and the transfers without any other ask. Covers that are being stored are left
    /// alone: their asks complete in a moment.
    package func cancelAsks(of sink: any OutcomeSink) {
        let (asks, inFlight) = queue.cancel { $0.sink === sink }
        didCancel(inFlight)
        for ask in asks { ask.cancel() }
    }

    /// Ends what asks that are no longer there had: places in the queue, and transfers.
    func didCancel(_ inFlight: [Job<Ask>]) {
        // One of them may belong to the sink. The others submit one batch more than they should.
        resumeSubmitters()
        let transfers = inFlight.compactMap(\.state.transfer)
        client.assumeIsolated { client in
            for transfer in transfers { client.cancel(transfer) }
        }
    }

    /// Ends every request, those that wait for a retry too. Covers that have arrived are still stored.
    package func close() async {
        isClosed = true
        _ = client.loop.multi?.sockets.lookAtIdle()
        distrust(client.loop.multi?.sockets.takeUnaskedAnswers() ?? [])
        await client.shutdown()
        for ask in queue.cancel({ _ in true }).requests { ask.close() }
        resumeSubmitters()
        await distrusting?.value
        // The loop may have had its last turn, and may as well have one more while this waits: both flush the same batch.
        while true {
            flushBatch()
            guard let handingOver else { return reportLoad() }
            await handingOver.value
        }
    }

    // MARK: Suspects

    /// Looks for answers that nobody asked for on connections that are idle, and returns when the store has got all suspects. Waits only where an
    /// answer of a connection has come sooner than it could (`ConnectionPace`), and for as long as its server takes at most.
    /// - Returns: whether there were any.
    package func lookForUnaskedAnswers() async -> Bool {
        let settled = client.loop.multi?.sockets.lookAtIdle()
        if let settled, case let time = settled - .now, time > .zero {
            try? await Task.sleep(for: min(time, Self.longestSettling))
            _ = client.loop.multi?.sockets.lookAtIdle()
        }
        let answers = client.loop.multi?.sockets.takeUnaskedAnswers() ?? []
        // A full list begins again once nothing hints at a response that is another's.
        if answers.isEmpty, queue.inFlight == 0, sharedCount >= Self.maximumShared { (shared, sharedCount) = ([:], 0) }
        distrust(answers)
        await distrusting?.value
        return !answers.isEmpty
    }

    /// Has covers be requested again that came over a connection with an answer that nobody asked for.
    private func distrust(_ answers: [UnaskedAnswer]) {
        if answers.isEmpty { return }
        recentTargets = RecentTargets()
        for var answer in answers {
            let others = answer.covers.flatMap { shared.removeValue(forKey: $0.url.string) ?? [] }
            sharedCount -= others.count
            answer.covers += others
            for cover in answer.covers {
                // One of its redirects may be another's.
                guard let job = queue.jobs.id(of: cover.url.string), !queue.jobs[job].state.redirects.isEmpty else {
                    continue
                }
                queue.jobs[job].state.mustStartAgain = true
            }
            let suspects = pending.suspect(answer)
            distrusting = Task { [distrusting, store] in
                await distrusting?.value
                await store.distrust(suspects)
            }
        }
    }

    // MARK: A turn of the loop

    private func turn(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        distrust(client.loop.multi?.sockets.takeUnaskedAnswers() ?? [])
        flushBatch()
        let deadline = expire(now)
        while backlog < Self.maximumBacklog, client.loop.multi?.hasRoom(beside: backlog) ?? true {
            switch queue.next(now: now) {
            case .start(let job, var request): startTransfer(of: job, &request)
            case .restart(let job): cancelTransfer(job)
            case .drop(let job, let failure): drop(job, failure)
            case .wait(let time):
                endTurn()
                return [time, deadline].compactMap(\.self).min()
            }
        }
        endTurn()
        return deadline
    }

    /// Hands over the jobs that were dropped in this turn: nothing else may wake the loop.
    private func endTurn() {
        flushBatch()
        for (host, message) in queue.takeMessages() {
            logger.warning("\(message)", metadata: ["host": "\(host)"], source: CoverFailure.logSource)
        }
        if queue.waiting < maximumWaiting / 2 { resumeSubmitters() }
        reportLoad()
    }

    private func reportLoad() {
        let now = SchedulerReport.Load(
            inFlight: queue.inFlight, waiting: queue.waiting, unstoredBytes: backlog)
        if now == load { return }
        load = now
        report(.load(now))
    }

    /// - Parameter request: what the queue says of it.
    private func startTransfer(of job: JobID, _ request: inout TransferRequest) {
        let (url, target, state) = (queue.jobs[job].url, request.url, queue.jobs[job].state)
        state.sent.fields = queue.first(of: job) { $0.headerFields } ?? [:]
        state.sent.deniesPrivateAddresses = deniesPrivateAddresses(job)
        state.sharedAt = nil
        let stored = stored(for: job), conditions = stored?.conditions(at: target, of: url) ?? [:]
        state.revalidated = conditions.isEmpty ? nil : stored
        let given = givenFields(for: job, at: target)
        if !given.isEmpty { state.fieldNames[String(target.origin)] = given.lowercaseNames }
        let origin = queue.first(of: job) { $0.sink.origin }
        request.headerFields = headerFields(
            for: job, conditions: conditions, trace: origin?.traceFields ?? [:], given: given)
        request.context = origin?.context
        request.cookies = state.cookies
        request.keepsCoding = state.codingFailure != nil
        if let family = state.addressFamily, family.origin == target.origin { request.addressFamily = family.family }
        let isInstead = !request.isHTTP1 && state.http1Origin == target.origin
        if isInstead { request.isHTTP1 = true }
        // The connections that are open are none for it.
        let opensOwn =
            state.chances.contains(.ownConnections) || isInstead || request.addressFamily != nil
            || client.loop.multi?.sockets.distrusts(target.origin) ?? false
        request.needsNewConnection = opensOwn
        request.isWanted = (
            ImageHeader.maximumBeginning, { $0.withUnsafeBytes { ImageHeader.mayBegin(with: $0) } }
        )
        request.deniesPrivateAddresses = state.sent.deniesPrivateAddresses
        request.cover = state.sent.cover(url)
        request.onConnection = { [weak self] event in
            self?.assumeIsolated { scheduler in
                switch event {
                case .opening(let others)
                where !scheduler.queue.mayConnect(job, others: opensOwn ? 0 : others): return false
                case .resending: return scheduler.mayResend(job)
                case .overdue: scheduler.overran(job)
                case .opening, .ready: break
                }
                // The loop has had its turn already.
                if scheduler.queue.didConnect(job, event) { scheduler.client.loop.wake() }
                return true
            } ?? true
        }
        state.transfer = client.assumeIsolated { client in
            client.start(request) { [weak self] result in
                self?.assumeIsolated { $0.transferEnded(job, result) }
            }
        }
    }

    private func cancelTransfer(_ job: JobID) {
        guard let transfer = queue.jobs[job].state.transfer.take() else { return }
        client.assumeIsolated { $0.cancel(transfer) }
    }

    /// Ends a job whose host was given up.
    private func drop(_ job: JobID, _ failure: CoverFailure) {
        if retriesWithoutRedirect(job, failure) { return }
        // A cover that was tried fails for its own reason rather than its host's.
        var own = queue.jobs[job].state.failure ?? failure
        own.retryAfter = max(own.retryAfter ?? .zero, failure.retryAfter ?? .zero)
        if postpones(job, own) { return }
        end(job, failing: own)
    }

    // MARK: Responses

    private func transferEnded(_ job: JobID, _ result: Result<TransferResponse, TransferError>) {
        // Without one, it was cancelled.
        guard queue.jobs.contains(job), queue.jobs[job].state.transfer.take() != nil else { return }
        let now = ContinuousClock.now
        switch result {
        case .failure(let error) where error.kind == .cancelled: queue.refusedTransferEnded(job)
        case .failure where queue.resumesAsOneTooMany(job, now): break
        case _ where queue.jobs[job].state.mustStartAgain:
            queue.jobs[job].state.mustStartAgain = false
            retry(job, at: now)
        case .failure(let error):
            queue.jobs[job].state.microseconds = error.microseconds
            let failure = CoverFailure(error, of: queue.jobs[job].url, at: queue.jobs[job].target)
            queue.jobs[job].state.failure = failure
            // One at a time, they would wait for hours, or all fail in the same way.
            if error.kind == .timeout || !failure.isTransient { queue.separateFollowers(of: job) }
            didReceive(failure.ending, of: job, failure, now)
            if retriesWithoutRedirect(job, failure) { return }
            if error.kind == .coding, queue.jobs[job].state.codingFailure == nil {
                // A server that labels a plain picture, as with `binary`.
                queue.jobs[job].state.codingFailure = failure
                return retry(job, at: now)
            }
            retryOrFail(job, failure, now)
        case .success(let response): didAnswer(job, response, now)
        }
    }

    private func didAnswer(_ job: JobID, _ response: TransferResponse, _ now: ContinuousClock.Instant) {
        queue.jobs[job].state.add(response)
        let isInstead = queue.jobs[job].state.http1Origin == queue.jobs[job].target.origin
        queue.didAnswer(job, http2: response.isHTTP2, isInstead: isInstead)
        let disposition = disposition(of: response, job)
        let failure = disposition.failure
        queue.jobs[job].state.failure = failure
        didReceive(failure?.ending ?? .answered, of: job, failure, now)
        let (followers, time) = queue.isShared(job) ? share(response, of: job, disposition) : ([], 0)
        act(on: disposition, job, response, now)
        for follower in followers where queue.jobs.contains(follower) { answer(follower, response, time, now) }
    }

    private func act(
        on disposition: ResponseDisposition, _ job: JobID, _ response: TransferResponse, _ now: ContinuousClock.Instant
    ) {
        if response.isOverUsedConnection { queue.jobs[job].state.mayBeAnothers = true }
        switch disposition {
        case .redirect(let target): redirected(job, response, target, now)
        case .failure(let failure): failed(job, response, failure, now)
        case .notModified(let version): notModified(job, response, version)
        case .cover(let header): received(job, response, header)
        }
    }

    private func redirected(
        _ job: JobID, _ response: TransferResponse, _ target: HTTPURL, _ now: ContinuousClock.Instant
    ) {
        queue.jobs[job].state.redirects.append(response.head)
        queue.jobs[job].state.redirectedAt = now
        queue.jobs[job].state.cookies = response.cookies
        let isShared = hasPlainRequest(job, at: target)
        // A call for one cover gets what the server has now, unless the cache has it.
        let mayBeRecent = isShared && queue.jobs[job].requests.allSatisfy { !$0.isForUse }
        let recent = mayBeRecent ? recentTargets.response(of: target.string, at: WallClock.milliseconds()) : nil
        queue.move(job, to: target, isShared: isShared && recent == nil)
        if let recent {
            noteShared(recent.response, of: recent.key, with: [job])
            return answer(job, recent.response, recent.time, now)
        }
        endVainAsks(of: job, now)
    }

    // MARK: Responses for several jobs

    /// The jobs that a response answers as well, and when it arrived, in milliseconds since 1970. If it answers none of them, the next one
    /// requests the target.
    private func share(
        _ response: TransferResponse, of job: JobID, _ disposition: ResponseDisposition
    ) -> (followers: [JobID], time: Int64) {
        let (target, time) = (queue.jobs[job].target, WallClock.milliseconds())
        // If it turns out to be another's, they have to be known.
        guard hasPlainRequest(job, at: target),
            !response.isOverUsedConnection || sharedCount < Self.maximumShared
        else { return ([], time) }
        let key = queue.jobs[job].url.string
        switch disposition {
        case .redirect: break
        case .cover: recentTargets.add(target.string, response, of: key, at: time)
        case .failure(let failure): if failure.isTransient { return ([], time) }
        case .notModified: return ([], time)
        }
        let followers = queue.takeFollowers(of: job)
        noteShared(response, of: key, with: followers)
        return (followers, time)
    }

    /// Remembers which covers have the response to the request of another one.
    private func noteShared(_ response: TransferResponse, of key: String, with jobs: [JobID]) {
        guard response.isOverUsedConnection, !jobs.isEmpty else { return }
        sharedCount += jobs.count
        shared[key, default: []] += jobs.map { queue.jobs[$0].state.sent.cover(queue.jobs[$0].url) }
    }

    /// Answers a job with the response to another one's request, as if it were its own.
    /// - Parameter time: when the response arrived, in milliseconds since 1970.
    private func answer(
        _ job: JobID, _ response: TransferResponse, _ time: Int64, _ now: ContinuousClock.Instant
    ) {
        if queue.jobs[job].state.mustStartAgain {
            queue.jobs[job].state.mustStartAgain = false
            return retry(job, at: now)
        }
        let disposition = disposition(of: response, job)
        queue.jobs[job].state.failure = disposition.failure
        queue.jobs[job].state.sharedAt = time
        act(on: disposition, job, response, now)
    }

    private func disposition(of response: TransferResponse, _ job: JobID) -> ResponseDisposition {
        ResponseDisposition(
            response, of: queue.jobs[job].url, at: queue.jobs[job].target,
            redirectCount: queue.jobs[job].state.redirects.count, allowsDowngrades: policy.allowsDowngrades,
            revalidated: queue.jobs[job].state.revalidated)
    }

    private func received(_ job: JobID, _ response: TransferResponse, _ header: ImageHeader) {
        let stored = stored(response, job)
        guard stored.isStorable, !varies(response, job) else { return end(job, .notStorable(response.body)) }
        let replaced = queue.first(of: job) { $0.stored }
        end(job, .cover(header, stored, response.body, replacing: replaced))
    }

    /// 304: the stored version is still valid (RFC 9111 §4.3.4).
    private func notModified(_ job: JobID, _ response: TransferResponse, _ version: StoredVersion) {
        let update = stored(response, job)
        guard StoredResponse.is(update.fields, about: version.entityTag) else { return retryWithoutConditions(job) }
        end(job, .notModified(version, update))
    }

    private func failed(
        _ job: JobID, _ response: TransferResponse, _ failure: CoverFailure, _ now: ContinuousClock.Instant
    ) {
        let coding = failure.kind == .notAnImage ? queue.jobs[job].state.codingFailure : nil
        if let coding { return end(job, failing: coding) }
        if retriesWithoutRedirect(job, failure) { return }
        if !failure.pauses, retriesWithoutConditions(job, failure) { return }
        // A 400 over a used connection may be about what was on it before: servers say so of idle ones, and it may cross the request.
        let isOfConnection = failure.status == 421 || failure.status == 400 && response.isOverUsedConnection
        if isOfConnection, queue.jobs[job].state.chances.insert(.ownConnections).inserted { return retry(job, at: now) }
        let timeToLive = queue.first(of: job) { $0.negativeTimeToLive }
        // What a server refuses to some it may have for others.
        if queue.jobs[job].state.sent.fields.isEmpty,
            let until = NegativeCaching.until(stored(response, job), guess: timeToLive)
        {
            if triesOtherAddress(job, failure) { return }
            let stored = queue.first(of: job) { $0.stored }
            return end(job, .failure(failure, stored: stored), absence: (failure.status ?? 404, until))
        }
        retryOrFail(job, failure, now)
    }

    // MARK: To the store

    func end(_ job: JobID, failing failure: CoverFailure) {
        let stored = failure.kind == .cancelled ? nil : queue.first(of: job) { $0.stored }
        end(job, .failure(failure, stored: stored))
    }

    /// Ends a job: frees its host's place, and hands its asks and its content over.
    private func end(
        _ job: JobID, _ content: Download.Content, absence: (status: Int, until: Int64)? = nil
    ) {
        let (url, target) = (queue.jobs[job].url, queue.jobs[job].target)
        let (state, now) = (queue.jobs[job].state, ContinuousClock.now)
        let asks = queue.end(job)
        var sent = state.sent
        if url.omitsParameters || !sent.addresses.isEmpty { sent.addresses.append(url.address) }
        let timings = CoverTimings(
            submitted: asks.first?.submitted ?? now, transfer: state.timings, now: now)
        // A shared body is in memory once.
        let footprint = state.sharedAt == nil ? content.footprint : 512
        backlog += footprint
        batch.footprint += footprint
        batch.downloads.append(
            Download(
                url: url, target: target, content: content, absence: absence, fieldNames: state.fieldNames,
                microseconds: state.microseconds, timings: timings, isShared: state.sharedAt != nil))
        guard case .failure(var failure, _) = content, !state.mayBeAnothers else {
            return pending.add(url.string, asks, sent)
        }
        failure.rememberedUntil = absence.map { Date(timeIntervalSince1970: Double($0.until) / 1_000) }
        let outcome = CoverOutcome(failed: failure, duration: .microseconds(state.microseconds))
        // Their next address is followed as a redirect is: they wait for no commit.
        func isLeaving(_ ask: Ask) -> Bool { ask.hasAlternatives && ask.isAnswered(by: outcome, to: sent) }
        let leaving = asks.filter(isLeaving)
        pending.add(url.string, asks.filter { !isLeaving($0) }, sent)
        add(leaving.complete(outcome, to: sent))
    }

    private func flushBatch() {
        guard handingOver == nil, !batch.downloads.isEmpty else { return }
        batch.isLast = queue.isDone
        let taken = batch
        batch = WriteBatch()
        handingOver = Task {
            await store.store(taken)
            handingOver = nil
            backlog -= taken.footprint
        }
    }

    private func resumeSubmitters() {
        let resumed = submitters
        submitters = []
        for submitter in resumed { submitter.resume() }
    }
}

/// What a scheduler tells those who operate it.
package enum SchedulerReport: Sendable {
    package struct Load: Sendable, Hashable {
        /// Transfers.
        package var inFlight = 0
        /// Covers that wait for their turn or for a retry.
        package var waiting = 0
        /// Length of the bodies that wait to be stored.
        package var unstoredBytes = 0
    }

    /// A request has ended because its time was over, or no attempt could start in it.
    case expired(CoverFailure)
    /// The load has changed.
    case load(Load)
}
