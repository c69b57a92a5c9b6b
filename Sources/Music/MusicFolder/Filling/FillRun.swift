import AlbumLibrary
import CoverLibrary
import CoverSources
import Platform

/// The albums of a fill while it runs, by their numbers: what is done next for each.
struct FillRun: Sendable {
    /// What is looked up for an album, beside its downloads.
    enum Lookup: Sendable {
        case search(Int, AlbumQuery, Decisions, skipping: Set<SourceName>)
        case tags(Int, Digest, in: [BytePath])
        case comparison(Int, [SourceCandidate], Digest, in: [BytePath])
    }

    enum Message: Sendable {
        case outcome(CoverOutcome)
        case found(Int, SourceFindings)
        /// The file of an album's picture in the tags; nil if it could not be taken out.
        case tags(Int, BytePath?)
        /// Nil if the picture in the tags cannot be read.
        case compared(Int, CoverComparison?)
        /// The prefetch has ended, perhaps early: the albums that wait for their covers are left for the next fill.
        case ended(LibraryError?)
    }

    /// Albums for which sources are asked at a time. Most of them wait in line: the queue sees how long its lines are.
    private static let maximumSearches = 1_000
    /// How often the library is given what was found.
    private static let noteInterval = Duration.seconds(60)

    private let fill: Fill
    private let jobs: [FillJob]
    /// What a person had said about the albums' covers at the start.
    private let decisions: [Album.ID: Decisions]
    private let feed: AsyncStream<CoverRequest>.Continuation
    private let work: AsyncStream<Lookup>.Continuation
    private let onEvent: @Sendable (FillEvent) -> Void
    private let progress: @Sendable (FillSummary) -> Void

    private var steps: [FillSteps] = []
    /// What each album's current download is of.
    private var offers: [Int: SourceCandidate] = [:]
    private var waiting: ArraySlice<(job: Int, skipped: Set<SourceName>)> = []
    private var searches = 0
    private var pictures: RepeatedPictures
    /// The URLs of covers that were damaged in the cache.
    private var reloaded: Set<String> = []
    /// The files of this run whose albums were matched by their names, by their pictures; no file for a cover that is for the tags alone.
    private var byName: [Digest: [(number: Int, file: Written?, bytes: Int, offer: SourceCandidate)]] = [:]
    /// The devices of file systems to which nothing more is written.
    private var stoppedDisks: Set<UInt64> = []
    /// When the library was last given what was found.
    private var noted = ContinuousClock.now

    private(set) var unfinished: Set<Int>
    var summary = FillSummary()
    /// The URLs of covers that were taken back, by their albums.
    private(set) var takenBack: [Album.ID: [String]] = [:]
    private(set) var problem: LibraryError?

    init(
        _ fill: Fill, _ jobs: [FillJob], _ decisions: [Album.ID: Decisions],
        _ feed: AsyncStream<CoverRequest>.Continuation,
        _ work: AsyncStream<Lookup>.Continuation, _ onEvent: @escaping @Sendable (FillEvent) -> Void,
        _ progress: @escaping @Sendable (FillSummary) -> Void
    ) {
        (self.fill, self.jobs, self.decisions, pictures) = (fill, jobs, decisions, fill.pictures)
        (self.feed, self.work) = (feed, work)
        (self.onEvent, self.progress) = (onEvent, progress)
        unfinished = Set(jobs.indices)
        summary.albums = jobs.count
    }

    mutating func start() async {
        for job in jobs { steps.append(await fill.steps(of: job, decisions[job.album.id] ?? .init())) }
        for number in jobs.indices { advance(number) }
    }

    mutating func take(_ message: Message) async {
        switch message {
        case .ended(let error): problem = error
        case .found(let number, let findings):
            searches -= 1
            if unfinished.contains(number) {
                steps[number].add(findings)
                advance(number)
            }
            search()
            summary.slowest = await fill.queue.slowest(more: waiting.count).map {
                FillSummary.Slowest(source: $0, end: .now + $1)
            }
            // The time that is left is shown without an event.
            progress(summary)
        case .tags(let number, let path):
            await take(tags: path, of: number)
            path?.withCString { _ = unlink($0) }
        case .compared(let number, let comparison):
            guard unfinished.contains(number) else { return }
            let query = jobs[number].query
            let judged = comparison?.judged(query, among: steps[number].doubtful, &pictures) ?? []
            for cover in judged where cover.match == .repeated { await fill.queue.note(.repeated, of: cover) }
            steps[number].add(compared: judged)
            advance(number)
        case .outcome(let outcome):
            guard let number = outcome.line.map({ $0 - 1 }) else { return }
            if unfinished.contains(number) { await take(outcome, of: number) }
        }
    }

    private mutating func take(tags path: BytePath?, of number: Int) async {
        guard unfinished.contains(number) else { return }
        let job = jobs[number]
        guard let path, let digest = job.embedded?.digest else { return advance(number) }
        var picture = FillPicture(
            path: path, digest: digest, name: SourceCandidate(picture: digest.description, of: job.query).name)
        (picture.likenesses, picture.origin) = (fill.likenesses, .tags)
        if let objection = await objection(to: picture, of: number) {
            return await take(objection, to: picture, of: number)
        }
        await write(number, picture)
    }

