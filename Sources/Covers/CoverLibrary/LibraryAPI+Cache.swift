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
    /// may have several.
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
        let keys = requests.map { (try? covers.keys(of: $0.coverRequest)) ?? [] }
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
    /// - Parameter cover: a URL, an album, or a request, of which only the URLs count.
    /// - Throws: `CoverFailure` if nothing usable locates the cover, the library is closed, or the cache cannot be read.
    public func cachedFile(for cover: some CoverRequestConvertible) async throws(CoverFailure) -> CachedFile? {
        for url in try covers.urls(of: cover.coverRequest) {
            let key = url.string
            if let file = try await covers.shelf.cachedFile(key, { try $0.entry(for: key) }) { return file }
        }
        return nil
    }

    /// As `cachedFile(for:)`, of the cached cover whose bytes have this digest, under whichever URL.
    /// - Parameter digest: as `Cover.digest`; nothing else names a cover.
    public func cachedFile(digest: String) async throws(CoverFailure) -> CachedFile? {
        guard let digest = Digest(digest) else { return nil }
        return try await covers.shelf.cachedFile("") { try $0.entry(digest: digest) }
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
    public var url: String
    /// The cached cover.
    public var cached: CoverListing?
    /// The server has answered that there is no cover.
    public var absence: Absence?
}

extension LibraryAPI {
    /// What the cache knows of URLs, in order: the cover, or what is remembered of its absence. Never connects, and counts as no use.
    /// - Throws: `CoverFailure` if a URL is not one of http or https, or the index cannot be read.
    public func history(of urls: [String]) async throws(CoverFailure) -> [CoverHistory] {
        var locations: [HTTPURL] = []
        for url in urls { locations.append(try covers.key(url)) }
        return try await covers.shelf.read(of: urls.first ?? "") { [covers, locations] reader in
            let absences = try covers.absences(of: locations, reader)
            return try urls.indices.map { index in
                let cached = try reader.entry(for: locations[index].string).map { CoverListing($0) }
                let absence = absences[index].map { absence in
                    CoverHistory.Absence(
                        status: absence.status, answeredAt: Date(milliseconds: absence.answeredAt),
                        until: Date(milliseconds: absence.until))
                }
                return CoverHistory(url: urls[index], cached: cached, absence: absence)
            }
        }
    }
}
