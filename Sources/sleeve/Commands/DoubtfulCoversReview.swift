import CoverGallery
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// The doubtful covers that the gallery shows; they are those of `sleeve fill --review`.
struct DoubtfulCoversReview: CoverReview {
    let configuration: LibraryConfiguration

    /// Nil before a source was asked. Fills of other processes may create it at any time.
    private var memory: SourceMemory? { .existing(for: configuration) }

    func albums(among albums: [Album]) async throws -> [Album.ID] {
        try await memory?.doubtfulAlbums(among: albums).map(\.id) ?? []
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
        try await memory?.refuse(found(album), of: AlbumQuery(album).key)
    }

    private func found(_ album: Album) async throws -> [SourceCandidate] {
        try await memory?.record(of: AlbumQuery(album).key).candidates.filter { $0.certainty == .doubtful } ?? []
    }
}
