import CoverGallery
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// The doubtful covers that the gallery shows; they are those of `sleeve fill review`.
struct DoubtfulCoversReview: CoverReview {
    let configuration: LibraryConfiguration

    /// Nil before a source was asked. Fills of other processes may create the memory at any time.
    private func covers(_ albums: [Album]) -> FoundCovers? {
        SourceMemory.existing(for: configuration).map {
            FoundCovers($0, albums, archive: configuration.coverArtArchive.absoluteString)
        }
    }

    func albums(among albums: [Album]) async throws -> [Album.ID] {
        try await covers(albums)?.doubtful().map(\.album.id) ?? []
    }

    func candidates(of album: Album) async throws -> [ProposedCover] {
        try await found(album).map { candidate in
            ProposedCover(
                pictures: candidate.pictures, source: candidate.source.title, artist: candidate.album.artist,
                title: candidate.album.title, year: candidate.album.year.map { "\($0)" } ?? "",
                reason: candidate.match.reason)
        }
    }

    func refuse(_ album: Album) async throws { try await covers([album])?.refuse(found(album), of: album) }

    private func found(_ album: Album) async throws -> [SourceCandidate] {
        try await covers([album])?.covers(of: 1).covers.filter { $0.certainty == .doubtful } ?? []
    }
}
