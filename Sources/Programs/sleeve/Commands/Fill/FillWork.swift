import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform
import Synchronization

/// A fill: the scan, the covers, the tags, and what is said of them.
struct FillWork {
    let arguments: FillArguments
    let sources: SourceOptions
    let library: LibraryAPI
    let state: MusicState
    var options: FillOptions
    /// The albums whose accepted covers are to be written; nil to fill all albums.
    var only: Set<Album.ID>? { didSet { options.writesAcceptedOnly = only != nil } }
    /// The number of the fill, with which its command has accepted covers; nil for the next one.
    var number: Int64?

    init(_ arguments: FillArguments, asking sources: SourceOptions, _ library: LibraryAPI, _ state: MusicState) {
        (self.arguments, self.sources, options) = (arguments, sources, FillOptions())
        (self.library, self.state) = (library, state)
        (options.minimumPixels, options.longestSide) = (arguments.covers.minPixels, arguments.covers.size)
        (options.embeds, options.servicesBeforeTags) = (arguments.covers.embed, sources.servicesBeforeTags)
    }

    /// - Parameters:
    ///   - found: What is scanned, and the number of folders that are not there.
    ///   - isDryRun: Print what would be done.
    ///   - request: The options, to be remembered; nil for a fill of a few albums.
    /// - Throws: An exit code, after the messages.
    func run(
        _ found: (scan: LibraryScan, missing: Int), isDryRun: Bool = false, request: [String]? = nil
    ) async throws {
        let (start, folders, isQuiet) = (ContinuousClock.now, found.scan.scan.roots, arguments.options.quiet)
        let outcome = try await MusicFolderOptions.run(
            found.scan, library.albums, state, arguments.options, arguments.output.progress, reports: false)
        try stopIfSignalled()
        let written = try state.written().filter { $0.isInPlace && $0.isThere }
        let filled = try state.albums().compactMap { record in record.filled.map { (record.id, $0) } }
        let albums = Dictionary(try await library.albums.all().map { ($0.id, $0) }) { first, _ in first }
        let scanned = scannedAlbums(outcome, albums)
        let plan = FillPlan(
            scanned, of: Array(albums.values), written: written, unaccepted: try state.unaccepted(written),
            filled: Dictionary(filled) { $1 },
            options: options, obstacle: FillPlan.Obstacle.ofWriting)
        let messages = try FillMessages(plan, report: arguments.output.report)
        // `fill accept` asks for the accepted covers only.
        if only == nil { messages.add(outcome) }
        let problems = messages.problems.count
        if isDryRun {
            let (steps, idle) = try await steps(plan)
            let tags =
                arguments.covers.embed
                ? try await embed(
                    scanned.compactMap { one in one.album.map { (one.scanned, $0.id, nil) } }, run: nil, messages)
                : nil
            try print(plan, steps, idle: idle, tags, leftOut: outcome.leftOut)
            let news = try state.news(messages.known, of: folders)
            messages.print(isQuiet: isQuiet, news: news)
            if found.missing > 0 || !news.isDisjoint(with: messages.problems) { throw ExitStatus.someFailed }
            return
        }
        if let request { try state.save(.init(folders: folders, options: request)) }
        outcome.findings.sweep()
        let writer = try CoverWriter(
            state, name: (arguments.covers.name ?? .standard).rawValue, run: number, options: options)
        let likenesses = Likenesses(try state.likenesses())
        let pictures = try pictures(written, albums, likenesses)
        try stopIfSignalled()
        let present = Mutex(only == nil ? [] : plan.present)
        let summary = try await fill(plan.jobs, pictures, likenesses, writer) { [only] event in
            messages.add(event)
            if only != nil, case .exists(let album, let path) = event { present.withLock { $0.append((path, album)) } }
        }
        let kept = present.withLock { $0 }
        let files = kept.isEmpty ? [:] : Dictionary(written.map { ($0.path, $0) }) { $1 }
        var accepted: [String] = []
        for (file, album) in kept {
            let isUnchanged = files[file]?.isUnchanged
            if isUnchanged == true {
                accepted.append("\(album.fullName) has the accepted cover already: \(file)")
                continue
            }
            let reason = isUnchanged == nil ? "no fill wrote it" : "it was changed since a fill wrote it"
            messages.add(
                .album,
                "\(album.fullName): \(file) stays, as \(reason); remove or rename it, then accept the cover again")
        }
        try state.save(repeatedPictures: summary.repeatedPictures)
        try state.save(likenesses.added)
        for file in written where summary.repeatedPictures.contains(file.digest) {
            messages.add(.file, "\(file.path): albums of other artists have the same picture; remove it if it is wrong")
        }
        let isWhole = Signals.received == nil
        let covers = scanned.compactMap { one in
            one.album.map { (scanned: one.scanned, id: $0.id, cover: summary.tagCovers[$0.id]) }
        }
        let embedding =
            arguments.covers.embed && isWhole && !summary.isDiskStopped
            ? try await embed(covers, run: writer.run, messages) : nil
        let problem = messages.closeReport() ?? summary.stopReason
        let hasFailed = summary.failed > 0 || summary.isDiskStopped
        let isAll = isWhole && problem == nil && !hasFailed
        let news = only == nil ? try state.tell(messages.known, of: folders, isAll: isAll) : messages.known
        messages.print(isQuiet: isQuiet, news: news)
        if let problem { Log.error(problem) }
        await library.warnOfEvictedCovers()
        let result = FillResult(
            summary, embedding, covered: plan.covered, obstacles: Set(plan.obstacles.map(\.folder)).count,
            problems: problems, seconds: (ContinuousClock.now - start) / .seconds(1))
        let isAllSeen = only != nil || outcome.leftOut.isEmpty && outcome.findings.unread.isEmpty
        try arguments.options.printResult(
            result,
            text: result.text(
                isUpgrade: options.upgrades || only != nil, leftOut: isAllSeen ? nil : outcome.leftOut,
                present: accepted, embedding))
        try stopIfSignalled()
        if !news.isDisjoint(with: messages.problems) || hasFailed || found.missing > 0 || problem != nil {
            throw ExitStatus.someFailed
        }
    }

