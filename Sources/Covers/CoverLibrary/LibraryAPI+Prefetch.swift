package import AlbumLibrary
import CoverFetch
public import Platform
import Synchronization

/// Downloading many covers.
extension LibraryAPI {
    /// Downloads every cover of a sequence that is not cached. The sequence is read as the run proceeds, and never held in memory.
    /// - Parameter requests: URLs, albums, or requests, each with its own cache policy, priority, timeout and retries. An album that locates no cover
    ///   counts as skipped.
    /// - Returns: the outcomes. The run starts with their iteration, or with `summary()`.
    public func prefetch<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) -> CoverOutcomes<LibraryError>
    where Requests.Element: CoverRequestConvertible, Requests.Failure == Never {
        CoverOutcomes(Self.reading(requests, covers))
    }

    /// The same for a sequence that can throw. What was read before is downloaded; then the sequence's error is thrown as it is.
    public func prefetch<Requests: AsyncSequence & Sendable>(
        _ requests: Requests
    ) -> CoverOutcomes<any Error> where Requests.Element: CoverRequestConvertible {
        CoverOutcomes(failure: { $0 }, Self.reading(requests, covers))
    }

    private static func reading<Requests: AsyncSequence & Sendable>(
        _ requests: Requests, _ covers: CoverPipeline
    ) -> @Sendable (Run) async throws(LibraryError) -> Void where Requests.Element: CoverRequestConvertible {
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

    /// Downloads the covers that are not cached of a sequence in memory: an array, a set, a lazy sequence. It is read when this is called; one that is
    /// too large for that is an `AsyncSequence`, or the file of a list.
    /// - Parameter requests: URLs, albums, or requests.
    public func prefetch(_ requests: some Sequence<some CoverRequestConvertible>) -> CoverOutcomes<LibraryError> {
        var count = 0
        let stream = AsyncStream { continuation in
            for request in requests {
                continuation.yield(request.coverRequest)
                count += 1
            }
            continuation.finish()
        }
        return prefetch(stream).expecting(count)
    }
}

/// Downloading the covers of lists.
extension LibraryAPI {
    /// Downloads the covers of a list that are not cached. The list is read as the run proceeds, and never held in memory. A line that names
    /// no usable URL is an outcome of the kind `skipped`.
    /// - Parameters:
    ///   - list: a file of one URL a line, CSV, JSON, JSON lines, or the library of beets (<doc:LibraryFile>).
    ///   - cachePolicy: of all its requests.
    /// - Returns: the outcomes. The run starts with their iteration, or with `summary()`. If the list cannot be read to its end, they throw
    ///   `LibraryError.unreadableFile` after the outcomes of what was read.
    public func prefetch(
        list: URL, cachePolicy: CoverRequest.CachePolicy = .useCache
    ) -> CoverOutcomes<LibraryError> {
        CoverOutcomes { [covers] run async throws(LibraryError) in
            let path = try list.filePath { LibraryError.unreadableFile(path: $0, reason: $1) }
            let problem = Mutex<ListProblem?>(nil)
            try await covers.prefetch([path], ListOptions(), cachePolicy, run) { error in
                problem.withLock { $0 = error }
            }
            if let problem = problem.withLock({ $0 }) { throw .unreadableFile(path: path, reason: problem.message) }
        }
    }

    /// Downloads the covers of lists that are not cached. The thread that reads the lists also looks the covers up.
    /// - Parameters: as of `ListBatches`, what each request sends to its URL's origin, and the part of the lists that is this machine's; nil for
    ///   all.
    package func prefetch(
        lists paths: [String], _ options: ListOptions, cachePolicy: CoverRequest.CachePolicy = .useCache,
        headerFields: RequestHeaderFields = [:], shard: Shard? = nil,
        onNotice: @escaping @Sendable (ListProblem) -> Void, onFailure: @escaping @Sendable (ListProblem) -> Void
    ) -> CoverOutcomes<LibraryError> {
        CoverOutcomes { [covers] run async throws(LibraryError) in
            try await covers.prefetch(
                paths, options, cachePolicy, headerFields: headerFields, shard: shard, run,
                onNotice: onNotice, onFailure: onFailure)
        }
    }
}

extension CoverPipeline {
    fileprivate func prefetch(
        _ paths: [String], _ options: ListOptions, _ cachePolicy: CoverRequest.CachePolicy,
        headerFields: RequestHeaderFields = [:], shard: Shard? = nil, _ run: Run,
        onNotice: @escaping @Sendable (ListProblem) -> Void = { _ in },
        onFailure: @escaping @Sendable (ListProblem) -> Void
    ) async throws(LibraryError) {
        let prefetcher = Prefetcher(self, run)
        let asks = { @Sendable [self] (batch: [ListElement], file: String) in
            batch.lazy.filter { !$0.isFileAlone }
                .map { self.ask($0, in: file, cachePolicy, headerFields, for: prefetcher) }
                .filter { shard?.contains($0) ?? true }
        }
        let batches = ListBatches(
            paths: paths, options, transform: { self.lookUp(asks($0, $1)) }, onNotice: onNotice, onFailure: onFailure)
        try await prefetcher.prefetch(batches) {
            // Standard input and pipes are read once.
            guard paths.allSatisfy(FileSystem.isFile) else { return nil }
            // What cannot be read of a list, the run does not read either.
            let counts = ListBatches(
                paths: paths, options,
                transform: { shard == nil ? $0.count { !$0.isFileAlone } : asks($0, $1).count { _ in true } },
                onFailure: { _ in })
            let total = await counts.reduce(0, +)
            return Task.isCancelled ? nil : total
        }
    }
}

extension ListElement {
    /// An album of the library whose cover is a person's file, and that has no URL.
    fileprivate var isFileAlone: Bool {
        if case .problem(let problem) = self { problem.album?.coverFile != nil } else { false }
    }
}
