import CoverFetch
import CurlHTTP
import Logging
import Synchronization

/// A prefetch or refresh in progress: its counts, and the outcomes that have not been read.
final class Run: Sendable {
    /// Unread outcomes beyond which `waitForReader` suspends.
    private static let maximumUnread = 4_096
    /// Failures remembered, so that a repeated URL is not tried again.
    private static let maximumFailures = 65_536

    private struct State {
        var counts = RunSummary()
        var start: ContinuousClock.Instant?
        var task: Task<Void, Never>?
        /// Requests without an outcome.
        var pending = 0
        var isListRead = false
        /// The number of requests, if it is known before all are read.
        var expected: Int?
        var unread: [CoverOutcome] = []
        /// What the list has thrown.
        var listError: (any Error)?
        var end: Result<Void, any Error>?
        var counted: Int { counts.requested + counts.remaining }
        /// By address.
        var failures: [String: CoverFailure] = [:]
        /// The keys of the failures whose addresses are others.
        var keysOfOthers: Set<String> = []
    }

    private let work: @Sendable (Run) async throws(LibraryError) -> Void
    private let state = Mutex(State())
    private let outcomesAdded = Signal()
    private let outcomesRead = Signal()
    private let drainedSignal = Signal()

    init(_ work: @escaping @Sendable (Run) async throws(LibraryError) -> Void) { self.work = work }

    // MARK: Reading

    /// The next outcomes; empty at the end. Starts the run.
    /// - Throws: `LibraryError`, or what the list has thrown.
    func nextBatch() async throws -> [CoverOutcome] {
        start()
        return try await withTaskCancellationHandler {
            await waitForBatch()
        } onCancel: {
            cancel()
        }.get()
    }

    private func waitForBatch() async -> Result<[CoverOutcome], any Error> {
        while true {
            let (batch, end) = state.withLock { state in
                defer { state.unread = [] }
                return (state.unread, state.end)
            }
            outcomesRead.send()
            if !batch.isEmpty { return .success(batch) }
            if let end { return end.map { [] } }
            // A cancelled task cannot wait for a signal. Its run ends within 100 ms.
            if await !outcomesAdded.wait() { await state.withLock { $0.task }?.value }
        }
    }

    private func start() {
        state.withLock { state in
            guard state.start == nil else { return }
            state.start = .now
            state.task = Task {
                do throws(LibraryError) {
                    end(.success(try await work(self)))
                } catch {
                    end(.failure(error))
                }
            }
        }
    }

    private func end(_ result: Result<Void, any Error>) {
        state.withLock { state in
            state.counts.duration = state.start?.duration(to: .now) ?? .zero
            state.end = result
            if !state.isListRead, let expected = state.expected {
                state.counts.remaining = max(state.counts.remaining, expected - state.counts.requested)
            }
            guard let error = state.listError, case .success = result else { return }
            if error is CancellationError {
                state.counts.isCancelled = true
            } else {
                state.counts.stopReason = state.counts.stopReason ?? "the list could not be read on: \(error)"
                state.end = .failure(error)
            }
        }
        outcomesAdded.finish()
    }

    /// The list has ended early. What was read of it is still done. One that is not read on may throw because of that.
    func listFailed(_ error: any Error) {
        state.withLock { if $0.counts.stopReason == nil { $0.listError = error } }
    }

    var counts: RunSummary {
        state.withLock { state in
            var counts = state.counts
            if state.end == nil, let start = state.start { counts.duration = start.duration(to: .now) }
            return counts
        }
    }

    var total: Int? {
        get { state.withLock { $0.isListRead ? $0.counted : $0.expected } }
        set { state.withLock { $0.expected = newValue } }
    }

    /// Whether every request of the list has been counted.
    var isWhole: Bool { state.withLock { $0.isListRead || $0.expected == $0.counted } }

    // MARK: Ending early

    /// Whether the run has ended early for a reason of its own.
    var isStopped: Bool { state.withLock { $0.counts.stopReason != nil } }

    /// Whether requests wait for their outcomes.
    var isWaiting: Bool { state.withLock { $0.pending > 0 } }

    /// Whether nothing more is to be started.
    var isEnding: Bool { state.withLock { $0.counts.isCancelled || $0.counts.stopReason != nil } }

