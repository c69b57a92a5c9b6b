import AlbumLibrary
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

extension FoundCovers {
    /// Nil if no source was ever asked for the library. Fills of other processes may ask one at any time.
    init?(_ albums: [AlbumLibrary.Album], _ configuration: LibraryConfiguration) {
        guard let memory = SourceMemory.existing(for: configuration) else { return nil }
        self.init(memory, albums, archive: configuration.coverArtArchive.absoluteString)
    }

    init?(_ library: LibraryAPI) async throws { self.init(try await library.albums.all(), library.configuration) }

    /// The covers that a person names: those of an album, or at a URL.
    /// - Parameter createsMemory: Decide even if no source was ever asked.
    /// - Throws: An exit code, after an error message, if there is no such album, or nothing at the URL.
    static func named(
        _ reference: String, in library: LibraryAPI, createsMemory: Bool = false
    ) async throws -> [(FoundCovers, FoundCovers.Album)] {
        let (configuration, albums) = (library.configuration, try await library.albums.all())
        if createsMemory { _ = SourceMemory.open(for: configuration) }
        guard let covers = FoundCovers(albums, configuration) else {
            throw fail("no source was asked yet; `sleeve fill` looks for covers")
        }
        guard reference.contains("://") else {
            let number = try AlbumReference(argument: reference).index(in: albums, of: configuration.libraryPath) + 1
            return [(covers, try await covers.covers(of: number))]
        }
        let found = try await covers.covers(at: reference)
        if found.isEmpty { throw fail("no source has offered a cover at \(reference); name its album") }
        return found.map { (covers, $0) }
    }
}

extension LibraryAPI {
    /// The pictures of an album that no source has offered: that of its tags, and those at addresses that a person or a list gave.
    func pictures(of album: AlbumLibrary.Album, beside covers: [SourceCandidate]) async -> [SourceCandidate] {
        var scanned = ScannedAlbum()
        scanned.places = MusicState.places(of: album.id, in: configuration.libraryPath)
        var digests = [scanned.sharedPicture?.digest].compactMap(\.self)
        for url in [album.coverURL].compactMap(\.self) + album.alternateCoverURLs
        where !covers.contains(where: { $0.pictures.contains(url) }) {
            digests += ((try? await history(of: [url])) ?? []).compactMap { $0.cached?.digest }
        }
        return Set(digests).map { SourceCandidate(picture: $0, of: AlbumQuery(album)) }
            .filter { one in !covers.contains { $0.pictures == one.pictures } }
    }

    /// The covers of fills that a person has removed, with their albums as `fill review` prints them.
    func removedCovers() async throws -> [(name: String, file: WrittenFile)] {
        guard let state = MusicState.existing(of: configuration.libraryPath) else { return [] }
        let names = try await albums.all().enumerated().map {
            ($0.element.id, "\($0.offset + 1). \($0.element.fullName)")
        }
        let byID = Dictionary(names) { first, _ in first }
        return try state.removedFiles().compactMap { file in byID[file.album].map { ($0, file) } }
    }
}
