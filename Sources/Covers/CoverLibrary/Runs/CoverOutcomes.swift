public import CoverFetch

/// The outcomes of a run, in the order in which they become certain.
///
/// The run starts with the first iteration, and pauses the reading of its list while outcomes are not read. Cancelling the task that
/// iterates stops the run within 100 ms, and so does leaving the loop: its iterator is released. Covers that have arrived are still committed.
/// Iterate once: a later iteration gets what is left, and nothing after the end.
///
/// ```swift
/// for try await outcome in library.prefetch(requests) { print(outcome.url, outcome.kind) }
/// let summary = try await library.prefetch(albums).summary()
/// ```
///
/// `Failure` is `LibraryError`: the library is closed before the end, or the cache cannot be read. For a list that can throw itself it is
/// `any Error`. What was read of such a list before is still done, and has its outcomes; then the list's error is thrown as it is. A
/// `CancellationError` of the list ends the run as cancelled (`RunSummary.isCancelled`), without an error.
public struct CoverOutcomes<Failure: Error>: AsyncSequence, Sendable {
    private let run: Run
    private let makeFailure: @Sendable (any Error) -> Failure

    init(
        failure makeFailure: @escaping @Sendable (any Error) -> Failure,
        _ work: @escaping @Sendable (Run) async throws(LibraryError) -> Void
    ) {
        run = Run(work)
        self.makeFailure = makeFailure
    }

    /// The run's counts at this moment, from any thread.
    public var progress: RunSummary { run.counts }

    /// The number of covers in all: known from the beginning for a sequence in memory, and soon for files, which are read once more to count
    /// them if their covers take longer than their reading; else nil while the list is being read. A run that ends early has fewer outcomes.
    public var total: Int? { run.total }

    /// The share of the covers that have an outcome, from 0 to 1; nil while `total` is. 1 for none.
    public var fractionCompleted: Double? {
        total.map { $0 > 0 ? Double(progress.settled) / Double($0) : 1 }
    }

    /// As `total` before the list is read.
    func expecting(_ total: Int?) -> Self {
        run.total = total
        return self
    }

    /// Runs to the end. - Throws: as the iteration does; `progress` has the counts then.
    public func summary() async throws(Failure) -> RunSummary {
        for try await _ in self {}
        return progress
    }

    /// Starts the run.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<CoverOutcome, Failure> { Iterator(run, makeFailure) }

    /// Cancels the run when it is released.
    private final class Iterator: AsyncIteratorProtocol {
        private let run: Run
        private let makeFailure: @Sendable (any Error) -> Failure
        private var batch: ArraySlice<CoverOutcome> = []

        init(_ run: Run, _ makeFailure: @escaping @Sendable (any Error) -> Failure) {
            (self.run, self.makeFailure) = (run, makeFailure)
        }

        deinit { run.cancel() }

        func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> CoverOutcome? {
            if batch.isEmpty {
                do { batch = try await run.nextBatch()[...] } catch { throw makeFailure(error) }
            }
            return batch.popFirst()
        }
    }
}

extension CoverOutcomes where Failure == LibraryError {
    init(_ work: @escaping @Sendable (Run) async throws(LibraryError) -> Void) {
        self.init(failure: { LibraryError($0) }, work)
    }

    /// Outcomes made by the caller, for previews and tests. They are what `progress` counts.
    public init(_ outcomes: [CoverOutcome]) {
        self.init { run in
            run.addRequests(outcomes.count)
            run.didReadList()
            for outcome in outcomes { run.add(outcome) }
        }
        run.total = outcomes.count
    }
}

/// The counts of a prefetch or a refresh, so far or in all.
///
/// After the run, `requested` is `downloaded + revalidated + fresh + joined + skipped + failed`. A refresh skips nothing, and what it checks is
/// not `fresh`.
public struct RunSummary: Sendable, Hashable, Codable {
    /// Covers requested, with a usable URL or not.
    public var requested = 0
    /// Covers whose body was downloaded.
    public var downloaded = 0
    /// Those of `downloaded` whose bytes were already stored.
    package var deduplicated = 0
    /// Covers that the server confirmed (304).
    public var revalidated = 0
    /// Covers that were already cached, or that another process stored while this run waited for it.
    public var fresh = 0
    /// Covers requested more than once in the run, or redirected to one URL: one transfer served all.
    public var joined = 0
    /// Requests without a usable URL.
    public var skipped = 0
    /// Covers that could not be downloaded, stored or checked. What is cached stays.
    public var failed = 0
    /// Those of `failed` that are no news: cached covers that are gone from their servers for good. They stay, and are asked for again.
    public var gone = 0
    /// Covers left for the next run, because this one was stopped, its budget was spent, or the cache took no more. They have no outcome, and
    /// count neither as failed nor as requested. The unread rest of a prefetch's list is not counted; what was read ahead is.
    public var remaining = 0
    /// Covers that a refresh left out, because they were got with parameters or header fields that are not kept, and that this run does not have:
    /// without them a server may have another picture. They have no outcome, and are no failures.
    public var leftOut = 0
    /// Length of the downloaded bodies in bytes.
    public var bytes = 0
    /// Wall time.
    public var duration = Duration.zero
    /// The run was cancelled before its end, or its list was: it has thrown a `CancellationError`.
    public var isCancelled = false
    /// Why the run ended early, other than by being cancelled: the disk is full, for example, or the capacity is used up.
    public var stopReason: String?

    /// A summary of nothing.
    public init() {}

    /// `duration` in seconds.
    package var seconds: Double {
        get { duration / .seconds(1) }
        set { duration = .seconds(newValue) }
    }

    /// Covers that have an outcome.
    public var settled: Int {
        // Numbers that a caller has made up end no process.
        [revalidated, fresh, joined, skipped, failed].reduce(downloaded, &+)
    }
    /// Covers downloaded and stored per second. Failures do not count.
    package var coversPerSecond: Double { seconds > 0 ? Double(downloaded) / seconds : 0 }
    /// Bytes downloaded per second.
    package var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

    mutating func add(_ outcome: CoverOutcome) { count(outcome, 1) }

    /// Takes an outcome back. - Returns: false if it was none of these.
    mutating func subtract(_ outcome: CoverOutcome) -> Bool {
        var counts = self
        counts.count(outcome, -1)
        if min(counts.downloaded, counts.revalidated, counts.failed) < 0 { return false }
        counts.deduplicated = min(max(0, counts.deduplicated), counts.downloaded)
        (counts.gone, counts.bytes) = (min(counts.gone, counts.failed), max(0, counts.bytes))
        self = counts
        return true
    }

    private mutating func count(_ outcome: CoverOutcome, _ number: Int) {
        switch outcome.kind {
        case .downloaded:
            downloaded += number
            bytes &+= number &* outcome.bytes
            if outcome.isDuplicate { deduplicated += number }
        case .revalidated: revalidated += number
        case .fresh: fresh += number
        case .joined: joined += number
        case .skipped: skipped += number
        case .failed:
            failed += number
            if outcome.failure?.isGone == true { gone += number }
        }
    }
}
