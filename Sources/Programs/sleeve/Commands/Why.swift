import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

struct Why: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", _superCommandName: "sleeve",
        abstract: "Tell where a cover was looked for, with each answer.",
        discussion: """
              sleeve why "Low Tide"
              sleeve why ~/Music/Cairn
              sleeve why https://example.org/cover.jpg

            For an album: the cover that is shown, its cover files, the services that were asked for it, the covers that they offered and how certain each is, and what \
            the cache knows of each of its addresses. For a URL: what the cache knows of it. Nothing is requested. `sleeve album show` shows the \
            album's fields.
            """)

    @Argument(
        help: ArgumentHelp(
            "The album's number in `fill review`, else in `album list`; its title, id, or folder; or a URL.",
            valueName: "album or url"))
    var subject: String

    @OptionGroup(visibility: .hidden) var archive: ArchiveServerOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        var configuration = try options.configuration()
        try archive.apply(to: &configuration)
        configuration.isOffline = true
        try await withLibrary(configuration, createsCache: false) { library in
            let report = try await report(in: library)
            if options.json { try printJSON(report) } else { try printResult(report.text) }
        }
    }

    private func report(in library: LibraryAPI) async throws -> CoverReport {
        if subject.contains("://") {
            return CoverReport(urls: try await histories(of: [subject], in: library).map { .init($0) })
        }
        let albums = try await library.existingAlbums()
        let album = albums[
            try AlbumReference(argument: subject).index(
                in: albums, of: library.configuration.libraryPath, inReview: true)]
        let archive = CoverSource.table(
            [.caa], bases: [.caa: library.configuration.coverArtArchive.absoluteString])
        let known = archive.flatMap { $0.known(AlbumQuery(album)) }
        let found = try await FoundCovers(library).covers(of: album.id)
        // Those that ids locate count only if a person has decided about them: whether they are there is not known.
        // An address that a person gave is no find: what is known of it is said below.
        let candidates =
            found?.covers.filter { cover in
                !cover.match.lines.isEmpty && !(cover.name.isAddress && cover.match == .accepted)
            } ?? []
        var scanned = ScannedAlbum()
        let state = try MusicState.existing(of: library.configuration.libraryPath)
        scanned.places = try state?.places(of: album.id) ?? []
        let written = try state?.written(of: album.id) ?? []
        let formers = try state?.written(in: scanned.places.flatMap(\.allFolders)) ?? []
        let record = try state?.albums().first { $0.id == album.id }
        let outdated = try await outdated(written, of: album, record, albums, state, library.configuration)
        let plan = FillPlan(
            [(scanned, album)], written: [], options: .init(), obstacle: FillPlan.Obstacle.ofWriting)
        var urls = library.coverURLs(of: album)
        for cover in candidates where cover.certainty != .none {
            for url in cover.pictures where !urls.contains(url) { urls.append(url) }
        }
        // A fill asks the archive for other sizes, too.
        let pictures = known.flatMap(\.pictures).filter { !urls.contains($0) }
        let others = try await histories(of: pictures, in: library).filter { history in
            history.cached != nil || history.absence != nil
        }
        let addresses = try await histories(of: urls.filter { URL(string: $0) != nil }, in: library)
        let cached = Set(addresses.lazy.filter { $0.cached != nil }.map(\.location))
        let shown = await library.shownCovers(
            of: [album], files: { $0.map { Cover(fileOf: $0)?.url.path(percentEncoded: false) } },
            addressed: {
                $0.map { library.coverURLs(of: $0).first(where: cached.contains).map { Redaction.redact($0) } }
            })
        return CoverReport(
            album: album.redacted, shown: shown[0]?.found, sources: found?.answers.map { .init($0) } ?? [],
            files: CoverReport.File.all(
                of: album, written: written + formers.filter { $0.album != album.id }, outdated: outdated,
                names: Dictionary(albums.map { ($0.id, $0.fullName) }) { first, _ in first },
                embedded: (try? state?.embeddedPictures()) ?? [], scanned.places),
            isGone: record?.isGone == true ? true : nil,
            obstacles: plan.obstacles.map { "\($0.folder): \($0.obstacle.reason)" },
            candidates: candidates.map { .init($0) },
            urls: (addresses + others).map { .init($0) })
    }

    /// Those files, by their numbers, that are not certain for the album as the last scan found it.
    private func outdated(
        _ written: [Written], of album: Album, _ record: AlbumRecord?, _ albums: [Album], _ state: MusicState?,
        _ configuration: LibraryConfiguration
    ) async throws -> [Int64: OutdatedCover.Cause] {
        guard let state, let record else { return [:] }
        var covers = try OutdatedCovers(albums, state, configuration)
        let query = AlbumQuery(record.facts, edited: album)
        var outdated: [Int64: OutdatedCover.Cause] = [:]
        for file in written {
            guard let found = try await covers.judge(file, for: query), found.isOther else { continue }
            outdated[file.number] = found.cause
        }
        return outdated
    }

    private func histories(of urls: [String], in library: LibraryAPI) async throws -> [CoverHistory] {
        var histories: [CoverHistory] = []
        for url in urls {
            do throws(CoverFailure) {
                histories += try await library.history(of: [CoverRequest(location: url)])
            } catch {
                if urls.count == 1 || error.kind != .badURL { throw error }
            }
        }
        return histories
    }
}