    /// The scanned albums, with what the library has of each by now.
    private func scannedAlbums(
        _ outcome: LibraryScan.Outcome, _ albums: [Album.ID: Album]
    ) -> [(scanned: ScannedAlbum, album: Album?)] {
        let scanned = zip(outcome.albums, outcome.update?.ids ?? []).map { ($0, $1.flatMap { albums[$0] }) }
        guard let only else { return scanned }
        for id in only.subtracting(scanned.compactMap { $0.1?.id }) {
            Log.warning("\(albums[id]?.fullName ?? id): not in these folders; a fill of its folder writes the cover")
        }
        return scanned.filter { $0.1.map { only.contains($0.id) } == true }
    }

    /// The pictures of earlier fills, and those that are no album's.
    private func pictures(
        _ written: [Written], _ albums: [Album.ID: Album], _ likenesses: Likenesses
    ) throws -> RepeatedPictures {
        var pictures = RepeatedPictures()
        for digest in try state.repeatedPictures() { pictures.addRepeated(digest, likenesses[digest]) }
        for file in written {
            if let album = albums[file.album] {
                pictures.add(file.digest, likenesses[file.digest], of: AlbumQuery(album))
            }
        }
        return pictures
    }

    private func fill(
        _ jobs: [FillJob], _ pictures: RepeatedPictures, _ likenesses: Likenesses, _ writer: CoverWriter,
        _ onEvent: @escaping @Sendable (FillEvent) -> Void
    ) async throws -> FillSummary {
        let memory = SourceMemory.open(for: library.configuration)
        let scratch = try TemporaryFolder(in: FileManager.default.temporaryDirectory.relativePath, name: "sleeve-fill")
        defer { scratch.removeAll() }
        let tags = TagPictures(
            in: BytePath(scratch.path), start: try TagsWorker.starter(), isCancelled: { Signals.received != nil })
        let work = Fill(
            library, asking: try sources.queue(for: library, memory: memory),
            Set(try sources.sources().map(\.name)), writer: writer, tags: tags,
            scratch: BytePath(scratch.path),
            options: options, pictures: pictures, likenesses: likenesses)
        var total = FillSummary()
        total.albums = jobs.count
        return try await withProgress(total, every: arguments.interval) { summary in
            Self.progress(
                summary.filled, of: summary.albums, lost: summary.missing + summary.doubtful, failed: summary.failed,
                slowest: summary.slowest.map { ($0.source.title, ($0.end - .now) / .seconds(1)) })
        } _: { progress in
            try await work.run(jobs, onEvent: onEvent, progress: progress)
        }
    }

