import CoverFetch
import CurlHTTP
import Synchronization

/// Downloads every cover of a list that is not cached. One run.
final class Prefetcher: OutcomeSink {
    private let pipeline: CoverPipeline
    private let run: Run
    private let begun = Mutex<AskOrigin?>(nil)
    /// `PendingStores.stores` when the run began.
    private let storesBefore = Atomic(0)

    init(_ pipeline: CoverPipeline, _ run: Run) { (self.pipeline, self.run) = (pipeline, run) }

    /// Counts the covers of a list by reading it once more; nil if it cannot be counted, or the task is cancelled.
    typealias Count = @Sendable () async -> Int?

    /// Reads the list to its end, and returns when every cover has an outcome.
    /// - Parameter count: is called if the list takes longer than its reading.
    /// - Throws: `LibraryError` if the library is closed before the end.
    func prefetch(
        _ batches: some AsyncSequence<AskBatch, Never> & Sendable, count: @escaping Count = { nil }
    ) async throws(LibraryError) {
        try await traced("sleeve.prefetch") { () async throws(LibraryError) in try await download(batches, count) }
    }

    private func download(
        _ batches: some AsyncSequence<AskBatch, Never> & Sendable, _ count: @escaping Count
    ) async throws(LibraryError) {
        if pipeline.isClosed { throw .closed }
        begun.withLock { $0 = pipeline.currentOrigin() }
        storesBefore.store(pipeline.storesSoFar, ordering: .relaxed)
        await pipeline.startedScheduler?.forgetOutages()
        let result = await pipeline.perform(run, for: self, isPrefetch: true) { [self] in await feed(batches, count) }
        await pipeline.shelf.flushUsage()
        try result.get()
    }

    private func feed(_ batches: some AsyncSequence<AskBatch, Never>, _ count: @escaping Count) async {
        // A hash for each URL: lists have millions.
        var seen: Set<Int> = []
        var counting: Task<Void, Never>?
        func beginToCount() {
            counting = counting ?? Task { [run] in if let total = await count() { run.total = total } }
        }
        for await batch in batches {
            // Covers of the batch before are on their way.
            if run.isWaiting { beginToCount() }
            if Task.isCancelled || run.isEnding {
                run.addRemaining(batch.count)
                break
            }
            await take(batch, &seen)
            await run.waitForReader()
        }
        if run.isStopped {
            // What is left is known, unless the user waits for the end.
            beginToCount()
            await counting?.value
        } else {
            counting?.cancel()
            // A cancelled task reads no further, wherever the list ends.
            if !Task.isCancelled { run.didReadList() }
        }
    }

    private func take(_ batch: AskBatch, _ seen: inout Set<Int>) async {
        run.addRequests(batch.count)
        for failure in batch.unusable {
            var outcome = CoverOutcome(failed: failure)
            // One that names bytes is usable.
            if failure.kind != .notCached { outcome.kind = .skipped }
            run.add(outcome)
        }
        if let error = batch.error {
            stop("\(error)")
            return run.moveToNextRun(batch.asks.count)
        }
        pipeline.shelf.passUsageOn(ofAtLeast: 8_192)
        let lost = batch.asks.indices.filter { batch.answers[$0] == nil && batch.asks[$0].url.isInvalidHost }
        let restored = lost.isEmpty ? [] : await restoringPictures(lost.map { batch.asks[$0] })
        let missing = restored + answer(batch, but: Set(lost), &seen, restored: restored.count)
        if !missing.isEmpty {
            // The covers that this run has found in the cache count as used before its other covers need room.
            if missing.count < batch.asks.count { await pipeline.shelf.flushUsage() }
            await submit(missing)
        }
    }

    /// Completes the asks that need no request.
    /// - Returns: the others; those that repeat another one come after it.
    private func answer(_ batch: AskBatch, but lost: Set<Int>, _ seen: inout Set<Int>, restored: Int) -> [Ask] {
        var (missing, again): ([Ask], [Ask]) = ([], [])
        // The keys of those that are submitted and may have other addresses, which are submitted with them, before one can fail.
        var shared: Set<String> = []
        let ignoresParameters = !pipeline.configuration.ignoredParameters.isEmpty
        var (hits, misses) = (0, restored)
        for index in batch.asks.indices where !lost.contains(index) {
            let (ask, answer) = (batch.asks[index], batch.answers[index])
            let fingerprint = ask.url.string.hashValue
            if var answer {
                if answer.kind == .fresh {
                    hits += 1
                    if seen.contains(fingerprint) { answer.kind = .joined }
                } else if !ask.cacheUse.asksServer {
                    misses += 1
                }
                if !ask.complete(answer) { again.append(ask) }
            } else if seen.insert(fingerprint).inserted {
                if !ask.cacheUse.asksServer { misses += 1 }
                if ignoresParameters || ask.url.omitsParameters { shared.insert(ask.url.string) }
                missing.append(ask)
            } else if shared.contains(ask.url.string) {
                ask.fallback?.kind = .joined
                missing.append(ask)
            } else if var fallback = ask.fallback {
                fallback.kind = .joined
                ask.complete(fallback)
            } else {
                // Its server is asked by the one that it repeats, which may have ended.
                if ask.cacheUse.asksServer {
                    (ask.cacheUse, ask.storesBeforeLookUp) = (.ignoreAbsence, storesBefore.load(ordering: .relaxed))
                }
                ask.mayHaveFailed = true
                again.append(ask)
            }
        }
        pipeline.hub.instruments.didLookUp(hits: hits, misses: misses)
        return missing + again
    }

