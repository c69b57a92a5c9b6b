import CoverCache
import CoverFetch
import CurlHTTP
import ImageHeader
import Platform

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
            await covers.flushUsage()
            if commits { try await covers.persistency.settle() }
            return try await covers.read(body)
        } catch {
            throw LibraryError(error)
        }
    }

    /// A cached cover without its bytes.
    package struct CoverStatus: Sendable {
        package let digest: String
        /// As `Cover.isStale`.
        package let isStale: Bool
        /// In milliseconds since 1970; nil if the response states no lifetime.
        package let freshUntil: Int64?
        /// The dominant colour, as `#rrggbb`; nil before a size of the cover was made.
        package let color: String?

        init(digest: String, isStale: Bool, freshUntil: Int64?, color: String?) {
            (self.digest, self.isStale, self.freshUntil, self.color) = (digest, isStale, freshUntil, color)
        }

        /// A cover that is a person's file, which no server has.
        package init(digest: String) { self.init(digest: digest, isStale: false, freshUntil: nil, color: nil) }
    }

    /// The cached covers of keys (`Album.coverKey`), in order; nil for those missing.
    /// - Throws: `CoverFailure` if the index cannot be read.
    package func statuses(of keys: [String]) async throws(CoverFailure) -> [CoverStatus?] {
        if keys.isEmpty { return [] }
        do {
            var statuses = try await covers.read { try $0.status(of: keys, counting: false) }
            if await covers.restorePictures(zip(keys, statuses).filter { $1 == nil }.map { $0.0 }) {
                statuses = try await covers.read { try $0.status(of: keys, counting: false) }
            }
            let now = WallClock.milliseconds()
            return statuses.map { status in
                status.map {
                    CoverStatus(
                        digest: $0.digest.description,
                        isStale: !Staleness.isFresh(until: $0.freshUntil, validatedAt: $0.validatedAt, at: now),
                        freshUntil: $0.freshUntil,
                        color: $0.color.map { "#\(String($0 & 0xFF_FFFF | 1 << 24, radix: 16).dropFirst())" })
                }
            }
        } catch {
            throw CoverFailure(cache: error, url: "")
        }
    }

    /// The cached cover of a URL; nil if there is none.
    /// - Throws: `CoverFailure`, for a URL that is none, too.
    package func status(of url: String) async throws(CoverFailure) -> CoverStatus? {
        try await statuses(of: [covers.key(url).string])[0]
    }

    /// The cached cover whose bytes have this digest; nil if there is none. Never connects. Reads on a thread that may block.
    /// - Parameter digest: as `Cover.digest`; nothing else names a cover.
    /// - Throws: `CoverFailure` if the index or the file cannot be read.
    package func openCover(digest: String) async throws(CoverFailure) -> OpenCover? {
        guard let digest = Digest(digest) else { return nil }
        return try await covers.openCover(digest)
    }

    /// The URLs of an album's cover in the order of trying: its cover URL, its alternates, the Cover Art Archive's.
    package func coverURLs(of album: Album) -> [String] { album.coverURLs(in: covers.archive) }

    /// Whether the cover of an album is a person's file, and nothing can be downloaded for it.
    package func isFileAlone(_ album: Album) -> Bool { album.coverFile != nil && coverURLs(of: album).isEmpty }

    /// The same as keys of the cache, without unusable URLs.
    /// - Throws: `CoverFailure` if nothing usable locates the cover.
    package func coverKeys(of album: Album) throws(CoverFailure) -> [String] {
        let keys = coverURLs(of: album).compactMap { try? covers.key($0).string }
        return keys.isEmpty ? [try album.coverKey] : keys
    }

    /// Downloads covers that are not cached. Returns when their requests are queued.
    /// - Parameters:
    ///   - wanted: for each cover, the URLs where it may be, in the order of trying; at least one, and the first is its key. A cover is urgent if a person asked
    ///     to try again: what is remembered of its URL and its host does not count.
    ///   - order: keys of the covers that are outstanding, by falling priority. Unsent requests are reordered accordingly.
    ///   - withdrawn: keys that are no longer wanted. Their requests are cancelled unless they are in flight.
    ///   - completion: called once for each cover, with its key and its digest, on any thread.
    package func fetch(
        _ wanted: [(urls: [String], isUrgent: Bool)], order: [String], withdrawing withdrawn: [String],
        completion: @escaping @Sendable (_ key: String, Result<String, CoverFailure>) -> Void
    ) async {
        await covers.fetch(wanted, order: order, withdrawing: withdrawn, for: CoverWall(completion))
    }
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
