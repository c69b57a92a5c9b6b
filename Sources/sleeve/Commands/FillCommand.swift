import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform
import Synchronization

struct FillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fill", _superCommandName: "sleeve",
        abstract: "Put a cover file beside the music of each album that has none.",
        discussion: """
            Scans the folders as `sleeve scan` does. For each album without a cover file it looks, in this order: at the album's own cover \
            URLs; in the Cover Art Archive, by the MusicBrainz ids in the tags; and with the services that are searched: MusicBrainz, \
            iTunes and Deezer. What is found goes into the cache and, as cover.jpg (or .png, .webp: by the picture), beside the music.

            A cover is written only if artist and title are the album's and the year or the number of tracks agrees. Doubtful covers are \
            listed by --review; --accept writes one of them, in the folders that were scanned if none is named, and --refuse drops it. What a \
            service does not have is not asked again for 30 days; `sleeve why` tells what each has answered. A service that others wait for \
            over a minute is asked after the next ones.

            No file of yours is ever replaced, renamed or removed: a folder that has a cover under any known name keeps it. --upgrade \
            replaces only files that a fill wrote and that are unchanged, by larger ones. --undo takes the last fill back, in all folders; \
            again, the one before. A cover that was accepted is doubtful again.

            A cover file of yours is copied into the cache, too, so that the gallery, `sleeve get --album` and `sleeve export` have it.

            With --json it prints one object with the counts: albums (without a cover file), covered, cached (files of yours, now in the \
            cache), filled, files, bytes, missing, doubtful, failed, unwritten (folders), problems; with --embed embedded, embeddedBytes, \
            unembedded, otherFormats (files). With --dry-run and --review it prints one object for each folder or cover instead.

            --embed also writes the cover of each folder, found now or there before, into the tags of the audio files that have no picture; \
            a picture that is there stays. MP3, FLAC, MP4 and Ogg (Vorbis, Opus) are written, other formats are left as they are. Each file is written as a copy, which takes its place once the audio in it is proved to be the \
            same, byte for byte, and all other tags are. The file's time of modification is new, so that media servers read it again.

              sleeve fill ~/Music --contact you@example.org
              sleeve fill ~/Music --dry-run
              sleeve fill ~/Music --embed
              sleeve fill ~/Music --source caa,itunes
              sleeve fill ~/Music --report fill.jsonl
              sleeve fill --review
              sleeve fill --accept "Low Tide" --refuse "The Harbour Lights - High Water"
              sleeve fill --undo

            Exits with 3 if an album has no cover file at the end, or the tags of a file could not be written, and with 75 if another scan or fill of the library is running.
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

    @Flag(help: "Also write the covers into the tags of audio files that have no picture.")
    var embed = false

    @Option(
        help: ArgumentHelp(
            "Embed covers as JPEG of at most this many pixels on the longest side. Default: as they are.",
            valueName: "pixels"))
    var embedMax: Int?

    @Flag(help: "Also write covers that may be another album's.")
    var acceptDoubtful = false

    @Flag(help: "List the doubtful covers that were found, and write nothing.")
    var review = false

    @Option(
        help: ArgumentHelp(
            "Write this doubtful cover: the first of an album (its number, title, id or “artist - title”), or the one at a URL. Only the accepted ones are written. Repeat the option for more.",
            valueName: "album or url"))
    var accept: [String] = []

    @Option(
        help: ArgumentHelp(
            "Do not propose the doubtful covers of an album, or the one at a URL, again, until --retry-missing. Repeat the option for more.",
            valueName: "album or url"))
    var refuse: [String] = []

    @Flag(
        help:
            "Remove the files and the covers in tags that the last fill wrote, unless they were changed since. With --dry-run, say what would be removed."
    )
    var undo = false

    @Option(
        help: ArgumentHelp(
            "Write one JSON line for each folder of an album: folder, outcome, album, artist, title, file, url, source, digest, bytes, width, height, reason.",
            discussion:
                "The outcomes are written, covered, missing, doubtful, failed and unwritten; of the files of --embed, embedded, unembedded and otherFormat.",
            valueName: "file"),
        completion: .file())
    var report: String?

    @OptionGroup var sources: SourceOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        let others = [review, undo].count { $0 }
        if others > 1 { throw ValidationError("Use either --review or --undo.") }
        let decides = !accept.isEmpty || !refuse.isEmpty
        if others == 1,
            !music.folders.isEmpty || dryRun && review || upgrade || embed || acceptDoubtful || decides || report != nil
        {
            let subject =
                undo
                ? "flag but --dry-run: it is about the library's last fill, in all folders"
                : "flag: it is about the library's albums"
            throw ValidationError("--\(undo ? "undo" : "review") takes no folders and no other \(subject)")
        }
        if dryRun, decides || report != nil {
            throw ValidationError("--dry-run prints what would be done, without --accept, --refuse and --report.")
        }
        if let embedMax, embedMax < 1 || !embed {
            throw ValidationError(embed ? "--embed-max must be at least 1" : "--embed-max needs --embed")
        }
        try RunOptions.check(report, "--report")
        if others == 0, music.folders.isEmpty, !decides { throw ValidationError("Name the music folders to fill.") }
        if !["cover", "folder", "front"].contains(name) {
            throw ValidationError("--name must be cover, folder or front: names that media servers look for")
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        try sources.apply(to: &configuration)
        if let report, OutputFile.isSame(report, configuration.libraryPath) {
            throw fail("--report would overwrite \(report); choose another file")
        }
        if !review, !undo, !network.offline { try sources.requireContact(configuration.userAgent) }
        try await withAlbums(configuration) { library in
            if review { return try await review(library) }
            let state = try MusicFolderOptions.openState(library.configuration)
            do {
                if undo { return try await undo(library, state) }
                let only = try await decide(library)
                if music.folders.isEmpty, accept.isEmpty { return }
                try await fill(library, state, only)
            } catch let problem as MusicState.Problem {
                throw fail(problem.description)
            } catch let failure as CoverFailure {
                throw fail(failure.message)
            }
        }
    }

    // MARK: Fill

    /// - Parameter only: The albums to fill; nil for all.
    private func fill(_ library: LibraryAPI, _ state: MusicState, _ only: Set<Album.ID>?) async throws {
        let (scan, missingFolders) = try music.scan(else: try music.named.remembered(state, to: "to fill"))
        let outcome = try await MusicFolderOptions.run(scan, library.albums, state, options, progress)
        if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
        var fill = FillOptions()
        (fill.acceptsDoubtful, fill.upgrades) = (acceptDoubtful, upgrade)
        let written = try state.writtenFiles()
        let albums = Dictionary(try await library.albums.all().map { ($0.id, $0) }) { first, _ in first }
        let scanned = scannedAlbums(outcome, albums, only)
        let plan = FillPlan(scanned, written: written, options: fill, whyUnwritable: Self.whyUnwritable)
        let failures = FailureList()
        let report = try report.map { try FillReport($0, plan) }
        for (folder, album, obstacle) in plan.obstacles {
            let event = FillEvent.unwritten(album, folder: folder, reason: obstacle.reason)
            report?.add(event)
            tell(event, failures)
        }
        // `--accept` asks for the accepted covers only.
        let problems =
            plan.obstacles.count
            + (only == nil ? outcome.findings.problems.count + outcome.findings.emptyRoots.count + missingFolders : 0)
        if dryRun {
            try await printPlan(plan, library)
            if embed { try await printEmbedding(scanned.map(\.scanned), state, failures) }
            failures.summarize()
            if problems > 0 { throw ExitStatus.someFailed }
            return
        }
        outcome.findings.sweep()
        let (start, writer) = (ContinuousClock.now, try CoverWriter(state, name: name))
        var pictures = RepeatedPictures()
        for file in written {
            if let album = albums[file.album] { pictures.add(file.digest.description, of: AlbumQuery(album)) }
        }
        let summary = try await run(fill, plan.jobs, pictures, library, writer) { event in
            report?.add(event)
            tell(event, failures)
        }
        let embedded =
            embed
            ? try await embed(scanned.map(\.scanned), state, run: writer.run, failures) { report?.add($0) } : nil
        failures.summarize()
        let reportProblem = report?.close()
        if let reportProblem { Log.error(reportProblem) }
        if let reason = summary.stopReason { Log.error(reason) }
        await library.warnOfEvictedCovers()
        let result = FillResult(
            summary: summary, covered: plan.covered, obstacles: plan.obstacles.count,
            problems: problems,
            seconds: (ContinuousClock.now - start) / .seconds(1), embedding: embedded)
        try options.printResult(json: result.json, text: result.text)
        if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
        if problems + summary.uncovered + (embedded?.failed ?? 0) > 0 || summary.stopReason != nil
            || reportProblem != nil
        {
            throw ExitStatus.someFailed
        }
    }

    /// The scanned albums, with what the library has of each by now.
    private func scannedAlbums(
        _ outcome: LibraryScan.Outcome, _ albums: [Album.ID: Album], _ only: Set<Album.ID>?
    ) -> [(scanned: ScannedAlbum, album: Album?)] {
        let scanned = zip(outcome.albums, outcome.update?.ids ?? []).map { ($0, $1.flatMap { albums[$0] }) }
        guard let only else { return scanned }
        for id in only.subtracting(scanned.compactMap { $0.1?.id }) {
            Log.warning("\(albums[id]?.shortName ?? id): not in these folders; a fill of its folder writes the cover")
        }
        return scanned.filter { $0.1.map { only.contains($0.id) } == true }
    }

    private func run(
        _ fill: FillOptions, _ jobs: [FillJob], _ pictures: RepeatedPictures, _ library: LibraryAPI,
        _ writer: CoverWriter,
        _ onEvent: @escaping @Sendable (FillEvent) -> Void
    ) async throws -> FillSummary {
        let table = try sources.sources()
        let memory = SourceMemory.open(for: library.configuration)
        let work = Fill(
            library, asking: try sources.queue(for: library, memory: memory), Set(table.map(\.name)),
            writer: writer, options: fill, written: pictures)
        var total = FillSummary()
        total.albums = jobs.count
        return try await withProgress(total, every: progress.interval(options)) { summary in
            "\(Decimals.grouped(summary.filled)) of \(Decimals.count(summary.albums, "album")) filled, "
                + "\(Decimals.grouped(summary.missing + summary.doubtful)) not found, \(Decimals.grouped(summary.failed)) failed"
                + Self.remainingTime(summary)
        } _: { progress in
            try await work.run(jobs, onEvent: onEvent, progress: progress)
        }
    }

    /// The estimate of a source whose rate is what takes the time.
    private static func remainingTime(_ summary: FillSummary) -> String {
        guard let slowest = summary.slowest, case let time = slowest.end - .now, time > .seconds(10) else { return "" }
        return ", about \(PrefetchSummary.clock(time / .seconds(1))) left at the rate of \(slowest.source.title)"
    }

    /// Why no file can be created in a folder; nil if one can.
    static func whyUnwritable(_ folder: BytePath) -> String? {
        folder.withCString { access($0, W_OK | X_OK) } == 0 ? nil : SystemError("write").reason
    }

    // MARK: Messages

    /// Says what was done, unless `--quiet`, and what could not be.
    private func tell(_ event: FillEvent, _ failures: FailureList) {
        switch event {
        case .unwritten(let album, let folder, let reason):
            failures.add("\(folder): no cover of \(Self.name(album)): \(reason)")
        case .failed(_, _, isKnown: true): break
        case .failed(let album, let reason, _): failures.add("\(Self.name(album)): \(reason)")
        case _ where options.quiet: break
        case .written(_, let file, _, let url, let source):
            let place = source?.title ?? URL(string: url)?.host() ?? "its own URL"
            Log.info("wrote \(file.path) (\(place))")
        case .missing(let album): failures.add("\(Self.name(album)): none of the sources has its cover")
        case .doubtful(let album, let candidates):
            let covers = candidates.count == 1 ? "a doubtful cover" : "doubtful covers"
            failures.add("\(Self.name(album)): found only \(covers); see `sleeve fill --review`")
        case .placeholder(let album, let url, let reason):
            failures.add("\(Self.name(album)): not written: \(url): \(reason)")
        case .exists: break
        }
    }

    /// With the year: it may be the only difference.
    private static func name(_ album: Album) -> String {
        album.year.isEmpty ? album.shortName : "\(album.shortName) (\(album.year))"
    }

    // MARK: Dry run

    private func printPlan(_ plan: FillPlan, _ library: LibraryAPI) async throws {
        let queue = try sources.queue(for: library, memory: .existing(for: library.configuration))
        var refused = options.quiet ? [] : try sources.sources()
        for job in plan.jobs {
            let (names, known) = await queue.plan(AlbumQuery(job.album, trackCount: job.trackCount))
            if !names.isEmpty {
                for source in refused {
                    source.refusal(userAgent: library.configuration.userAgent).map { Log.info($0) }
                }
                refused = []
            }
            var steps = names.isEmpty ? [] : ["would ask \(names.map(\.rawValue).joined(separator: ", "))"]
            if let cover = known.certain { steps.append("would download \(cover.pictures[0]) (\(cover.source.title))") }
            let search =
                !steps.isEmpty
                ? steps.joined(separator: ", else ")
                : "would ask no source"
                    + (known.answers.isEmpty ? "" : " again yet; `sleeve why` tells what each answered")
            let plan = job.ownURLs.first.map { "would download \($0), else \(search)" } ?? search
            for target in job.targets {
                let reason = target.former == nil ? "no cover" : "would be replaced by a larger one"
                if options.json {
                    try printJSON([
                        "folder": "\(target.folder)", "album": job.album.id, "artist": job.album.artist,
                        "title": job.album.title, "reason": reason, "plan": Redaction.redact(plan),
                    ])
                } else {
                    try printLine("\(target.folder): \(reason); \(job.album.shortName): \(Redaction.redact(plan))")
                }
            }
        }
        if options.json || options.quiet { return }
        try printResult(
            "\(Decimals.count(plan.jobs.count, "album")) would be looked for; \(Decimals.grouped(plan.covered)) \(plan.covered == 1 ? "has" : "have") a cover file"
                + (plan.obstacles.isEmpty
                    ? ".\n" : "; \(Decimals.count(plan.obstacles.count, "folder")) cannot get one.\n")
        )
    }

    // MARK: Doubtful covers

    private func review(_ library: LibraryAPI) async throws {
        let all = try await DoubtfulCovers(library)?.all() ?? []
        for found in all {
            if options.json { try DoubtfulCovers.printJSON(found) } else { try DoubtfulCovers.print(found) }
        }
        if !options.json, !options.quiet, all.isEmpty { try printResult("No doubtful covers.\n") }
    }

    /// Remembers what was accepted and refused.
    /// - Returns: The albums to fill: those with an accepted cover; nil for all.
    private func decide(_ library: LibraryAPI) async throws -> Set<Album.ID>? {
        if accept.isEmpty, refuse.isEmpty { return nil }
        guard let covers = try await DoubtfulCovers(library) else { throw fail("no doubtful cover is known") }
        var (refused, accepted) = (0, Set<Album.ID>())
        for reference in refuse { refused += try await covers.refuse(reference) }
        for reference in accept { accepted.formUnion(try await covers.accept(reference).map(\.id)) }
        if refused > 0, !options.quiet { Log.info("refused \(Decimals.count(refused, "cover"))") }
        return accept.isEmpty ? nil : accepted
    }
}