    private mutating func take(_ outcome: CoverOutcome, of number: Int) async {
        let (offer, job) = (offers[number], jobs[number])
        guard let digest = outcome.contentDigest else {
            if let offer, outcome.isAbsent { await fill.queue.note(.absent, of: offer) }
            let reason = outcome.failure?.message ?? "there is no picture"
            if let offer, offer.name.isAddress { note(.placeholder(job.album, url: offer.pictures[0], reason: reason)) }
            steps[number].didFail(outcome.failure?.message ?? "", isAbsent: outcome.isAbsent)
            return advance(number)
        }
        // What an earlier fill has found is an offer of then.
        let known =
            offer == nil
            ? await fill.queue.cover(at: outcome.url, for: job.query, steps[number].decisions) : offer
        var picture = FillPicture(
            path: BytePath(fill.library.coverFile(digest)), digest: digest,
            name: known?.name ?? PictureName(.picture, job.query, urls: [outcome.url]))
        (picture.url, picture.offer, picture.likenesses) = (outcome.url, offer, fill.likenesses)
        if offer?.name.isAddress == true { picture.giver = .address }
        picture.hasOneColour = offer.map { $0.match != .accepted } == true && fill.library.hasOneColor(digest)
        if let objection = await objection(to: picture, of: number) {
            return await take(objection, to: picture, of: number, isFromCache: outcome.kind == .fresh)
        }
        let isRepeated = pictures.add(digest, fill.likenesses.likeness(of: digest, at: picture.path), of: job.query)
        if let offer, offer.match.isByName {
            if isRepeated { return await doubtRepeated(offer, digest, of: number) }
            await fill.queue.note(nil, of: offer)
        }
        picture.origin = known.flatMap { $0.source == .picture ? nil : .source($0.source) } ?? .own
        await write(number, picture)
    }

    /// What the gate says of a picture. An album whose memory cannot be read gets none.
    private func objection(to picture: FillPicture, of number: Int) async -> Objection? {
        do { return try await fill.writer.objection(to: picture, for: jobs[number].album.id) } catch { return .refused }
    }

    /// A picture may not be written: others are tried.
    private mutating func take(
        _ objection: Objection, to picture: FillPicture, of number: Int, isFromCache: Bool = false
    ) async {
        let (offer, job) = (picture.offer, jobs[number])
        switch (objection, picture.url) {
        case (.damaged(let damage), let url?):
            // What the cache has may have been cut off on its way.
            if isFromCache, reloaded.insert(url).inserted {
                feed.yield(request(job, [url], number, .reload))
                return
            }
            steps[number].didFail("\(Redaction.redact(url)): the picture \(damage)", isAbsent: false)
        case (.placeholder(let reason), let url?):
            note(.placeholder(job.album, url: url, reason: reason))
            if let offer { await fill.queue.note(.rejected("the picture \(reason)"), of: offer) }
        case (.damaged(let reason), nil), (.placeholder(let reason), nil):
            steps[number].reject("the picture in its tags \(reason)")
        case (.alike, _) where offer != nil:
            if let offer { return doubt(offer.alike, of: number) }
        case (.other, _) where offer?.match == .accepted:
            if let offer { return doubt(offer.judged(.replaced), of: number) }
        case (.refused, _): steps[number].reject(objection.reason)
        default: steps[number].hold(objection.reason)
        }
        advance(number)
    }

    /// The cover's picture is that of unrelated albums: it is not written, and taken back from those.
    private mutating func doubtRepeated(_ cover: SourceCandidate, _ digest: Digest, of number: Int) async {
        let renditions = pictures.renditions(of: digest)
        summary.repeatedPictures.formUnion(renditions)
        for digest in renditions { await takeBack(digest) }
        await fill.queue.note(.repeated, of: cover)
        doubt(cover.judged(.repeated), of: number)
    }

    private mutating func doubt(_ cover: SourceCandidate, of number: Int) {
        steps[number].doubt(cover)
        advance(number)
    }

    // MARK: Steps

    private mutating func advance(_ number: Int) {
        let job = jobs[number]
        switch steps[number].next() {
        case .download(let urls, let cover):
            offers[number] = cover
            feed.yield(request(job, urls, number))
        case .tags:
            guard let picture = job.embedded?.digest else { return advance(number) }
            work.yield(.tags(number, picture, in: job.audioFolders))
        case .compare(let covers):
            guard let picture = job.embedded?.digest else { return advance(number) }
            work.yield(.comparison(number, covers, picture, in: job.audioFolders))
        case .search(let skipped):
            waiting.append((number, skipped))
            search()
        case .end(let end):
            // What an upgrade does not find is no loss: the album has a cover.
            var outdated: Set<Written> = []
            for case (let file?, let cover?) in job.targets.map({ ($0.former, $0.outdated) })
            where cover.isOther || cover.source.map(steps[number].answered.contains) == true {
                outdated.insert(file)
                summary.outdated.insert(file.number)
                note(.outdated(job.album, file.path, cover.cause))
            }
            let isCounted = job.targets.contains { $0.outdated?.isOther == true }
            if !isCounted, !outdated.isEmpty { summary.uncovered += 1 }
            let kept = fill.options.writesAcceptedOnly ? [] : job.kept.filter { !outdated.contains($0) }
            let ended = kept.count == job.folders.count ? [] : [FillEvent.ended(job.album, end)]
            finish(number, kept.map { .exists(job.album, $0.path) } + ended)
        }
    }

