import CoverFetch
public import Platform

/// Downloading many covers.
extension LibraryAPI {
    /// Downloads every cover of a sequence that is not cached. The sequence is read as the run proceeds, and never held in memory.
    /// - Parameter requests: the covers. Each request's cache policy, priority, timeout and retries apply to it.
    /// - Returns: the outcomes. The run starts with their iteration, or with `summary()`.
    public func prefetch<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) -> CoverOutcomes<PrefetchSummary, LibraryError>
    where Requests.Element == CoverRequest, Requests.Failure == Never {
        CoverOutcomes({ $0 }, Self.reading(requests, covers))
    }

    /// The same for a sequence that can throw. What was read before is downloaded; then the sequence's error is thrown as it is.
    public func prefetch<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) -> CoverOutcomes<PrefetchSummary, any Error> where Requests.Element == CoverRequest {
        CoverOutcomes({ $0 }, failure: { $0 }, Self.reading(requests, covers))
    }

    private static func reading<Requests: AsyncSequence & Sendable>(
        _ requests: Requests, _ covers: CoverPipeline
    ) -> @Sendable (Run) async throws(LibraryError) -> Void where Requests.Element == CoverRequest {
        { run async throws(LibraryError) in
            let prefetcher = Prefetcher(covers, run)
            let batches = RequestBatches(requests) {
                run.listFailed($0)
            } left: {
                run.addRemaining($0)
            }
            try await prefetcher.prefetch(batches.map { await covers.lookUp($0, for: prefetcher) })
        }
    }

    /// Downloads the covers of requests that are not cached, as `prefetch` does those of a sequence.
    public func prefetch(_ requests: [CoverRequest]) -> CoverOutcomes<PrefetchSummary, LibraryError> {
        run(requests)
    }

    /// Downloads the covers at `urls` that are not cached.
    /// - Parameters:
    ///   - urls: http and https URLs.
    ///   - priority: of all its requests.
    ///   - cachePolicy: of all its requests.
    ///   - headerFields: what each request sends to its URL's origin.
    public func prefetch(
        _ urls: [URL], priority: CoverRequest.Priority = .normal, cachePolicy: CoverRequest.CachePolicy = .useCache,
        headerFields: RequestHeaderFields = [:]
    ) -> CoverOutcomes<PrefetchSummary, LibraryError> {
        run(
            urls.lazy.map {
                CoverRequest(url: $0, priority: priority, cachePolicy: cachePolicy, headerFields: headerFields)
            })
    }

    /// Downloads the covers of `albums` that are not cached. An album that locates no cover counts as skipped.
    /// - Parameters:
    ///   - albums: the albums.
    ///   - priority: of all its requests.
    ///   - cachePolicy: of all its requests.
    public func prefetch(
        _ albums: [Album], priority: CoverRequest.Priority = .normal,
        cachePolicy: CoverRequest.CachePolicy = .useCache
    ) -> CoverOutcomes<PrefetchSummary, LibraryError> {
        run(albums.lazy.map { CoverRequest(album: $0, priority: priority, cachePolicy: cachePolicy) })
    }

    private func run(_ requests: some Sequence<CoverRequest>) -> CoverOutcomes<PrefetchSummary, LibraryError> {
        let stream = AsyncStream { continuation in
            for request in requests { continuation.yield(request) }
            continuation.finish()
        }
        return prefetch(stream)
    }

    /// Downloads the covers of lists that are not cached. The thread that reads the lists also looks the covers up.
    /// - Parameters: as of `ListBatches`, and the part of the lists that is this machine's; nil for all.
    package func prefetch(
        lists paths: [String], _ options: ListOptions, cachePolicy: CoverRequest.CachePolicy = .useCache,
        shard: Shard? = nil,
        onNotice: @escaping @Sendable (ListProblem) -> Void, onFailure: @escaping @Sendable (ListProblem) -> Void
    ) -> CoverOutcomes<PrefetchSummary, LibraryError> {
        CoverOutcomes({ $0 }) { [covers] run async throws(LibraryError) in
            let prefetcher = Prefetcher(covers, run)
            let batches = ListBatches(
                paths: paths, options,
                transform: { batch, file in
                    let elements = batch.lazy.filter { !$0.isFileAlone }
                    return covers.lookUp(
                        elements.map { covers.ask($0, in: file, cachePolicy, for: prefetcher) }, shard: shard)
                },
                onNotice: onNotice, onFailure: onFailure)
            try await prefetcher.prefetch(batches)
        }
    }
}

extension ListElement {
    /// An album of the library whose cover is a person's file, and that has no URL.
    fileprivate var isFileAlone: Bool {
        if case .problem(let problem) = self { problem.album?.coverFile != nil } else { false }
    }
}
