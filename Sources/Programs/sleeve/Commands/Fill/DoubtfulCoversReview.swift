import CoverGallery
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// The doubtful covers that the gallery shows; they are those of `sleeve fill review`.
struct DoubtfulCoversReview: CoverReview {
    let library: LibraryAPI
    private var configuration: LibraryConfiguration { library.configuration }

    func albums(among albums: [Album]) async throws -> [Album.ID] {
        try await FoundCovers(library).doubtful(among: Set(albums.map(\.id))).map(\.album.id)
    }

    func candidates(of album: Album) async throws -> [ProposedCover] {
        try await found(album) { $0.certainty == .doubtful }.map { candidate in
            ProposedCover(
                pictures: candidate.pictures, source: candidate.source.title, artist: candidate.album.artist,
                title: candidate.album.title, year: candidate.album.year.map { "\($0)" } ?? "",
                tracks: candidate.album.trackCount, evidence: candidate.match.lines)
        }
    }

    func answers(of album: Album) async throws -> [String] {
        try await FoundCovers(library).covers(of: album.id)?.answers.map { "\($0.source.title) – \($0.text)" } ?? []
    }

    func trackCount(of album: Album) -> Int? {
        MusicState.trackCount(of: album.id, in: configuration.libraryPath)
    }

    func refuse(_ pictures: [String]?, of album: Album) async throws -> [String] {
        let covers = try await found(album) { cover in
            cover.certainty == .doubtful && (pictures.map { cover.pictures.contains(where: $0.contains) } ?? true)
        }
        try library.add(await library.decisions(.refused, covers, of: album))
        return covers.compactMap(\.pictures.first)
    }

    func allow(_ pictures: [String], of album: Album) async throws {
        let covers = try await found(album) { $0.match == .refused && $0.pictures.contains(where: pictures.contains) }
        let said = MusicState.decisions(of: configuration.libraryPath)[album.id] ?? .init()
        try library.add(said.allowing(covers))
    }

    private func found(_ album: Album, _ isWanted: (SourceCandidate) -> Bool) async throws -> [SourceCandidate] {
        try await FoundCovers(library).covers(of: album.id)?.covers.filter(isWanted) ?? []
    }
}