    /// `12 of 1,200 albums filled, 30 not found, 2 failed, about 0:55 left at the rate of MusicBrainz`, and shorter forms.
    /// - Parameter slowest: The source whose rate is what takes the time, and its estimate in seconds. It is left out if it is short.
    static func progress(
        _ filled: Int, of albums: Int, lost: Int, failed: Int, slowest: (name: String, seconds: Double)?
    ) -> [String] {
        let done = "\(Decimals.grouped(filled)) of \(Decimals.count(albums, "album")) filled"
        let short = "\(Decimals.grouped(filled))/\(Decimals.grouped(albums))"
        let failures = "\(Decimals.grouped(failed)) failed"
        let all = "\(done), \(Decimals.grouped(lost)) not found, \(failures)"
        guard let slowest, slowest.seconds > 10 else { return [all, "\(done), \(failures)", done, short] }
        let left = RunSummary.clock(slowest.seconds)
        return [
            "\(all), about \(left) left at the rate of \(slowest.name)",
            "\(done), \(failures) · \(left) left · \(slowest.name)", "\(done) · \(left) left · \(slowest.name)",
            "\(short) · \(left) left · \(slowest.name)", "\(short) · \(left) · \(slowest.name)",
        ]
    }

    // MARK: Dry run

    /// - Returns: What would be done for each folder, and the number of albums for which nothing would be.
    private func steps(_ plan: FillPlan) async throws -> (steps: [FillPlanResult.Step], idle: Int) {
        let queue = try sources.queue(for: library, memory: .existing(for: library.configuration))
        let decisions = try state.decisions()
        var (found, asked, idle): ([FillPlanResult.Step], Set<SourceName>, Int) = ([], [], 0)
        for job in plan.jobs {
            let (names, known) = await queue.plan(job.query, decisions[job.album.id] ?? .init())
            asked.formUnion(names)
            var steps = job.ownURLs.prefix(1).map { "would download \($0)" }
            if job.embedded != nil, options.servicesBeforeTags != nil {
                steps.append("would take the picture in its tags")
            }
            if !names.isEmpty { steps.append("would ask \(names.map(\.rawValue).joined(separator: ", "))") }
            if let cover = known.certain { steps.append("would download \(cover.pictures[0]) (\(cover.source.title))") }
            let refused = known.areRefused ? ", you refused its covers" : ""
            let again = known.answers.isEmpty ? "" : " again yet\(refused); `sleeve why` tells what each answered"
            if steps.isEmpty { idle += 1 }
            if names.isEmpty, known.certain == nil { steps.append("would ask no source\(again)") }
            let text = Redaction.redact(steps.joined(separator: ", else "))
            let lacking = job.targets.map {
                ($0.folder, $0.former == nil ? "no cover" : "would be replaced by a larger one")
            }
            for (folder, reason) in lacking + job.tagFolders.map({ ($0, "no cover in the tags") }) {
                found.append(
                    .init(
                        folder: "\(folder)", album: job.album.id, artist: job.album.artist, title: job.album.title,
                        reason: reason, plan: text))
            }
        }
        if arguments.options.json || arguments.options.quiet { return (found, idle) }
        for source in try sources.sources() where !asked.isEmpty {
            source.refusal(userAgent: library.configuration.userAgent).map { Log.info($0) }
        }
        return (found, idle)
    }

    private func print(
        _ plan: FillPlan, _ steps: [FillPlanResult.Step], idle: Int, _ tags: EmbedSummary?, leftOut: String
    ) throws {
        var result = FillPlanResult(
            albums: plan.jobs.count - idle, covered: plan.covered, blocked: plan.blocked.count, plan: steps)
        (result.embedded, result.embeddedBytes) = (tags?.embedded, tags?.bytes)
        var text = steps.map { step in
            let album = [step.artist, step.title].filter { !$0.isEmpty }.joined(separator: ", ")
            return "\(step.folder): \(step.reason); \(album): \(step.plan)".withoutControls + "\n"
        }.joined()
        text += "\(Decimals.count(result.albums, "album")) would be looked for; "
        if idle > 0 { text += "\(Decimals.grouped(idle)) not again yet; " }
        text += "\(Decimals.grouped(result.covered)) \(result.covered == 1 ? "has" : "have") a cover file"
        let blocked = "; \(Decimals.count(result.blocked, "folder")) cannot get one"
        text += (result.blocked == 0 ? ".\n" : blocked + ".\n") + leftOut
        if let tags {
            text += "\(Decimals.count(tags.embedded, "file")) would get a cover in the tags, and those of albums "
            text += "whose covers would be found.\n" + tags.otherFormatsText
        }
        try arguments.options.printResult(result, text: text)
    }
}