    private mutating func search() {
        while searches < Self.maximumSearches, let (number, skipped) = waiting.popFirst() {
            guard unfinished.contains(number) else { continue }
            searches += 1
            work.yield(.search(number, jobs[number].query, steps[number].decisions, skipping: skipped))
        }
    }

    private func request(
        _ job: FillJob, _ urls: [String], _ number: Int, _ cachePolicy: CoverRequest.CachePolicy = .useCache
    ) -> CoverRequest {
        // Only the URLs count: the album's other locations are the sources' concern.
        var album = Album(id: job.album.id, title: job.album.title, artist: job.album.artist, coverURL: urls[0])
        album.alternateCoverURLs = Array(urls.dropFirst())
        var request = CoverRequest(album: album, cachePolicy: cachePolicy)
        request.line = number + 1
        return request
    }

    private mutating func finish(_ number: Int, _ events: [FillEvent]) {
        unfinished.remove(number)
        for event in events { note(event) }
        if unfinished.isEmpty { feed.finish() }
    }

    private mutating func note(_ event: FillEvent) {
        summary.add(event)
        onEvent(event)
        progress(summary)
    }

    // MARK: Files

    private mutating func write(_ number: Int, _ picture: FillPicture) async {
        let job = jobs[number]
        var (events, others, isWritten): ([FillEvent], [FillEvent], Bool) = ([], [], false)
        for target in job.targets {
            switch await fill.write(picture, to: target, of: job) {
            case .written(let file, let bytes):
                isWritten = true
                events.append(.written(job.album, file, bytes: bytes, url: picture.url, origin: picture.origin))
                if let offer = picture.offer, offer.match.isByName, target.former == nil {
                    byName[picture.digest, default: []].append((number, file, bytes, offer))
                }
            case .exists(let path): events.append(.exists(job.album, path))
            case .notLarger(let path): others.append(.exists(job.album, path))
            case .refused(let objection):
                steps[number].hold(objection.reason)
                others.append(.unwritten(job.album, folder: target.folder, reason: objection.reason))
            case .failed(let folder, let reason):
                events.append(.unwritten(job.album, folder: folder, reason: reason))
            case .noRoom(let folder, let reason): stop(folder, reason)
            }
        }
        if !job.tagFolders.isEmpty {
            isWritten = true
            summary.tagCovers[job.album.id] = picture
            if let offer = picture.offer, offer.match.isByName {
                byName[picture.digest, default: []].append((number, nil, 0, offer))
            }
        }
        if isWritten { summary.filled += 1 }
        guard unfinished.contains(number) else { return events.forEach { note($0) } }
        if events.isEmpty, !isWritten {
            // Another source may have a larger one.
            return advance(number)
        }
        finish(number, events + others)
        if ContinuousClock.now - noted > Self.noteInterval {
            // A failure is that of the end, too.
            try? await fill.noteCovers()
            noted = .now
        }
    }

    /// Ends the albums whose folders are all on a file system that takes no more files: nothing is requested for them.
    private mutating func stop(_ folder: BytePath, _ reason: String) {
        summary.isDiskStopped = true
        guard let disk = folder.device else {
            return note(.stopped(folder: folder, reason: reason))
        }
        if stoppedDisks.insert(disk).inserted { note(.stopped(folder: folder, reason: reason)) }
        for number in unfinished.sorted() {
            let job = jobs[number]
            guard job.folders.allSatisfy({ $0.device.map(stoppedDisks.contains) ?? false }) else { continue }
            finish(number, job.folders.map { .unwritten(job.album, folder: $0, reason: reason) })
        }
    }

    /// Removes the files of this run again whose picture has turned out to be that of unrelated albums.
    private mutating func takeBack(_ digest: Digest) async {
        for (number, file, bytes, offer) in byName.removeValue(forKey: digest) ?? [] {
            let album = jobs[number].album
            summary.tagCovers[album.id] = nil
            if let file {
                guard await fill.writer.takeBack(file) else { continue }
                note(.takenBack(album, file.path, bytes: bytes))
            }
            guard takenBack.updateValue(offer.pictures, forKey: album.id) == nil else { continue }
            await fill.queue.note(.repeated, of: offer)
            summary.filled -= 1
            note(.ended(album, .doubtful([offer.judged(.repeated)])))
        }
    }
}

extension CoverOutcome {
    /// The server says that there is no such picture. A placeholder is no failure, and no cover.
    fileprivate var isAbsent: Bool { failure.map { [404, 410].contains($0.status) } ?? true }
}
