import AlbumLibrary
import CoverCache
public import CoverFetch
import CurlHTTP
public import Platform

extension LibraryAPI {
    /// `statistics()` without the times and the size on disk. Uncommitted covers are left out.
    /// - Throws: `LibraryError`.
    package func cacheTotals() async throws(LibraryError) -> CacheStatistics { try await reading { try $0.totals() } }

    /// Runs `body` with the cache on a thread that may block.
    /// - Parameter commits: what is not committed yet is committed before.
    func reading<Result: Sendable>(
        committed commits: Bool = false, _ body: @escaping @Sendable (CacheReader) throws -> Result
    ) async throws(LibraryError) -> Result {
        do {
            await covers.shelf.flushUsage()
            if commits { try await covers.persistency.settle() }
            return try await covers.shelf.read(body)
        } catch {
            throw LibraryError(error)
        }
    }

    // MARK: What is cached

    /// The keys of a cover in the cache, in the order of trying: normalised URLs, as in `CoverListing.url` and in events. An album
    /// may have several. Those of a digest are all under which its bytes are cached, read on the caller's thread; none if they are not.
    /// - Throws: `CoverFailure` if nothing usable locates the cover.
    public func keys(of cover: some CoverRequestConvertible) throws(CoverFailure) -> [String] {
        try covers.keys(of: cover.coverRequest)
    }

    /// Whether covers are cached, many in one read. Never connects, and counts as no use.
    /// - Parameter requests: URLs, albums, or requests.
    /// - Returns: for each, in order, its first URL's cover that is cached; nil if none is, or its URL cannot be used.
    /// - Throws: `CoverFailure` if the index cannot be read, or the library is closed.
    public func statuses(
        of requests: some Sequence<some CoverRequestConvertible>
    ) async throws(CoverFailure) -> [CoverStatus?] {
        let keys = try await covers.keys(of: requests.map(\.coverRequest))
        let all = keys.flatMap(\.self)
        if all.isEmpty, !covers.isClosed { return keys.map { _ in nil } }
        await covers.restorePictures(all)
        var found = try await covers.shelf.read(of: "") { try $0.status(of: all, counting: false) }[...]
        let now = WallClock.milliseconds()
        return keys.map { keys in
            defer { found = found.dropFirst(keys.count) }
            return found.prefix(keys.count).lazy.compactMap(\.self).first.map { CoverStatus($0, at: now) }
        }
    }

    /// The file of a cached cover, for `sendfile` and for what reads in pieces; nil if it is not cached. Never connects. The whole
    /// file is compared with its digest first, on a thread that may block.
    /// - Parameters:
    ///   - cover: a URL, an album, or a request, of which only the URLs or the digest count.
    ///   - longestSide: as that of `cover(for:longestSide:)`. The file is the cover's own if that is used as it is, or if the cache has no
    ///     room for the size.
    /// - Throws: `CoverFailure` if nothing usable locates the cover, the library is closed, or the cache cannot be read.
    public func cachedFile(
        for cover: some CoverRequestConvertible, longestSide: Int? = nil
    ) async throws(CoverFailure) -> CachedFile? {
        let (request, shelf) = (cover.coverRequest, covers.shelf)
        if let longestSide { try Shelf.requireKept(longestSide, of: request.name) }
        if let text = request.digest {
            guard let digest = Digest(text) else { return nil }
            return try await shelf.cachedFile(text, longestSide) { try $0.entry(digest: digest) }
        }
        for url in try covers.urls(of: request) {
            let key = url.string
            if let file = try await shelf.cachedFile(key, longestSide, { try $0.entry(for: key) }) { return file }
        }
        return nil
    }

    // MARK: A view

    /// A window on covers, for a view that shows some of many: what is in it is downloaded first.
    /// - Parameter id: the type by which the view knows its covers.
    public func window<ID: Hashable & Sendable>(of id: ID.Type = ID.self) -> CoverWindow<ID> { CoverWindow(covers) }

    // MARK: Albums

    /// The URLs of an album's cover in the order of trying: its cover URL, its alternates, the Cover Art Archive's.
    package func coverURLs(of album: Album) -> [String] { album.coverURLs(in: covers.archive) }
}

extension LibraryError {
    init(_ error: any Error) {
        if let error = error as? LibraryError {
            self = error
            return
        }
        let error = CacheError(error)
        self = error == .closed ? .closed : .unusableCache(error.description)
    }
}

/// What the cache knows of a URL.
public struct CoverHistory: Sendable, Hashable, Codable {
    /// An answer that there is no cover.
    public struct Absence: Sendable, Hashable, Codable {
        /// 404 or 410.
        public var status: Int
        /// When the server has answered.
        public var answeredAt: Date
        /// It is not asked again before.
        public var until: Date
    }

    /// The URL as given.
    package var location: String
    /// The cached cover.
    public var cached: CoverListing?
    /// The server has answered that there is no cover.
    public var absence: Absence?

    /// The URL as given.
    public var url: URL { URL(key: location) }

    private enum CodingKeys: String, CodingKey {
        case location = "url"
        case cached, absence
    }
}

extension LibraryAPI {
    /// What the cache knows of the URLs of covers, in order: the cover, or what is remembered of its absence. Never connects, and counts
    /// as no use.
    /// - Parameter requests: URLs, albums, each with all of its URLs, or requests.
    /// - Throws: `CoverFailure` if nothing usable locates one of the covers, or the index cannot be read.
    public func history(
        of requests: some Sequence<some CoverRequestConvertible>
    ) async throws(CoverFailure) -> [CoverHistory] {
        var urls: [(location: String, url: HTTPURL)] = []
        for request in requests { urls += try covers.addresses(of: request.coverRequest) }
        return try await covers.shelf.read(of: urls.first?.location ?? "") { [covers, urls] reader in
            let absences = try covers.absences(of: urls.map(\.url), reader)
            return try urls.indices.map { index in
                let cached = try reader.entry(for: urls[index].url.string).map { CoverListing($0) }
                let absence = absences[index].map { absence in
                    CoverHistory.Absence(
                        status: absence.status, answeredAt: Date(milliseconds: absence.answeredAt),
                        until: Date(milliseconds: absence.until))
                }
                return CoverHistory(location: urls[index].location, cached: cached, absence: absence)
            }
        }
    }
}
