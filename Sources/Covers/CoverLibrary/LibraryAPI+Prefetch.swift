import CoverFetch
public import Platform

/// Downloading many covers.
extension LibraryAPI {
    /// Downloads every cover of a sequence that is not cached. The sequence is read as the run proceeds, and never held in memory.
    /// - Parameter requests: the covers. Each request's cache policy, priority, timeout and retries apply to it.
    /// - Returns: the outcomes. The run starts with their iteration, or with `summary()`.
    public func prefetch<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) -> CoverOutcomes<LibraryError>
    where Requests.Element == CoverRequest, Requests.Failure == Never {
        CoverOutcomes(Self.reading(requests, covers))
    }

    /// The same for a sequence that can throw. What was read before is downloaded; then the sequence's error is thrown as it is.
    public func prefetch<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) -> CoverOutcomes<any Error> where Requests.Element == CoverRequest {
        CoverOutcomes(failure: { $0 }, Self.reading(requests, covers))
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
    public func prefetch(_ requests: [CoverRequest]) -> CoverOutcomes<LibraryError> {
        run(requests)
    }

    /// Downloads the covers at `urls` that are not cached.
    /// - Parameters:
    ///   - urls: http and https URLs: an array, a set, a lazy sequence.
    ///   - priority: of all its requests.
    ///   - cachePolicy: of all its requests.
    ///   - headerFields: what each request sends to its URL's origin.
    public func prefetch(
        _ urls: some Sequence<URL>, priority: CoverRequest.Priority = .normal,
        cachePolicy: CoverRequest.CachePolicy = .useCache,
        headerFields: RequestHeaderFields = [:]
    ) -> CoverOutcomes<LibraryError> {
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
    ) -> CoverOutcomes<LibraryError> {
        run(albums.lazy.map { CoverRequest(album: $0, priority: priority, cachePolicy: cachePolicy) })
    }

    private func run(_ requests: some Sequence<CoverRequest>) -> CoverOutcomes<LibraryError> {
        let stream = AsyncStream { continuation in
            for request in requests { continuation.yield(request) }
            continuation.finish()
        }
        return prefetch(stream)
    }
}
