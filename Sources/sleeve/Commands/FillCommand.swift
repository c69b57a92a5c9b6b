import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

struct FillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fill", _superCommandName: "sleeve",
        abstract: "Put a cover file beside the music of each album that has none.",
        discussion: """
            Scans the folders as `sleeve scan` does. For each album without a cover file it looks, in this order: at the album's own cover \
            URLs; in the Cover Art Archive, by the MusicBrainz ids in the tags; and with the services that are searched: MusicBrainz, \
            iTunes and Deezer. What is found goes into the cache and, as cover.jpg (or .png, .webp: by the picture), beside the music.

            A cover is written only if artist and title are the album's and the year or the number of tracks agrees. Doubtful covers are \
            listed by --review, and written with --accept-doubtful. What a service does not have is not asked again for 30 days; `sleeve why` \
            tells what each has answered.

            No file of yours is ever replaced, renamed or removed: a folder that has a cover under any known name keeps it. --upgrade \
            replaces only files that a fill wrote and that are unchanged, by larger ones. --undo takes the last fill back, in all folders; \
            again, the one before.

              sleeve fill ~/Music --contact you@example.org
              sleeve fill ~/Music --dry-run
              sleeve fill ~/Music --source caa,musicbrainz
              sleeve fill --review
              sleeve fill --undo

            Exits with 3 if an album has no cover file at the end, and with 75 if another scan or fill of the library is running.
            """)

    @OptionGroup var music: MusicFolderOptions

    @Option(
        help: ArgumentHelp(
            "The name of the files, without extension: cover, folder or front. Default: cover.", valueName: "name"))
    var name = "cover"

    @Flag(
        help:
            "Print what would be done and why. Nothing is requested or written, except what the scan adds to the library."
    )
    var dryRun = false

    @Flag(help: "Replace files that earlier fills wrote by larger covers.")
    var upgrade = false

    @Flag(help: "Also write covers that may be another album's.")
    var acceptDoubtful = false

    @Flag(help: "List the doubtful covers that were found, and write nothing.")
    var review = false

    @Flag(help: "Remove the files that the last fill wrote, unless they were changed since.")
    var undo = false

    @OptionGroup var sources: SourceOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        let others = [review, undo].count { $0 }
        if others > 1 { throw ValidationError("Use either --review or --undo.") }
        if others == 1, !music.folders.isEmpty || dryRun || upgrade || acceptDoubtful {
            throw ValidationError(
                "--\(undo ? "undo" : "review") takes no folders and no other flag: it is about the library's \(undo ? "last fill" : "albums")"
            )
        }
        if others == 0, music.folders.isEmpty { throw ValidationError("Name the music folders to fill.") }
        if !["cover", "folder", "front"].contains(name) {
            throw ValidationError("--name must be cover, folder or front: names that media servers look for")
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        try sources.apply(to: &configuration)
        try await withAlbums(configuration) { library in
            if review { return try await printDoubtful(library) }
            let state = try MusicFolderOptions.openState(library.configuration)
            do {
                if undo { try await undo(library, state) } else { try await fill(library, state) }
            } catch let problem as MusicState.Problem {
                throw fail(problem.description)
            }
        }
    }

    // MARK: Fill

    private func fill(_ library: LibraryAPI, _ state: MusicState) async throws {
        let (scan, missingFolders) = try music.scan()
        let outcome = try await MusicFolderOptions.run(scan, library.albums, state, options, progress)
        if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
        var fill = FillOptions()
        (fill.acceptsDoubtful, fill.upgrades) = (acceptDoubtful, upgrade)
        let plan = FillPlan(
            try await scannedAlbums(outcome, library), written: try state.writtenFiles(), options: fill,
            whyUnwritable: Self.whyUnwritable)
        let failures = FailureList()
        for (folder, album, obstacle) in plan.obstacles { failures.add(Self.text(folder, album, obstacle)) }
        let problems =
            outcome.findings.problems.count + outcome.findings.emptyRoots.count + missingFolders + plan.obstacles.count
        if dryRun {
            failures.summarize()
            try printPlan(plan)
            if problems > 0 { throw ExitStatus.someFailed }
            return
        }
        let start = ContinuousClock.now
        let summary = try await run(fill, plan.jobs, library, state, failures)
        failures.summarize()
        if let reason = summary.stopReason { Log.error(reason) }
        await library.warnOfEvictedCovers()
        let result = FillResult(
            summary: summary, covered: plan.covered, problems: problems,
            seconds: (ContinuousClock.now - start) / .seconds(1))
        if options.json {
            try printResult(result.json)
        } else if !options.quiet {
            try printResult(result.text)
        }
        if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
        if problems + summary.uncovered > 0 || summary.stopReason != nil { throw ExitStatus.someFailed }
    }

    /// The scanned albums, with what the library has of each by now.
    private func scannedAlbums(
        _ outcome: LibraryScan.Outcome, _ library: LibraryAPI
    ) async throws -> [(scanned: ScannedAlbum, album: Album?)] {
        let albums = Dictionary(try await library.albums.all().map { ($0.id, $0) }) { first, _ in first }
        return zip(outcome.albums, outcome.update?.ids ?? []).map { scanned, id in
            (scanned, id.flatMap { albums[$0] })
        }
    }

    private func run(
        _ fill: FillOptions, _ jobs: [FillJob], _ library: LibraryAPI, _ state: MusicState, _ failures: FailureList
    ) async throws -> FillSummary {
        let table = try sources.sources()
        let memory = SourceMemory.open(for: library.configuration)
        let work = Fill(
            library, asking: try sources.queue(for: library, memory: memory), Set(table.map(\.name)),
            writer: CoverWriter(state, name: name), options: fill)
        var total = FillSummary()
        total.albums = jobs.count
        return try await withProgress(total, every: progress.interval(options)) { summary in
            "\(Decimals.grouped(summary.filled)) of \(Decimals.count(summary.albums, "album")) filled, "
                + "\(Decimals.grouped(summary.missing + summary.doubtful)) not found, \(Decimals.grouped(summary.failed)) failed"
        } _: { progress in
            try await work.run(
                jobs, onEvent: { if let message = Self.text($0) { failures.add(message) } }, progress: progress)
        }
    }

    /// Why no file can be created in a folder; nil if one can.
    private static func whyUnwritable(_ folder: BytePath) -> String? {
        folder.withCString { access($0, W_OK | X_OK) } == 0 ? nil : SystemError("write").reason
    }

    // MARK: Messages

    private static func text(_ folder: BytePath, _ album: Album, _ obstacle: FillPlan.Obstacle) -> String {
        switch obstacle {
        case .shared: "\(folder): has other albums, too, so no cover file is written for \(album.shortName)"
        case .unwritable(let reason): "\(folder): no file can be written: \(reason)"
        }
    }

    /// What a person should know; nil for what went well.
    private static func text(_ event: FillEvent) -> String? {
        switch event {
        case .written, .exists: nil
        case .unwritten(_, let folder, let reason): "\(folder): the cover was not written: \(reason)"
        case .missing(let album): "\(album.shortName): none of the sources has its cover"
        case .doubtful(let album, let candidates):
            "\(album.shortName): found only \(candidates.count == 1 ? "a doubtful cover" : "doubtful covers"); see `sleeve fill --review`"
        case .failed(let album, let reason): "\(album.shortName): \(reason)"
        }
    }

    // MARK: Dry run

    private func printPlan(_ plan: FillPlan) throws {
        let names = try sources.sources().map(\.name.rawValue).joined(separator: ", ")
        for job in plan.jobs {
            let plan = job.ownURLs.first.map { "would download \($0), else ask \(names)" } ?? "would ask \(names)"
            for target in job.targets {
                let reason = target.former == nil ? "no cover" : "would be replaced by a larger one"
                if options.json {
                    var line = JSONObject()
                    line.add("folder", "\(target.folder)")
                    line.add("album", job.album.id)
                    line.add("artist", job.album.artist)
                    line.add("title", job.album.title)
                    line.add("reason", reason)
                    line.add("plan", Redaction.redact(plan))
                    try printResult(line.text + "\n")
                } else {
                    try printResult(
                        "\(target.folder): \(reason); \(job.album.shortName): \(Redaction.redact(plan))".withoutControls
                            + "\n")
                }
            }
        }
        if options.json || options.quiet { return }
        try printResult(
            "\(Decimals.count(plan.jobs.count, "album")) would be looked for; \(Decimals.grouped(plan.covered)) have a cover file.\n"
        )
    }

    // MARK: Review

    private func printDoubtful(_ library: LibraryAPI) async throws {
        guard let memory = SourceMemory.open(for: library.configuration) else { return }
        let keys = Set(try await memory.doubtfulAlbums())
        for album in try await library.albums.all() where keys.contains(AlbumQuery(album).key) {
            for candidate in try await memory.record(of: AlbumQuery(album).key).candidates {
                if options.json {
                    try printResult(Self.json(album, candidate))
                    continue
                }
                let found = candidate.album
                var text = "\(album.shortName)\(album.year.isEmpty ? "" : " (\(album.year))")\n"
                text += "  \(candidate.source.title): \(found.artist), \(found.title)"
                text += found.year.map { " (\($0))" } ?? ""
                text += found.trackCount.map { ", \(Decimals.count($0, "track"))" } ?? ""
                text += "\n  \(candidate.match.reason)\n  \(candidate.pictures.first ?? "")\n"
                try printResult(text)
            }
        }
        if !options.json, !options.quiet, keys.isEmpty { try printResult("No doubtful covers.\n") }
    }

    private static func json(_ album: Album, _ candidate: SourceCandidate) -> String {
        var line = JSONObject()
        line.add("album", album.id)
        line.add("artist", album.artist)
        line.add("title", album.title)
        line.add("source", candidate.source.rawValue)
        line.add("foundArtist", candidate.album.artist)
        line.add("foundTitle", candidate.album.title)
        line.add("foundYear", candidate.album.year)
        line.add("foundTracks", candidate.album.trackCount)
        line.add("reason", candidate.match.reason)
        line.add("url", candidate.pictures.first)
        return line.text + "\n"
    }

    // MARK: Undo

    private func undo(_ library: LibraryAPI, _ state: MusicState) async throws {
        let writer = CoverWriter(state, name: name)
        var (removed, restored, kept, failed) = (0, 0, 0, 0)
        var albums: [Album.ID] = []
        for result in try await writer.undo(cached: { library.coverFile($0) }) {
            switch result {
            case .removed(_, let album):
                removed += 1
                albums.append(album)
            case .restored: restored += 1
            case .kept(let path):
                kept += 1
                Log.warning("\(path): was changed or removed since; it stays as it is")
            case .failed(let path, let reason):
                failed += 1
                Log.error("\(path): \(reason)")
            }
        }
        let urls = try await writer.forgetCoverURLs(of: albums)
        try await library.albums.edit(
            try await library.albums.all().compactMap { album in
                guard let url = urls[album.id], album.coverURL == url else { return nil }
                var former = album
                former.coverURL = nil
                return (album, former)
            })
        if options.json {
            var line = JSONObject()
            for (name, count) in [("removed", removed), ("restored", restored), ("kept", kept), ("failed", failed)] {
                line.add(name, count)
            }
            try printResult(line.text + "\n")
        } else if !options.quiet {
            let isNothing = removed + restored + kept + failed == 0
            let changed = restored > 0 ? ", restored \(Decimals.grouped(restored))" : ""
            try printResult(
                isNothing
                    ? "There is no fill to take back.\n" : "Removed \(Decimals.count(removed, "cover"))\(changed).\n")
        }
        if failed > 0 { throw ExitStatus.someFailed }
    }
}
