public import CoverFetch

/// The outcomes of a run, in the order in which they become certain.
///
/// The run starts with the first iteration, and pauses the reading of its list while outcomes are not read. Cancelling the task that
/// iterates stops the run within 100 ms; covers that have arrived are still committed. Iterate once.
///
/// ```swift
/// for try await outcome in library.prefetch(requests) { print(outcome.url, outcome.kind) }
/// let summary = try await library.prefetch(albums).summary()
/// ```
public struct CoverOutcomes<Summary: Sendable>: AsyncSequence, Sendable {
    /// The outcome of one request.
    public typealias Element = CoverOutcome
    /// The error that ends a run early.
    public typealias Failure = LibraryError

    private let run: Run
    private let makeSummary: @Sendable (PrefetchSummary) -> Summary

    init(
        _ makeSummary: @escaping @Sendable (PrefetchSummary) -> Summary,
        _ work: @escaping @Sendable (Run) async throws(LibraryError) -> Void
    ) {
        run = Run(work)
        self.makeSummary = makeSummary
    }

    /// Outcomes made by the caller, for previews and tests.
    public init(_ outcomes: [CoverOutcome], summary: Summary) {
        self.init({ _ in summary }) { run in
            run.addRequests(outcomes.count)
            run.didReadList()
            for outcome in outcomes { run.add(outcome) }
        }
    }

    /// The run's counts at this moment, from any thread.
    public var progress: Summary { makeSummary(run.counts) }

    /// As `progress`, with the counts that `Summary` adds up.
    package var counts: PrefetchSummary { run.counts }

    /// The number of covers in all; nil while the list is still being read.
    public var total: Int? { run.total }

    /// Runs to the end. - Throws: `LibraryError` as `next()` does.
    public func summary() async throws(LibraryError) -> Summary {
        for try await _ in self {}
        return progress
    }

    /// Starts the run.
    public func makeAsyncIterator() -> Iterator { Iterator(run) }

    /// Cancels the run when it is released.
    public final class Iterator: AsyncIteratorProtocol {
        private let run: Run
        private var batch: ArraySlice<CoverOutcome> = []

        fileprivate init(_ run: Run) { self.run = run }

        deinit { run.cancel() }

        /// The next outcome; nil after the run's end.
        /// - Throws: `LibraryError` if the library is closed before the end, or the cache cannot be read.
        public func next() async throws(LibraryError) -> CoverOutcome? { try await next(isolation: #isolation) }

        /// As `next()`.
        public func next(isolation actor: isolated (any Actor)?) async throws(LibraryError) -> CoverOutcome? {
            if batch.isEmpty { batch = try await run.nextBatch()[...] }
            return batch.popFirst()
        }
    }
}
