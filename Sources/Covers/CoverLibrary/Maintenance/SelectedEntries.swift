import CoverCache
import CoverFetch

/// The cached entries of a selection, in batches: a selection may hold a million covers.
struct SelectedEntries: Sendable {
    struct Batch: Sendable {
        var entries: [CachedEntry] = []
        /// Requests that cannot be used or that no entry answers.
        var failures: [CoverFailure] = []
    }

    private enum Source: Sendable {
        case requests(ArraySlice<CoverRequest>, keys: @Sendable (CoverRequest) throws(CoverFailure) -> [String])
        case matching(CoverMatcher, after: EntryRow?)
        case end
    }

    private var source: Source

    /// - Parameter keys: the keys of a request.
    /// - Throws: `LibraryError` if the selection names no valid host.
    init(
        _ selection: CoverSelection, keys: @escaping @Sendable (CoverRequest) throws(CoverFailure) -> [String]
    ) throws(LibraryError) {
        switch selection {
        case .requests(let requests): source = .requests(requests[...], keys: keys)
        case .matching(let filter): source = .matching(try CoverMatcher(filter), after: nil)
        }
    }

    /// Reads the next batch on the caller's thread; nil at the end. Entries that share a cover are neighbours, unless they were requested.
    /// - Throws: an error of the index.
    mutating func next(from reader: CacheReader, limit: Int = 1_024) throws -> Batch? {
        var batch = Batch()
        switch source {
        case .end: return nil
        case .requests(let requests, let keys):
            if requests.isEmpty { return nil }
            for request in requests.prefix(limit) { try find(request, keys, in: reader, &batch) }
            source = .requests(requests.dropFirst(limit), keys: keys)
        case .matching(let matcher, let start):
            let last = try reader.entries(byCoverAfter: start, limit: limit) { entry in
                if matcher.matches(entry) { batch.entries.append(entry) }
            }
            source = last.map { .matching(matcher, after: $0) } ?? .end
        }
        return batch
    }

    private func find(
        _ request: CoverRequest, _ keys: (CoverRequest) throws(CoverFailure) -> [String], in reader: CacheReader,
        _ batch: inout Batch
    ) throws {
        let found: [String]
        do throws(CoverFailure) {
            found = try keys(request)
        } catch {
            return batch.failures.append(error)
        }
        let entries = try found.compactMap { try reader.entry(for: $0) }
        if entries.isEmpty { batch.failures.append(.notCached(request)) }
        batch.entries += entries
    }
}

extension CoverFailure {
    static func notCached(_ request: CoverRequest) -> CoverFailure {
        let name = request.location.isEmpty ? request.album?.title ?? "" : request.location
        return CoverFailure(.notCached, url: name, detail: "not in the cache")
    }
}
