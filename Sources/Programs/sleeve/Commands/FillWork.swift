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

    /// Scans, plans, writes covers, writes tags, and tells.
    /// - Parameters:
    ///   - found: What is scanned, and the number of folders that are not there.
    ///   - isDryRun: Print what would be done.
    ///   - request: The options, to be remembered; nil for a fill of a few albums.
    /// - Throws: An exit code, after the messages.
    func run(
        _ found: (scan: LibraryScan, missing: Int), isDryRun: Bool = false, request: [String]? = nil
    ) async throws {
        let start = ContinuousClock.now
        let isFirst = try state.lastFill() == nil
        let outcome = try await MusicFolderOptions.run(
            found.scan, library.albums, state, arguments.options, arguments.output.progress, reports: false)
        try stopIfSignalled()
        let planned = try await plan(outcome, missing: found.missing)
        if isDryRun { return try await preview(planned) }
        if isFirst, request != nil { try tellTime(planned.plan.jobs) }
        if let request { try state.save(lastFill: request) }
        planned.outcome.findings.sweep()
        let covers = try await writeCovers(planned)
        let tags = try await writeTags(planned, covers)
        try await tell(planned, covers, tags, seconds: (ContinuousClock.now - start) / .seconds(1))
    }

    // MARK: Steps

    /// What a fill is to do.
    struct Planned {
        let outcome: LibraryScan.Outcome
        var folders: [BytePath] { outcome.findings.roots }
        /// The number of folders that are not there.
        let missing: Int
        /// The albums of the library.
        let albums: [Album.ID: Album]
        let scanned: [(scanned: ScannedAlbum, album: Album?)]
        /// What earlier fills wrote, and is there.
        let written: [Written]
        let plan: FillPlan
        let messages: FillMessages
        /// How many messages tell of faults before anything is written.
        let problems: Int
    }

    private func plan(_ outcome: LibraryScan.Outcome, missing: Int) async throws -> Planned {
        let written = try state.written().filter { $0.isInPlace && $0.isThere }
        let albums = Dictionary(try await library.albums.all().map { ($0.id, $0) }) { first, _ in first }
        let scanned = scannedAlbums(outcome, albums)
        // A file that was changed since is a person's.
        let sleeves = written.filter(\.isUnchanged)
        let vanished = only == nil ? Set(outcome.vanished.map(\.folder)) : []
        let plan = FillPlan(
            scanned, of: Array(albums.values), written: sleeves, unaccepted: try state.unaccepted(sleeves),
            outdated: only == nil ? try await outdated(sleeves, scanned, Array(albums.values)) : [:],
            filled: try state.filledAddresses(), options: options,
            obstacle: { vanished.contains($0) ? .vanished : .ofWriting(into: $0) })
        let messages = try FillMessages(plan, report: arguments.output.report)
        // `fill accept` asks for the accepted covers only.
        if only == nil { messages.add(outcome) }
        return Planned(
            outcome: outcome, missing: missing, albums: albums, scanned: scanned, written: written, plan: plan,
            messages: messages, problems: messages.problems.count)
    }

    /// The files of fills that are to be judged again, by their numbers.
    private func outdated(
        _ written: [Written], _ scanned: [(scanned: ScannedAlbum, album: Album?)], _ albums: [Album]
    ) async throws -> [Int64: OutdatedCover] {
        var covers = try OutdatedCovers(albums, state, library.configuration)
        let files = Dictionary(grouping: written, by: \.album)
        var outdated: [Int64: OutdatedCover] = [:]
        for (scanned, album) in scanned {
            guard let album else { continue }
            let query = AlbumQuery(scanned.facts, edited: album)
            for file in files[album.id] ?? [] { outdated[file.number] = try await covers.judge(file, for: query) }
        }
        return outdated
    }

    /// What became of the covers.
    struct Covers {
        var summary: FillSummary
        let run: Int64
        /// Sentences about accepted covers that are there already.
        var present: [String] = []
    }

    /// Says how long a first fill of many albums may take, and what makes it faster.
    private func tellTime(_ jobs: [FillJob]) throws {
        let asked = try sources.sources().filter { $0.refusal(userAgent: library.configuration.userAgent) == nil }
        let decisions = try state.decisions()
        let count = jobs.count { decisions[$0.album.id]?.acceptance == nil && $0.whyUnsearchable == nil }
        func time(_ source: CoverSource) -> Duration {
            source.rate.map { $0.interval * (Double(count) / Double($0.requests)) } ?? .zero
        }
        guard let slowest = asked.max(by: { time($0) < time($1) }), time(slowest) > .seconds(600) else { return }
        let others = ["tags"] + asked.map(\.name.rawValue).filter { $0 != slowest.name.rawValue }
        let hint = asked.count > 1 ? "; `--source \(others.joined(separator: ","))` leaves it out" : ""
        let left = RunSummary.clock(time(slowest) / .seconds(1))
        Log.info("\(slowest.name.title) may take \(left) for \(Decimals.count(count, "album")), at its rate\(hint)")
    }

    private func writeCovers(_ planned: Planned) async throws -> Covers {
        let writer = try CoverWriter(
            state, name: (arguments.covers.name ?? .cover).rawValue, run: number, options: options)
        let likenesses = Likenesses(try state.likenesses())
        let pictures = try pictures(planned.written, planned.albums, likenesses)
        try stopIfSignalled()
        let messages = planned.messages
        let present = Mutex(only == nil ? [] : planned.plan.present)
        let doubtful = Mutex<[Album.ID: SourceCandidate]>([:])
        let summary = try await fill(planned.plan.jobs, pictures, likenesses, writer) { [only] event in
            messages.add(event)
            if case .ended(let album, .doubtful(let covers)) = event {
                doubtful.withLock { $0[album.id] = covers.first }
            }
            if only != nil, case .exists(let album, let path) = event { present.withLock { $0.append((path, album)) } }
        }
        try state.save(repeatedPictures: summary.repeatedPictures)
        try state.save(likenesses.added)
        let found = doubtful.withLock { $0 }
        // In the order of the list.
        try state.add(
            try await library.albums.all().compactMap { album in
                found[album.id].map { Proposal(album: album.id, picture: $0.identity) }
            })
        for file in planned.written where summary.repeatedPictures.contains(file.digest) {
            messages.add(.file, "\(file.path): albums of other artists have the same picture; remove it if it is wrong")
        }
        let kept = present.withLock { $0 }
        return Covers(summary: summary, run: writer.run, present: tellPresent(kept, planned.written, messages))
    }

    /// - Parameter present: Files in the places of accepted covers.
    /// - Returns: Sentences about those that are the accepted cover.
    private func tellPresent(
        _ present: [(file: BytePath, album: Album)], _ written: [Written], _ messages: FillMessages
    ) -> [String] {
        if present.isEmpty { return [] }
        let files = Dictionary(written.map { ($0.path, $0) }) { $1 }
        return present.compactMap { file, album in
            if files[file]?.isUnchanged == true { return "\(album.fullName) has the accepted cover already: \(file)" }
            messages.add(
                .album,
                "\(album.fullName): \(file) stays, as no fill wrote it, or it was changed since; remove or rename it, "
                    + "then accept the cover again")
            return nil
        }
    }

    /// - Returns: Nil if no tags are to be written.
    private func writeTags(_ planned: Planned, _ covers: Covers) async throws -> EmbedSummary? {
        guard arguments.covers.embed, Signals.received == nil, !covers.summary.isDiskStopped else { return nil }
        let summary = covers.summary
        return try await embed(planned, summary.tagCovers, outdated: summary.outdated, run: covers.run)
    }

    private func tell(_ planned: Planned, _ covers: Covers, _ tags: EmbedSummary?, seconds: Double) async throws {
        let (messages, summary) = (planned.messages, covers.summary)
        let problem = messages.report?.file.close() ?? summary.stopReason
        let hasFailed = summary.failed > 0 || summary.isDiskStopped
        let isAll = Signals.received == nil && problem == nil && !hasFailed
        let news = only == nil ? try state.tell(messages.known, of: planned.folders, isAll: isAll) : messages.known
        messages.print(isQuiet: arguments.options.quiet, news: news)
        if let problem { Log.error(problem) }
        await library.warnOfEvictedCovers()
        let result = FillResult(
            summary, tags, covered: planned.plan.covered, obstacles: Set(planned.plan.obstacles.map(\.folder)).count,
            problems: planned.problems, seconds: seconds)
        let (leftOut, findings) = (planned.outcome.leftOut, planned.outcome.findings)
        let isAllSeen = only != nil || leftOut.isEmpty && findings.unread.isEmpty
        try arguments.options.printResult(
            result,
            text: result.text(leftOut: isAllSeen ? nil : leftOut, present: covers.present, tags))
        try stopIfSignalled()
        if !news.isDisjoint(with: messages.problems) || hasFailed || planned.missing > 0 || problem != nil {
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
                summary.filled, of: summary.albums, doubtful: summary.doubtful, without: summary.missing,
                failed: summary.failed,
                slowest: summary.slowest.map { ($0.source.title, ($0.end - .now) / .seconds(1)) })
        } _: { progress in
            try await work.run(jobs, onEvent: onEvent, progress: progress)
        }
    }

    /// `12 of 1,200 albums written, 5 doubtful, 25 without, 2 failed, about 0:55 left at the rate of MusicBrainz`, and shorter forms.
    /// - Parameter slowest: The source whose rate is what takes the time, and its estimate in seconds. It is left out if it is short.
    static func progress(
        _ filled: Int, of albums: Int, doubtful: Int, without: Int, failed: Int,
        slowest: (name: String, seconds: Double)?
    ) -> [String] {
        let done = "\(Decimals.grouped(filled)) of \(Decimals.count(albums, "album")) written"
        let short = "\(Decimals.grouped(filled))/\(Decimals.grouped(albums))"
        let failures = "\(Decimals.grouped(failed)) failed"
        let all = "\(done), \(Decimals.grouped(doubtful)) doubtful, \(Decimals.grouped(without)) without, \(failures)"
        guard let slowest, slowest.seconds > 10 else { return [all, "\(done), \(failures)", done, short] }
        let left = RunSummary.clock(slowest.seconds)
        return [
            "\(all), about \(left) left at the rate of \(slowest.name)",
            "\(done), \(failures) · \(left) left · \(slowest.name)", "\(done) · \(left) left · \(slowest.name)",
            "\(short) · \(left) left · \(slowest.name)", "\(short) · \(left) · \(slowest.name)",
        ]
    }
}

