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
///
/// `Failure` is `LibraryError`: the library is closed before the end, or the cache cannot be read. For a list that can throw itself it is
/// `any Error`. What was read of such a list before is still done, and has its outcomes; then the list's error is thrown as it is. A
/// `CancellationError` of the list ends the run as cancelled (`RunSummary.isCancelled`), without an error.
public struct CoverOutcomes<Failure: Error>: AsyncSequence, Sendable {
    /// The outcome of one request.
    public typealias Element = CoverOutcome

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

    /// The number of covers in all; nil while the list is still being read.
    public var total: Int? { run.total }

    /// Runs to the end. - Throws: as `next()` does; `progress` has the counts then.
    public func summary() async throws(Failure) -> RunSummary {
        for try await _ in self {}
        return progress
    }

    /// Starts the run.
    public func makeAsyncIterator() -> Iterator { Iterator(run, makeFailure) }

    /// Cancels the run when it is released.
    public final class Iterator: AsyncIteratorProtocol {
        private let run: Run
        private let makeFailure: @Sendable (any Error) -> Failure
        private var batch: ArraySlice<CoverOutcome> = []

        fileprivate init(_ run: Run, _ makeFailure: @escaping @Sendable (any Error) -> Failure) {
            (self.run, self.makeFailure) = (run, makeFailure)
        }

        deinit { run.cancel() }

        /// The next outcome; nil after the run's end.
        /// - Throws: `LibraryError` if the library is closed before the end, or the cache cannot be read; else what the list has thrown.
        public func next() async throws(Failure) -> CoverOutcome? { try await next(isolation: #isolation) }

        /// As `next()`.
        public func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> CoverOutcome? {
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
    }
}
