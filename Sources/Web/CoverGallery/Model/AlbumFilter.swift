import AlbumLibrary
import CoverLibrary
import Platform

/// What an album's cover lacks.
enum AlbumFilter: String {
    /// None is cached, whatever the reason.
    case uncovered
    /// None is cached: the address cannot be used, or the last request has failed.
    case failed
    /// The cached one has less than `smallest` pixels along its longer side.
    case small
    /// A source has a cover that may be another album's.
    case doubtful

    /// As the default of `sleeve audit --min`.
    private static let smallest = 500

    /// The albums to which it applies, in no order.
    /// - Throws: `LibraryError`, `CoverFailure`, or the error of `CoverReview`.
    func albums(of model: GalleryModel) async throws -> [Album.ID] {
        let albums = try await model.library.albums.current().albums
        if self == .doubtful { return try await model.review?.albums(among: albums) ?? [] }
        let covers = try await model.albums.covers(of: albums.map(\.id), readsFiles: self == .small)
        switch self {
        case .failed:
            let uncached = covers.filter { $0.cached == nil }
            let tried = await model.sessions.failed(among: uncached.flatMap(\.keys))
            let absent = Set(
                try await model.library.history(of: uncached.flatMap(\.keys)).filter { $0.absence != nil }.map(\.url))
            return uncached.filter { cover in
                ![nil, .noAddress].contains(cover.problem)
                    || cover.keys.contains { tried.contains($0) || absent.contains($0) }
            }.map(\.album)
        case .small:
            var small: Set<String> = []
            for try await listing in model.library.listings() {
                guard let width = listing.width, let height = listing.height else { continue }
                if max(width, height) < Self.smallest { small.insert(listing.digest) }
            }
            for version in await model.albums.files.versions(of: albums).values {
                if let digest = version.digest, let side = version.longestSide, side < Self.smallest {
                    small.insert(digest)
                }
            }
            return covers.filter { $0.cached.map { small.contains($0.digest) } ?? false }.map(\.album)
        default: return covers.filter { $0.cached == nil && $0.written == nil }.map(\.album)
        }
    }
}
