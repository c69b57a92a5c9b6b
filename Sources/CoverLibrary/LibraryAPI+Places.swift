import CurlHTTP

// Covers of albums, which may be in several places.
extension LibraryAPI {
    /// Where an album's cover may be, in the order of trying: `coverUrl`, `coverUrls`, the Cover Art Archive's.
    package func coverPlaces(of album: Album) -> [String] { album.coverURLs(in: archive) }

    /// The same as keys of the cache, those left out that are no URLs.
    /// - Throws: `CoverFailure`: nothing says where it is, or nothing that can be fetched.
    package func coverKeys(of album: Album) throws(CoverFailure) -> [String] {
        let keys = coverPlaces(of: album).compactMap { try? HTTPURL($0).string }
        return keys.isEmpty ? [try album.coverKey] : keys
    }

    /// The cover of `album`: the first of its places that is in the cache, else the first that has one.
    /// - Parameter retryingAbsent: as for `cover(for:)`.
    /// - Throws: `CoverFailure`, which names every URL that was tried.
    public func cover(of album: Album, retryingAbsent: Bool = false) async throws -> Cover {
        let places = coverPlaces(of: album)
        if places.isEmpty { return try await cover(for: album.coverKey) }
        return try await cover(in: places, retryingAbsent: retryingAbsent)
    }

    /// As `cover(of:)`. - Parameter places: at least one.
    package func cover(in places: [String], retryingAbsent: Bool) async throws -> Cover {
        if places.count == 1 { return try await cover(for: places[0], retryingAbsent: retryingAbsent) }
        for place in places {
            if let cover = try? cachedCover(for: place) { return cover }
        }
        var failures: [CoverFailure] = []
        for place in places {
            do {
                return try await cover(for: place, retryingAbsent: retryingAbsent)
            } catch let failure as CoverFailure {
                if failure.endsChain { throw failure }
                failures.append(failure)
            }
        }
        throw CoverFailure(of: failures)
    }
}

extension CoverFailure {
    /// No other place would do better.
    var endsChain: Bool { kind == .cancelled || kind == .cache }

    /// What became of a cover that was to be had in several places, in the order of trying: the first failure of one place, or
    /// the first that may pass, with what is to be said of all. - Parameter failures: at least one.
    init(of failures: [CoverFailure]) {
        let cause = failures.firstIndex { $0.mayPass } ?? 0
        self = failures[cause]
        isElsewhere = isElsewhere || cause > 0
        url = failures[0].url
        guard failures.count > 1 else { return }
        detail = failures[0].detail + failures.dropFirst().map { "; then \($0.message)" }.joined()
    }
}
