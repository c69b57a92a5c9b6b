import AlbumLibrary
import ArgumentParser
import CommandSupport
import CoverGallery
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

struct FillReview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review", _superCommandName: "sleeve fill",
        abstract: "List the doubtful covers that were found.",
        discussion: """
            `fill accept`, `fill refuse`, `fill allow` and `why` take an album as it is printed, its number, which is never given to another \
            one, or the URL of a cover.
            """)

    @Flag(help: "List the covers that you refused, and those of fills that you removed.")
    var refused = false

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withAlbums(try options.configuration()) { library in
            let covers = try await FoundCovers(library)
            let found = refused ? try await covers.refused() : try await covers.doubtful()
            let (repeated, others) = (found.filter(isRepeated), found.filter { !isRepeated($0) })
            var removed = refused ? try await library.removedCovers() : []
            for album in others {
                try print(album, removed.filter { $0.album.id == album.album.id }.map(\.file))
                removed.removeAll { $0.album.id == album.album.id }
            }
            try print(repeated: repeated)
            let isNothing = found.isEmpty && removed.isEmpty
            while let album = removed.first?.album {
                try print(album.fullName, removed.filter { $0.album.id == album.id }.map(\.file))
                removed.removeAll { $0.album.id == album.id }
            }
            if options.json || options.quiet || !isNothing { return }
            try printResult(refused ? "No refused covers.\n" : "No doubtful covers.\n")
        }
    }

    /// Whether the covers of an album are told with those of others.
    private func isRepeated(_ found: FoundCovers.Album) -> Bool {
        !options.json && found.covers.allSatisfy { $0.match.ground == .repeated }
    }

    /// - Parameter removed: What a person has removed of the album's covers.
    private func print(_ found: FoundCovers.Album, _ removed: [Written]) throws {
        if !options.json { return try print(found.name, removed, found.covers) }
        for cover in found.covers {
            let (album, url) = (cover.album, cover.pictures.first.map { Redaction.redact($0) })
            let line: JSONObject = [
                "album": found.album.id, "number": found.proposal, "artist": found.album.artist,
                "title": found.album.title, "source": cover.source.rawValue, "foundArtist": album.artist,
                "foundTitle": album.title, "foundYear": album.year, "foundTracks": album.trackCount,
                "reason": cover.match.reason, "url": url,
            ]
            try printResult(line.text + "\n")
        }
        try print(found.name, removed)
    }

    /// An album in at most six lines: its name, two for each cover, one for each file that a person has removed, and one that counts the rest.
    private func print(_ name: String, _ removed: [Written], _ covers: [SourceCandidate] = []) throws {
        if options.json {
            for file in removed {
                let line: JSONObject = ["album": file.album, "removed": "\(file.path)"]
                try printResult(line.text + "\n")
            }
            return
        }
        let all =
            covers.map { [$0.summary, $0.pictures.first.map { Redaction.redact($0) } ?? ""] }
            + removed.map { file in
                let verb = file.state == .removed ? "you removed" : "gone:"
                return ["\(verb) \(file.kind == .file ? "" : "the picture of ")\(file.path)"]
            }
        let isShort = all.joined().count < 6
        let shown = all.reduce(into: [[String]]()) { shown, part in
            if isShort || (shown + [part]).joined().count < 5 { shown.append(part) }
        }
        try printLine(name)
        for line in shown.joined() { try printLine("  \(line)") }
        let more = all.count - shown.count
        if more > 0 { try printLine("  \(more) more; `sleeve why` lists them") }
    }

    /// Such albums stand in one line, before the URLs of the pictures.
    private func print(repeated found: [FoundCovers.Album]) throws {
        if found.isEmpty { return }
        try printLine("\(found.map(\.name).joined(separator: "; ")): \(Match.repeated.reason)")
        var seen: Set<String> = []
        for url in found.flatMap(\.covers).compactMap(\.pictures.first) where seen.insert(url).inserted {
            try printLine("  \(Redaction.redact(url))")
        }
    }
}

extension FoundCovers.Album {
    /// As the other commands take it.
    fileprivate var name: String { (proposal.map { "\($0). " } ?? "") + album.fullName }
}

extension SourceCandidate {
    /// What the source has, and how that is judged.
    fileprivate var summary: String {
        let title = album.title + (album.year.map { " (\($0))" } ?? "")
        let tracks = album.trackCount.map { Decimals.count($0, "track") }
        let text = [album.artist, title, tracks].compactMap(\.self).joined(separator: ", ")
        return "\(source.title): \(text); \(match.reason)"
    }
}

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
        try? MusicState.existing(of: configuration.libraryPath)?.trackCount(of: album.id)
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
        try MusicFolderOptions.openState(configuration, isAlone: false).allow(covers, of: album.id)
    }

    private func found(_ album: Album, _ isWanted: (SourceCandidate) -> Bool) async throws -> [SourceCandidate] {
        try await FoundCovers(library).covers(of: album.id)?.covers.filter(isWanted) ?? []
    }
}

extension FoundCovers {
    init(_ library: LibraryAPI) async throws {
        let configuration = library.configuration
        try self.init(
            library, MusicState.existing(of: configuration.libraryPath), await library.albums.all(),
            SourceMemory.existing(for: configuration),
            CoverSource.all(bases: [.caa: configuration.coverArtArchive.absoluteString]))
    }

    /// The covers that a person names: those of an album, or at a URL.
    /// - Throws: An exit code, after an error message, if there is no such album, or nothing at the URL.
    static func named(_ reference: String, in library: LibraryAPI) async throws -> [FoundCovers.Album] {
        let (configuration, albums) = (library.configuration, try await library.albums.all())
        let covers = try await FoundCovers(library)
        guard reference.contains("://") else {
            let index = try AlbumReference(argument: reference).index(
                in: albums, of: configuration.libraryPath, inReview: true)
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

    /// Writes down what the addresses say that a person gave the albums, before more is said.
    func acceptAddresses() async throws {
        try MusicFolderOptions.openState(configuration, isAlone: false).acceptAddresses(of: await albums.all())
    }

    /// The pictures of an album that no source has offered: that of its tags, and those at addresses that a person or a list gave.
    func pictures(of album: AlbumLibrary.Album, beside covers: [SourceCandidate]) async throws -> [SourceCandidate] {
        var scanned = ScannedAlbum()
        scanned.places = try MusicState.existing(of: configuration.libraryPath)?.places(of: album.id) ?? []
        var digests = [scanned.sharedPicture?.digest.description].compactMap(\.self)
        for url in [album.coverURL].compactMap(\.self) + album.alternateCoverURLs
        where !covers.contains(where: { $0.pictures.contains(url) }) {
            digests += ((try? await history(of: [CoverRequest(location: url)])) ?? []).compactMap { $0.cached?.digest }
        }
        return Set(digests).map { SourceCandidate(picture: $0, of: AlbumQuery(album)) }
            .filter { one in !covers.contains { $0.pictures == one.pictures } }
    }

    /// The covers of fills that a person has removed, with their albums.
    func removedCovers() async throws -> [(album: AlbumLibrary.Album, file: Written)] {
        guard let state = try MusicState.existing(of: configuration.libraryPath) else { return [] }
        let byID = Dictionary(try await albums.all().map { ($0.id, $0) }) { first, _ in first }
        return try state.removed().compactMap { file in byID[file.album].map { ($0, file) } }
    }
}
