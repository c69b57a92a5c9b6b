import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", _superCommandName: "sleeve",
        abstract: "List the albums whose cover is missing or bad.",
        discussion: """
              sleeve audit ~/Music
              sleeve audit ~/Music --only missing,small --min-pixels 1000
              sleeve audit --json | jq -r 'select(.kind == "damaged").path'

            Without DIR, the folders that were scanned for the library. It reads each cover file, and changes nothing. An album's cover is the file beside its \
            music, else the picture in its tags. `sleeve fill --dry-run` says where missing ones would be looked for.

            Each line has a kind, the album, what is wrong and a path. The kinds, in this order:
              missing      no cover file, and not every track has one in its tags
              small        a side has fewer pixels than --min-pixels; unknown sizes are not
              damaged      no image, cut off, or not readable
              placeholder  what services show in place of a cover, or under 16 pixels
              repeated     the same picture on albums of three artists under two titles
              outdated     of a fill, for other tags or refused since, not certain now

            Whether a picture in the tags is cut off is not checked.

            Exits with 3 if anything is found, or if a file or a folder could not be read; with 75 if another scan for the library is running.
            """)

    @Option(
        help: ArgumentHelp("Covers with a side of fewer pixels are small. (default: 500)", valueName: "pixels"))
    var minPixels: Int?

    @Option(
        help: ArgumentHelp(
            "List only these, separated by commas: \(AuditKind.allCases.map(\.rawValue).joined(separator: ", ")). (default: all)",
            valueName: "kinds"))
    var only: [CommaSeparated<AuditKind>] = []

    @OptionGroup var music: MusicFolders
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if let minPixels, minPixels < 0 { throw ValidationError("--min-pixels needs a number of pixels, 0 or more.") }
    }

    func run() async throws {
        let configuration = try options.configuration()
        try configuration.requireLibraryFile()
        // A command that reads moves nothing aside.
        _ = try MusicState.existing(of: configuration.libraryPath)
        let state = try MusicFolderOptions.openState(configuration)
        let (scan, missing) = try music.scan(else: try music.remembered(state, to: "to audit"))
        let outcome = try await MusicFolderOptions.run(LibraryScan(scan), nil, state, options, progress)
        try stopIfSignalled()
        let kinds = Set(only.isEmpty ? AuditKind.allCases : only.flatMap(\.values))
        let outdated = kinds.contains(.outdated) ? try await outdated(outcome.albums, state, configuration) : [:]
        let places = AuditedPlace.all(of: outcome.albums)
        // No byte of a cover says whether others are missing.
        let covers = kinds == [.missing] ? [] : Set(places.lazy.flatMap(\.covers)).sorted()
        // No picture is compared for the other kinds.
        let isCompared = kinds.contains(.repeated)
        let likenesses = Likenesses(isCompared ? try state.likenesses() : [:])
        let facts = try await facts(of: covers, isCompared ? likenesses : nil)
        try stopIfSignalled()
        if isCompared { try await readTags(of: places, likenesses) }
        try state.save(likenesses.added)
        try stopIfSignalled()
        let findings = Audit(
            places, facts: facts, minimum: minPixels ?? Audit.defaultMinimum, kinds: kinds,
            outdated: outdated, likenesses: likenesses
        ).findings
        let unsized = kinds.contains(.small) ? facts.values.count { $0.damage == nil && $0.width == nil } : 0
        try print(findings, albums: outcome.albums.count, unsized: unsized, leftOut: outcome.leftOut)
        let problems = outcome.problems.count + missing
        if problems + findings.count > 0 { throw ExitStatus.someFailed }
    }

    /// The cover files of fills that are not certain for what was scanned now.
    private func outdated(
        _ scanned: [ScannedAlbum], _ state: MusicState, _ configuration: LibraryConfiguration
    ) async throws -> [BytePath: OutdatedCover.Cause] {
        let files = Dictionary(try state.written().map { ($0.path, $0) }) { $1 }
        // Reading the albums would create the file, and the cache.
        guard !files.isEmpty, FileManager.default.fileExists(atPath: configuration.libraryPath),
            LibraryAPI.hasCache(at: configuration.cacheDirectory)
        else { return [:] }
        var albums: [Album] = []
        try await withLibrary(configuration, createsCache: false) { albums = try await $0.existingAlbums() }
        var covers = try OutdatedCovers(albums, state, configuration)
        let library = Dictionary(albums.map { ($0.id, $0) }) { first, _ in first }
        let records = Dictionary(try state.albums().map { ($0.id, $0) }) { first, _ in first }
        var outdated: [BytePath: OutdatedCover.Cause] = [:]
        for one in scanned {
            for path in one.places.flatMap(\.covers).map(\.path) {
                guard let file = files[path], let album = library[file.album] else { continue }
                let query = one.query(album, since: records[file.album])
                guard let found = try await covers.judge(file, for: query), found.isOther else { continue }
                let isLeft = records[file.album]?.isIn(file.folder) == false
                if file.isUnchanged { outdated[path] = isLeft && found.cause == .tags ? .album : found.cause }
            }
        }
        return outdated
    }

    private func facts(of covers: [BytePath], _ likenesses: Likenesses?) async throws -> [BytePath: CoverFacts] {
        try await withProgress(0, every: progress.interval(options)) { count in
            ["\(Decimals.grouped(count)) of \(Decimals.count(covers.count, "cover")) read"]
        } _: { progress in
            await CoverFacts.read(covers, likenesses, progress: progress, isCancelled: { Signals.received != nil })
        }
    }

    /// Reads what the pictures show that stand for albums without a cover file.
    private func readTags(of places: [AuditedPlace], _ likenesses: Likenesses) async throws {
        let scratch = try TemporaryFolder(in: FileManager.default.temporaryDirectory.path, name: "sleeve-audit")
        defer { scratch.removeAll() }
        let isStopped: @Sendable () -> Bool = { Signals.received != nil }
        let tags = TagPictures(in: BytePath(scratch.path), start: try TagsWorker.starter(), isCancelled: isStopped)
        await tags.read(places, likenesses, isCancelled: isStopped)
    }

    // MARK: Results

    private func print(_ findings: [AuditFinding], albums: Int, unsized: Int, leftOut: String) throws {
        if options.json { return try printResult(findings.map { Self.json($0).text + "\n" }.joined()) }
        let rows = findings.map { finding in
            let album = Album(
                title: finding.title, artist: finding.artist, year: finding.year.map { String($0) } ?? "")
            return [finding.kind.rawValue, album.fullName, finding.detail, "\(finding.path)"]
        }
        // Paths are whole, to be copied, and last, so that long ones move nothing.
        let table = TextTable(["Kind", "Album", "What is wrong", "Path"], rows)
        if !findings.isEmpty { try printResult(table.text()) }
        if !options.quiet { try printResult(Self.summary(findings, albums: albums, unsized: unsized) + leftOut) }
    }

    private static func summary(_ findings: [AuditFinding], albums: Int, unsized: Int) -> String {
        let audited = Decimals.count(albums, "album") + " audited"
        let counts = AuditKind.allCases.map { kind in (kind, findings.count { $0.kind == kind }) }.filter { $1 > 0 }
            .map { "\(Decimals.grouped($1)) \($0.rawValue)" }
        let unknown = unsized > 0 ? "; size unknown: \(Decimals.count(unsized, "cover file"))" : ""
        return "\(audited): \(counts.isEmpty ? "nothing found" : counts.joined(separator: ", "))\(unknown).\n"
    }

    private static func json(_ finding: AuditFinding) -> JSONObject {
        [
            "kind": finding.kind.rawValue, "artist": finding.artist, "title": finding.title, "year": finding.year,
            "path": "\(finding.path)", "width": finding.width, "height": finding.height, "detail": finding.detail,
        ]
    }
}

extension AuditKind: ExpressibleByArgument {}

extension AlbumRecord {
    /// Whether the last scan has found the album in a folder.
    fileprivate func isIn(_ folder: BytePath) -> Bool {
        !isGone && places.contains { $0.allFolders.contains(folder) }
    }
}