    /// Completes the asks for covers without a server, after pictures of a person that the cache has lost were copied to it again.
    /// - Returns: those that go on to another address.
    private func restoringPictures(_ lost: [Ask]) async -> [Ask] {
        await pipeline.restorePictures(lost.map(\.url.string))
        return await pipeline.missing(among: lost)
    }

    private func submit(_ asks: [Ask]) async {
        if asks.isEmpty { return }
        do throws(LibraryError) {
            try await pipeline.scheduler().submit(asks)
        } catch {
            if !pipeline.isClosed { stop(error.message) }
            for ask in asks { ask.cancel() }
        }
    }

    // MARK: Outcomes

    var isWanted: Bool { !run.isEnding }
    var origin: AskOrigin? { begun.withLock { $0 } }

    func didFail(_ url: HTTPURL, _ failure: CoverFailure) { run.remember(failure, of: url) }
    func failure(of url: HTTPURL) -> CoverFailure? { run.failure(of: url) }
    func hasFailedElsewhere(_ url: HTTPURL) -> Bool { run.hasFailedElsewhere(url) }

    func take(_ outcome: CoverOutcome, of ask: Ask) {
        var outcome = outcome
        if let failure = outcome.failure {
            if failure.kind == .cache { stop(failure.detail) }
            if failure.leavesCoverUnknown { return run.moveToNextRun() }
        } else if outcome.isJoined {
            outcome.kind = .joined
        }
        run.add(outcome)
    }

    /// Ends the run early: the cache takes no more.
    private func stop(_ reason: String) { pipeline.stop(run, reason, for: self) }
}

/// Gathers the elements of a sequence into batches: whatever has arrived while the last batch was processed. Never waits for a batch
/// to fill, so the first cover of a slow list starts at once.
struct RequestBatches: AsyncSequence, Sendable {
    typealias Element = [CoverRequest]
    typealias Failure = Never

    private final class Buffer: Sendable {
        /// Elements that the sequence may be read ahead.
        private static let maximumCount = 1_024
        private let state = Mutex((elements: Element(), isStopped: false))
        private let added = Signal()
        private let taken = Signal()

        /// Waits while the buffer is full. Returns false once nothing more is taken.
        func add(_ element: CoverRequest) async -> Bool {
            let count = state.withLock { state in
                state.elements.append(element)
                return state.elements.count
            }
            added.send()
            if count < Self.maximumCount { return true }
            while state.withLock({ $0.elements.count >= Self.maximumCount && !$0.isStopped }) {
                guard await taken.wait() else { return false }
            }
            return state.withLock { !$0.isStopped }
        }

        func take() async -> Element? {
            while true {
                let batch = takeAll()
                if !batch.isEmpty {
                    taken.send()
                    return batch
                }
                guard await added.wait() else { return state.withLock { $0.elements.isEmpty } ? nil : [] }
            }
        }

        private func takeAll() -> Element {
            state.withLock { state in
                defer { state.elements = [] }
                return state.elements
            }
        }

        /// The sequence has ended: what is left can still be taken.
        func finish() { added.finish() }

        /// Nothing more is taken. - Returns: what was left.
        func stop() -> Element {
            state.withLock { $0.isStopped = true }
            added.finish()
            taken.finish()
            return takeAll()
        }
    }

    private let buffer = Buffer()
    private let reading: Task<Void, Never>
    private let left: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - failed: receives the error that ended the sequence early. What was read before is given all the same.
    ///   - left: receives the number of requests that were read and not given, because the batches were not read to their end.
    init<Requests: AsyncSequence & Sendable>(
        _ requests: Requests, failed: @escaping @Sendable (any Error) -> Void, left: @escaping @Sendable (Int) -> Void
    ) where Requests.Element: CoverRequestConvertible {
        let buffer = buffer
        self.left = left
        reading = Task {
            var line = 0
            do {
                for try await element in requests {
                    line += 1
                    var request = element.coverRequest
                    request.line = request.line ?? line
                    guard !Task.isCancelled, await buffer.add(request) else { break }
                }
            } catch {
                failed(error)
            }
            buffer.finish()
        }
    }

    /// Stops reading the sequence when it is released.
    final class Iterator: AsyncIteratorProtocol {
        private let batches: RequestBatches

        fileprivate init(_ batches: RequestBatches) { self.batches = batches }

        deinit { stop() }

        func next() async -> [CoverRequest]? { await next(isolation: #isolation) }

        func next(isolation actor: isolated (any Actor)?) async -> [CoverRequest]? {
            let batch = await batches.buffer.take()
            if batch == nil { stop() }
            return batch
        }

        private func stop() {
            batches.reading.cancel()
            batches.left(batches.buffer.stop().count)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }
}
