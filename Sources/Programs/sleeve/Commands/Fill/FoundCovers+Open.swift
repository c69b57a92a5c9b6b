import AlbumLibrary
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

extension FoundCovers {
    init(_ library: LibraryAPI) async throws {
        let configuration = library.configuration
        self.init(
            library, at: configuration.libraryPath, try await library.albums.all(),
            SourceMemory.existing(for: configuration),
            CoverSource.all(bases: [.caa: configuration.coverArtArchive.absoluteString]))
    }

    /// The covers that a person names: those of an album, or at a URL.
    /// - Throws: An exit code, after an error message, if there is no such album, or nothing at the URL.
    static func named(_ reference: String, in library: LibraryAPI) async throws -> [FoundCovers.Album] {
        let (configuration, albums) = (library.configuration, try await library.albums.all())
        let covers = try await FoundCovers(library)
        guard reference.contains("://") else {
            let index = try AlbumReference(argument: reference).index(in: albums, of: configuration.libraryPath)
            return [try await covers.covers(of: albums[index].id)].compactMap(\.self)
        }
        let found = try await covers.covers(at: reference)
        if found.isEmpty {
            let hint = "`sleeve album edit --cover-url` gives an album another one"
            throw fail("no source has offered a cover at \(reference); \(hint)")
        }
        return found
    }
}

extension OutdatedCovers {
    init(_ albums: [AlbumLibrary.Album], _ state: MusicState, _ configuration: LibraryConfiguration) throws {
        self.init(
            albums, try state.decisions(), CoverSource.all(), SourceMemory.existing(for: configuration),
            pictureName: { try state.pictureName(of: $0) })
    }
}

extension LibraryAPI {
    /// Remembers decisions, also while a fill runs.
    func add(_ decisions: [Decision]) throws {
        try MusicFolderOptions.openState(configuration, isAlone: false).add(decisions)
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
    func removedCovers() async throws -> [(name: String, file: Written)] {
        guard let state = MusicState.existing(of: configuration.libraryPath) else { return [] }
        let names = try await albums.all().enumerated().map {
            ($0.element.id, "\($0.offset + 1). \($0.element.fullName)")
        }
        let byID = Dictionary(names) { first, _ in first }
        return try state.removed().compactMap { file in byID[file.album].map { ($0, file) } }
    }
}
