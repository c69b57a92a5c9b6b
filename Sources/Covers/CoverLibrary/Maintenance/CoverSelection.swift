import CoverCache
import CoverFetch
import CurlHTTP

/// The cached covers that a call lists, refreshes, pins or removes.
public struct CoverSelection: Sendable, Hashable {
    enum Covers: Sendable, Hashable {
        case requests([CoverRequest])
        case matching(CoverFilter)
    }

    let covers: Covers

    /// All cached covers.
    public static let all = matching(CoverFilter())

    /// All cached covers that a filter matches.
    public static func matching(_ filter: CoverFilter) -> Self { Self(covers: .matching(filter)) }

    /// The covers of these URLs, albums or requests. Of an album, all its URLs that are cached.
    public static func requests(_ covers: some Sequence<some CoverRequestConvertible>) -> Self {
        Self(covers: .requests(covers.map(\.coverRequest)))
    }
}

/// Selects cached covers by their URLs. Without a condition it matches all.
public struct CoverFilter: Sendable, Hashable {
    /// Only URLs of this host, such as `covers.example.org`, or `127.0.0.1:8731` for one port.
    public var host: String?
    /// Only URLs that match: `*` stands for any text, `?` for any character.
    public var pattern: String?
    /// Only pinned covers.
    public var isPinned: Bool

    /// A filter of these conditions.
    public init(host: String? = nil, pattern: String? = nil, isPinned: Bool = false) {
        self.host = host
        self.pattern = pattern
        self.isPinned = isPinned
    }
}

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
        switch selection.covers {
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

extension CoverPipeline {
    /// The cached entries of a selection.
    /// - Throws: `LibraryError` if it names no valid host.
    func entries(of selection: CoverSelection) throws(LibraryError) -> SelectedEntries {
        try SelectedEntries(selection) { [self] request throws(CoverFailure) in try keys(of: request) }
    }

    /// Reads the next batch on a thread that may block.
    func next(_ selected: inout SelectedEntries) async throws -> SelectedEntries.Batch? {
        let (batch, rest) = try await shelf.read { [selected] reader in
            var rest = selected
            let batch = try rest.next(from: reader)
            return (batch, rest)
        }
        selected = rest
        return batch
    }

    /// The keys of a request's URLs.
    /// - Throws: `CoverFailure` if none is usable.
    func keys(of request: CoverRequest) throws(CoverFailure) -> [String] { try urls(of: request).map(\.string) }

    /// A request's usable URLs.
    /// - Throws: `CoverFailure` if there is none.
    func urls(of request: CoverRequest) throws(CoverFailure) -> [HTTPURL] {
        let locations = try self.locations(at: request.location, of: request.album) ?? [request.location]
        let urls = locations.compactMap { try? key($0) }
        if urls.isEmpty { return [try key(locations[0])] }
        return urls
    }
}
