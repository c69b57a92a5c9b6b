import CoverCache
import CoverFetch
import CurlHTTP
import Platform

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

/// A `CoverFilter`, prepared for a million entries.
struct CoverMatcher: Sendable {
    private let glob: Glob?
    /// Host and port in UTF-8, or the host only.
    private let host: [UInt8]?
    private let hasPort: Bool
    private let isPinned: Bool

    /// - Throws: `LibraryError` if the host is not valid.
    init(_ filter: CoverFilter) throws(LibraryError) {
        glob = filter.pattern.map(Glob.init)
        isPinned = filter.isPinned
        guard let name = filter.host else {
            (host, hasPort) = (nil, false)
            return
        }
        // Normalised as the keys are: lower case, an international name in its ASCII form.
        guard let url = try? HTTPURL("http://\(name)/"), url.target == "/" else {
            throw .invalidConfiguration("“\(name)” is not a host; write it as covers.example.org or 127.0.0.1:8731")
        }
        host = Array(url.authority.utf8)
        hasPort = Self.port(of: url.authority.utf8) != nil
    }

    func matches(_ entry: CachedEntry) -> Bool {
        guard entry.isPinned || !isPinned else { return false }
        let key = entry.metadata.key
        if let host, !Self.authority(of: key, withPort: hasPort).elementsEqual(host) { return false }
        return glob?.matches(Array(key.utf8)) ?? true
    }

    private static func authority(of key: String, withPort: Bool) -> Substring.UTF8View {
        let slash = UInt8(ascii: "/")
        let rest = key.utf8.drop { $0 != slash }.dropFirst(2)
        let authority = rest.prefix { $0 != slash && $0 != UInt8(ascii: "?") }
        return withPort ? authority : authority[..<(port(of: authority) ?? authority.endIndex)]
    }

    /// The index of the colon before the port; nil if there is none. An IPv6 address has colons in brackets.
    private static func port<Text: BidirectionalCollection<UInt8>>(of authority: Text) -> Text.Index? {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")),
            !authority[colon...].contains(UInt8(ascii: "]"))
        else { return nil }
        return colon
    }
}

/// A shell pattern: `*` stands for any text, `?` for any byte. Matching takes at most the product of both lengths.
struct Glob: Sendable {
    private let pattern: [UInt8]

    init(_ pattern: String) { self.pattern = Array(pattern.utf8) }

    func matches(_ text: [UInt8]) -> Bool {
        var (position, wanted) = (0, 0)
        // Where the last star stands, and where the text that it matches ends.
        var star: (wanted: Int, end: Int)?
        while true {
            if wanted == pattern.count, position == text.count { return true }
            if wanted < pattern.count, pattern[wanted] == UInt8(ascii: "*") {
                wanted += 1
                star = (wanted, position)
            } else if wanted < pattern.count, position < text.count,
                pattern[wanted] == text[position] || pattern[wanted] == UInt8(ascii: "?")
            {
                position += 1
                wanted += 1
            } else if let last = star, last.end < text.count {
                star = (last.wanted, last.end + 1)
                (wanted, position) = (last.wanted, last.end + 1)
            } else {
                return false
            }
        }
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
        case requests(ArraySlice<CoverRequest>)
        case matching(CoverMatcher, after: EntryRow?)
        case end
    }

    private static let limit = 1_024

    private let pipeline: CoverPipeline
    private var source: Source

    /// - Throws: `LibraryError` if the selection names no valid host.
    init(_ selection: CoverSelection, _ pipeline: CoverPipeline) throws(LibraryError) {
        self.pipeline = pipeline
        switch selection.covers {
        case .requests(let requests): source = .requests(requests[...])
        case .matching(let filter): source = .matching(try CoverMatcher(filter), after: nil)
        }
    }

    /// Reads the next batch on a thread that may block.
    mutating func next() async throws -> Batch? {
        let (batch, rest) = try await pipeline.shelf.read { [self] reader in
            var rest = self
            return (try rest.next(from: reader), rest)
        }
        self = rest
        return batch
    }

    /// Reads the next batch on the caller's thread; nil at the end. Entries that share a cover are neighbours, unless they were requested.
    /// - Throws: an error of the index.
    mutating func next(from reader: CacheReader) throws -> Batch? {
        var batch = Batch()
        switch source {
        case .end: return nil
        case .requests(let requests):
            if requests.isEmpty { return nil }
            for request in requests.prefix(Self.limit) { try find(request, in: reader, &batch) }
            source = .requests(requests.dropFirst(Self.limit))
        case .matching(let matcher, let start):
            let (found, last) = try reader.entries(byCoverAfter: start, limit: Self.limit)
            batch.entries = found.filter(matcher.matches)
            source = last.map { .matching(matcher, after: $0) } ?? .end
        }
        return batch
    }

    private func find(_ request: CoverRequest, in reader: CacheReader, _ batch: inout Batch) throws {
        let keys: [String]
        do throws(CoverFailure) {
            keys = try pipeline.keys(of: request)
        } catch {
            return batch.failures.append(error)
        }
        let entries = try keys.compactMap { try reader.entry(for: $0) }
        if entries.isEmpty { batch.failures.append(.notCached(request)) }
        batch.entries += entries
    }
}

extension CoverFailure {
    static func notCached(_ request: CoverRequest) -> CoverFailure {
        if let digest = request.digest, Digest(digest) == nil {
            return CoverFailure(.badURL, url: digest, detail: "not a digest, which has 64 hexadecimal digits")
        }
        return CoverFailure(.notCached, url: request.name, detail: "not in the cache")
    }

    /// A digest names bytes, and nothing that could give others.
    static func withoutServer(_ request: CoverRequest) -> CoverFailure {
        CoverFailure(
            .notCached, url: request.name, detail: "no server can be asked for a digest; request the cover's URL")
    }
}

extension CoverPipeline {
    /// The keys of a request's URLs; of a digest, those under which its bytes are cached, read on the current thread.
    /// - Throws: `CoverFailure` if no URL is usable, or the index cannot be read.
    func keys(of request: CoverRequest) throws(CoverFailure) -> [String] {
        guard let text = request.digest else { return try urls(of: request).map(\.string) }
        if isClosed { throw .closed(text) }
        guard let digest = Digest(text) else { return [] }
        do { return try shelf.reader.keys(of: digest) } catch { throw CoverFailure(cache: error, url: text) }
    }

    /// The same of many, on a thread that may block; none for a request that cannot be used.
    func keys(of requests: [CoverRequest]) async throws(CoverFailure) -> [[String]] {
        let keys = { @Sendable [self] in requests.map { (try? self.keys(of: $0)) ?? [] } }
        if requests.allSatisfy({ $0.digest == nil }) { return keys() }
        return try await shelf.read(of: "") { _ in keys() }
    }

    /// A request's usable URLs. Those of a digest are its keys.
    /// - Throws: `CoverFailure` if there is none, unless a digest is not cached.
    func urls(of request: CoverRequest) throws(CoverFailure) -> [HTTPURL] { try addresses(of: request).map(\.url) }

    /// The same, each with its text as given.
    func addresses(of request: CoverRequest) throws(CoverFailure) -> [(location: String, url: HTTPURL)] {
        var addresses: [(location: String, url: HTTPURL)] = []
        if request.digest != nil {
            for key in try keys(of: request) { if let url = try? HTTPURL(key) { addresses.append((key, url)) } }
            return addresses
        }
        let locations = try locations(of: request)
        for location in locations { if let url = try? key(location) { addresses.append((location, url)) } }
        if addresses.isEmpty { addresses = [(locations[0], try key(locations[0]))] }
        return addresses
    }
}