    func cancel() {
        let task = state.withLock { state -> Task<Void, Never>? in
            if state.end != nil { return nil }
            state.counts.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Records why the run ends early. Returns false if there was a reason already.
    func stop(_ reason: String) -> Bool {
        state.withLock { state in
            if state.counts.stopReason != nil { return false }
            state.counts.stopReason = reason
            return true
        }
    }

    // MARK: Outcomes

    func didReadList() { state.withLock { $0.isListRead = true } }

    /// Counts requests, each of which will have an outcome or be left to the next run.
    func addRequests(_ count: Int) {
        state.withLock { state in
            state.counts.requested += count
            state.pending += count
        }
    }

    /// - Parameter wasHeld: the request was given to `hold`.
    func add(_ outcome: CoverOutcome, wasHeld: Bool = false) {
        finish(wasHeld ? 0 : 1) { state in
            state.counts.add(outcome)
            state.unread.append(outcome)
        }
        outcomesAdded.send()
    }

    /// Its outcome is known, and is added at the end of the run.
    func hold() { finish(1) { _ in } }

    /// Replaces the outcome of a cover that turned out to be another's. It has a further outcome, unless it is left to the next run.
    func correct(_ former: CoverOutcome, _ outcome: CoverOutcome) {
        state.withLock { state in
            // It may have been for a call beside the run.
            guard state.counts.subtract(former) else { return }
            if outcome.failure?.leavesCoverUnknown == true {
                state.counts.requested -= 1
                state.counts.remaining += 1
            } else {
                state.counts.add(outcome)
                state.unread.append(outcome)
            }
        }
        outcomesAdded.send()
    }

    /// Leaves counted requests to the next run. They have no outcome.
    func moveToNextRun(_ count: Int = 1) {
        finish(count) { state in
            state.counts.requested -= count
            state.counts.remaining += count
        }
    }

    /// Counts covers left for the next run.
    func addRemaining(_ count: Int) { state.withLock { $0.counts.remaining += count } }

    /// Counts covers that this run cannot ask about.
    func addLeftOut(_ count: Int) { state.withLock { $0.counts.leftOut += count } }

    private func finish(_ count: Int, _ change: (inout State) -> Void) {
        let isDrained = state.withLock { state in
            change(&state)
            state.pending -= count
            return state.pending == 0
        }
        if isDrained { drainedSignal.send() }
    }

    func remember(_ failure: CoverFailure, of url: HTTPURL) {
        state.withLock { state in
            // What the cache then remembers of the key is that of the address that was tried.
            guard state.failures.count < Self.maximumFailures, state.failures[url.address] == nil else { return }
            // Where no server answers, one of its addresses stands for all.
            state.failures[failure.isOfAddress ? url.address : url.string] = failure
            if failure.isOfAddress, url.omitsParameters { state.keysOfOthers.insert(url.string) }
        }
    }

    /// The failure of a URL that this run has already tried.
    func failure(of url: HTTPURL) -> CoverFailure? {
        state.withLock { state in
            if let failure = state.failures[url.address] { return failure }
            return state.failures[url.string].flatMap { $0.isOfAddress ? nil : $0 }
        }
    }

    /// Whether this run has tried the URL's key at other addresses only.
    func hasFailedElsewhere(_ url: HTTPURL) -> Bool {
        state.withLock { state in
            if state.failures[url.address] != nil { return false }
            return state.keysOfOthers.contains(url.string) || state.failures[url.string]?.isOfAddress == true
        }
    }

    // MARK: Waiting

    /// Returns when the reader has caught up, or the task is cancelled.
    func waitForReader() async {
        while state.withLock({ $0.unread.count >= Self.maximumUnread }), await outcomesRead.wait() {}
    }

    /// Returns when every request has an outcome, also if the task is cancelled: cancelled requests complete at once.
    func drained() async {
        await Task {
            while state.withLock({ $0.pending > 0 }), await drainedSignal.wait() {}
        }.value
    }
}

/// Covers that may be another's, at the end of a run.
extension CoverPipeline {
    /// Says which hosts sent answers that nobody asked for, and what became of the covers.
    func warnOfSuspects() {
        for (host, count) in recheck.takeCounts().sorted(by: { $0.key < $1.key }) {
            let covers = "\(count) cover\(count == 1 ? "" : "s") that came over the same connections"
            let consequence = isClosed ? "what was stored of that is removed" : "requested again"
            configuration.logger.warning(
                "\(host) has sent answers that nobody asked for; \(covers) may have been another's: \(consequence)",
                metadata: ["host": "\(host)"], source: CoverFailure.logSource)
        }
    }

    /// Has a run count what its covers are, after those that may be another's were downloaded again.
    func settle(_ run: Run) async {
        guard let scheduler = startedScheduler else { return }
        await withTaskCancellationHandler {
            var isFound = true
            while isFound {
                isFound = await scheduler.lookForUnaskedAnswers()
                if Task.isCancelled { cancelAsks(of: recheck) }
                for correction in await recheck.corrections() { run.correct(correction.former, correction.outcome) }
            }
        } onCancel: {
            cancelAsks(of: recheck)
        }
        warnOfSuspects()
    }
}

extension CoverPipeline {
    /// Performs a run, and returns when every cover has an outcome. Cancelling the task stops it within 100 ms, and so does closing the library;
    /// covers that have arrived are still committed.
    /// - Parameters:
    ///   - sink: what gets the outcomes of the run's asks.
    ///   - isPrefetch: as of `PersistencyManager.beginRun`.
    ///   - submit: submits the asks, in a task that is cancelled if the run ends early.
    /// - Returns: a failure if nothing could be asked, or the library is closed before the end.
    func perform(
        _ run: Run, for sink: any OutcomeSink, isPrefetch: Bool, _ submit: @escaping @Sendable () async throws -> Void
    ) async -> Result<Void, LibraryError> {
        do { try await persistency.beginRun(isPrefetch: isPrefetch) } catch { return .failure(LibraryError(error)) }
        recheck.begin()
        let submitting = Task { try await submit() }
        beginRun(ObjectIdentifier(run)) { submitting.cancel() }
        // It may have been stopped before.
        if run.isEnding { submitting.cancel() }
        var failure: LibraryError?
        await withTaskCancellationHandler {
            do {
                try await submitting.value
            } catch {
                if run.counts.requested > 0 {
                    stop(run, "\(CacheError(error))", for: sink)
                } else {
                    failure = LibraryError(error)
                }
            }
            await run.drained()
            await settle(run)
        } onCancel: {
            submitting.cancel()
            cancelAsks(of: sink)
        }
        endRun(ObjectIdentifier(run))
        await persistency.endRun(isPrefetch: isPrefetch)
        let counts = run.counts
        if isClosed, !counts.isCancelled, counts.remaining > 0 || !run.isWhole { failure = .closed }
        if let failure { return .failure(failure) }
        return .success(())
    }

    /// Ends a run early: nothing more is submitted. A list that makes it wait is not waited for.
    func stop(_ run: Run, _ reason: String, for sink: any OutcomeSink) {
        guard run.stop(reason) else { return }
        cancelRun(ObjectIdentifier(run))
        cancelAsks(of: sink)
    }
}