/// What a fill would do.
extension FillWork {
    func preview(_ planned: Planned) async throws {
        let (steps, idle) = try await steps(planned)
        let tags = arguments.covers.embed ? try await embed(planned, run: nil) : nil
        try print(planned.plan, steps, idle: idle, tags, leftOut: planned.outcome.leftOut)
        let news = try state.news(planned.messages.known, of: planned.folders)
        planned.messages.print(isQuiet: arguments.options.quiet, news: news)
        if planned.missing > 0 || !news.isDisjoint(with: planned.messages.problems) { throw ExitStatus.someFailed }
    }

    /// - Returns: What would be done for each folder, and the number of albums for which nothing would be.
    private func steps(_ planned: Planned) async throws -> (steps: [FillPlanResult.Step], idle: Int) {
        let queue = try sources.queue(for: library, memory: .existing(for: library.configuration))
        let decisions = try state.decisions(with: Array(planned.albums.values), try state.filledAddresses())
        var (found, asked, idle): ([FillPlanResult.Step], Set<SourceName>, Int) = ([], [], 0)
        for job in planned.plan.jobs {
            let said = decisions[job.album.id] ?? .init()
            let (names, known) = await queue.plan(job.query, said)
            asked.formUnion(names)
            var steps: [(text: String, cover: SourceCandidate?)] = []
            if let accepted = said.acceptance.map({ SourceCandidate($0) }), let url = accepted.pictures.first {
                let why = accepted.name.source == .picture ? "" : ", which you accepted"
                steps = [("would download \(url)\(why)", accepted)]
            }
            if let picture = job.embedded, options.servicesBeforeTags != nil {
                let cover = SourceCandidate(picture: picture.digest.description, of: job.query)
                steps.append(("would take the picture in its tags", cover))
            }
            if !names.isEmpty { steps.append(("would ask \(names.map(\.rawValue).joined(separator: ", "))", nil)) }
            if let cover = known.certain, cover.match != .accepted {
                steps.append(("would download \(cover.pictures[0]) (\(cover.source.title))", cover))
            }
            let refused =
                !known.candidates.isEmpty
                ? ", `sleeve fill review` lists what was found" : known.areRefused ? ", you refused its covers" : ""
            let again = known.answers.isEmpty ? "" : " again yet\(refused); `sleeve why` tells what each answered"
            if steps.isEmpty {
                idle += 1
                steps = [("would ask no source\(again)", nil)]
            }
            let lacking = job.targets.map { target in
                let upgrade =
                    options.upgrades ? "would be replaced by a larger one" : "would be replaced by the accepted one"
                let former = target.outdated?.cause.reason ?? upgrade
                return (target.folder, target.former == nil ? "no cover" : former)
            }
            for (folder, reason) in lacking + job.tagFolders.map({ ($0, "no cover in the tags") }) {
                let texts = try steps.map { text, cover in
                    try cover.flatMap { try state.objection(to: $0, for: job.album.id, in: folder, options) }
                        .map { "not its first one: \($0.reason)" } ?? text
                }
                found.append(
                    .init(
                        folder: "\(folder)", album: job.album.id, artist: job.album.artist, title: job.album.title,
                        reason: reason, plan: Redaction.redact(texts.joined(separator: ", else "))))
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

/// Covers in the tags of audio files.
extension FillWork {
    /// Embeds the covers of albums.
    /// - Parameters:
    ///   - covers: Those that are for the tags alone.
    ///   - outdated: The cover files that go into no tags, by their numbers.
    ///   - run: nil to write nothing, and count the files that would get the cover that is beside them.
    func embed(
        _ planned: Planned, _ covers: [Album.ID: FillPicture] = [:], outdated: Set<Int64> = [], run: Int64?
    ) async throws -> EmbedSummary {
        let messages = planned.messages
        let albums = planned.scanned.compactMap { one in
            one.album.map { (scanned: one.scanned, id: $0.id, cover: covers[$0.id]) }
        }
        let embedder = Embedder(state, options: options, start: try TagsWorker.starter())
        let jobs = EmbedJob.jobs(albums, replacing: try state.embeddedPictures(), outdated: outdated)
        return try await withProgress(
            EmbedSummary(), every: arguments.interval,
            { ["\(Decimals.count($0.embedded, "file")) with a new cover in its tags"] }
        ) { progress in
            try await embedder.run(
                jobs, run: run, onEvent: { messages.add($0) }, progress: progress,
                isCancelled: { Signals.received != nil })
        }
    }
}
