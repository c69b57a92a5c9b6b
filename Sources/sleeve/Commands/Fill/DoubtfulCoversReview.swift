import CoverGallery
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// The doubtful covers that the gallery shows; they are those of `sleeve fill review`.
struct DoubtfulCoversReview: CoverReview {
    let configuration: LibraryConfiguration

    func albums(among albums: [Album]) async throws -> [Album.ID] {
        try await FoundCovers(albums, configuration)?.doubtful().map(\.album.id) ?? []
    }

    func candidates(of album: Album) async throws -> [ProposedCover] {
        try await found(album).map { candidate in
            ProposedCover(
                pictures: candidate.pictures, source: candidate.source.title, artist: candidate.album.artist,
                title: candidate.album.title, year: candidate.album.year.map { "\($0)" } ?? "",
                reason: candidate.match.reason)
        }
    }

    func refuse(_ album: Album) async throws {
        try await FoundCovers([album], configuration)?.refuse(found(album), of: album)
    }

    private func found(_ album: Album) async throws -> [SourceCandidate] {
        try await FoundCovers([album], configuration)?.covers(of: 1).covers.filter { $0.certainty == .doubtful } ?? []
    }
}
