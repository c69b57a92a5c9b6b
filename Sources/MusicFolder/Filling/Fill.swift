import AlbumLibrary
package import CoverLibrary
package import CoverSources
import Platform

/// Finds, downloads and writes the covers of albums: one prefetch for all of them, to which a search adds what it finds.
package struct Fill: Sendable {
    /// Albums for which sources are asked at a time. Most of them wait in line: the queue sees how long its lines are.
    private static let maximumSearches = 1_000
    /// How often the library is given what was found.
    private static let noteInterval = Duration.seconds(60)

    private let library: LibraryAPI
    private let queue: SourceQueue
    private let sources: Set<SourceName>
    private let writer: CoverWriter
    private let options: FillOptions
    private let written: RepeatedPictures

    /// - Parameters:
    ///   - sources: The names of the queue's sources.
    ///   - written: The pictures of earlier fills.
    package init(
        _ library: LibraryAPI, asking queue: SourceQueue, _ sources: Set<SourceName>, writer: CoverWriter,
        options: FillOptions, written: RepeatedPictures = .init()
    ) {
        (self.library, self.queue, self.sources) = (library, queue, sources)
        (self.writer, self.options, self.written) = (writer, options, written)
    }

    private enum Message: Sendable {
        case outcome(CoverOutcome)
        case found(Int, SourceFindings)
        /// The prefetch has ended, perhaps early.
        case ended(LibraryError?)
    }

    /// The albums of a run, by their numbers.
    private struct State {
        var steps: [FillSteps]
        /// What each album's current download is of.
        var offers: [Int: SourceCandidate] = [:]
        var waiting: ArraySlice<(job: Int, skipped: Set<SourceName>)> = []
        var searches = 0
        var unfinished: Int
        var summary = FillSummary()
        var pictures: RepeatedPictures
        /// When the library was last given what was found.
        var noted = ContinuousClock.now
    }

    /// Runs to the end, or until its task is cancelled; covers that were written stay.
    /// - Parameters:
    ///   - onEvent: Called for each file and each album without one.
    ///   - progress: Called with the counts after each of them.
    /// - Throws: `LibraryError`.
    package func run(
        _ jobs: [FillJob], onEvent: (FillEvent) -> Void = { _ in }, progress: (FillSummary) -> Void = { _ in }
    ) async throws -> FillSummary {
        var state = State(
            steps: jobs.map { job in
                FillSteps(own: job.ownURLs, sources: sources, acceptsDoubtful: options.acceptsDoubtful)
            }, unfinished: jobs.count, pictures: written)
        state.summary.albums = jobs.count
        try await noteFoundURLs()
        if jobs.isEmpty { return state.summary }
        let (requests, feed) = AsyncStream<CoverRequest>.makeStream()
        let (messages, inbox) = AsyncStream<Message>.makeStream()
        let outcomes = library.prefetch(requests)
        var problem: LibraryError?
        await withTaskGroup { group in
            group.addTask {
                do throws(LibraryError) {
                    for try await outcome in outcomes { inbox.yield(.outcome(outcome)) }
                    inbox.yield(.ended(nil))
                } catch {
                    inbox.yield(.ended(error))
                }
                inbox.finish()
            }
            func search() {
                while state.searches < Self.maximumSearches, let (number, skipped) = state.waiting.popFirst() {
                    state.searches += 1
                    let query = jobs[number].query
                    group.addTask { [queue] in
                        guard let found = try? await queue.find(query, skipping: skipped) else { return }
                        inbox.yield(.found(number, found))
                    }
                }
            }
            func advance(_ number: Int) {
                switch state.steps[number].next() {
                case .download(let urls, let candidate):
                    state.offers[number] = candidate
                    feed.yield(request(jobs[number], urls, number))
                case .search(let skipped):
                    state.waiting.append((number, skipped))
                    search()
                case .end(let end):
                    // What an upgrade does not find is no loss: the album has a cover.
                    let formers = jobs[number].targets.compactMap(\.former)
                    let isUpgrade = formers.count == jobs[number].targets.count
                    finish(
                        isUpgrade
                            ? formers.map { .exists(jobs[number].album, $0.path) }
                            : [FillEvent(end, jobs[number].album)])
                }
            }
            func finish(_ events: [FillEvent]) {
                for event in events { note(event) }
                state.unfinished -= 1
                if state.unfinished == 0 { feed.finish() }
            }
            func note(_ event: FillEvent) {
                state.summary.add(event)
                onEvent(event)
                progress(state.summary)
            }
            for number in jobs.indices { advance(number) }
            for await message in messages {
                switch message {
                case .ended(let error): problem = error
                case .found(let number, let findings):
                    state.searches -= 1
                    state.steps[number].add(findings)
                    advance(number)
                    search()
                    // The time that is left is shown without an event.
                    defer { progress(state.summary) }
                    state.summary.slowest = await queue.slowest(more: state.waiting.count).map {
                        FillSummary.Slowest(source: $0, end: .now + $1)
                    }
                case .outcome(let outcome):
                    guard let number = outcome.line.map({ $0 - 1 }), jobs.indices.contains(number) else { continue }
                    // It waits for requests before it ends.
                    if let reason = outcomes.counts.stopReason {
                        state.summary.stopReason = reason
                        feed.finish()
                    }
                    let (offer, query) = (state.offers[number], jobs[number].query)
                    guard let digest = outcome.contentDigest else {
                        if let offer, outcome.isAbsent {
                            await queue.judge(offer.rejected("the server has no picture of it"), for: query)
                        }
                        state.steps[number].didFail(outcome)
                        advance(number)
                        continue
                    }
                    if let placeholder = Placeholder(outcome, digest, offer, library) {
                        note(.placeholder(jobs[number].album, url: outcome.url, reason: placeholder.reason))
                        if let offer {
                            await queue.judge(offer.rejected("the picture \(placeholder.reason)"), for: query)
                        }
                        state.steps[number].didFail(outcome)
                        advance(number)
                        continue
                    }
                    let isRepeated = state.pictures.add(digest.description, of: query)
                    if let offer, offer.match.isByName {
                        let judged =
                            isRepeated ? offer.doubted("albums of other artists have the same picture") : offer
                        await queue.judge(judged, for: query)
                        if isRepeated {
                            state.steps[number].doubt(judged)
                            advance(number)
                            continue
                        }
                    }
                    let events = await write(jobs[number], digest, outcome.url, offer)
                    if events.isEmpty {
                        // Another source may have a larger one.
                        state.steps[number].didFail("", isAbsent: true)
                        advance(number)
                        continue
                    }
                    if events.contains(where: { if case .written = $0 { true } else { false } }) {
                        state.summary.filled += 1
                    }
                    finish(events)
                    if ContinuousClock.now - state.noted > Self.noteInterval {
                        // A failure is that of the end, too.
                        try? await noteFoundURLs()
                        state.noted = .now
                    }
                }
            }
            group.cancelAll()
        }
        state.summary.isCancelled = state.unfinished > 0
        try await noteFoundURLs()
        if let problem { throw problem }
        return state.summary
    }

    private func request(_ job: FillJob, _ urls: [String], _ number: Int) -> CoverRequest {
        // Only the URLs count: the album's other locations are the sources' concern.
        var album = Album(id: job.album.id, title: job.album.title, artist: job.album.artist, coverURL: urls[0])
        album.alternateCoverURLs = Array(urls.dropFirst())
        var request = CoverRequest(album: album)
        request.line = number + 1
        return request
    }

    private func write(
        _ job: FillJob, _ digest: Digest, _ url: String, _ offer: SourceCandidate?
    ) async -> [FillEvent] {
        var events: [FillEvent] = []
        let source = library.coverFile(digest)
        let origin = if let offer { offer.source } else { await queue.source(of: url, for: job.query) }
        for target in job.targets {
            let result = await writer.write(
                source, digest, to: target, of: job.album.id, title: job.album.title, foundAt: offer == nil ? nil : url)
            switch result {
            case .written(let file, let bytes):
                events.append(.written(job.album, file, bytes: bytes, url: url, source: origin))
            case .exists(let path): events.append(.exists(job.album, path))
            case .notLarger: break
            case .failed(let folder, let reason), .noRoom(let folder, let reason):
                events.append(.unwritten(job.album, folder: folder, reason: reason))
            }
        }
        return events
    }

    /// Gives albums of the library without a URL those at which sources had their covers, so that the gallery shows them: of this fill, and
    /// of one that was killed.
    private func noteFoundURLs() async throws {
        let urls = try await writer.foundURLs()
        if urls.isEmpty { return }
        let found = try await library.albums.all().compactMap { album -> (former: Album, album: Album)? in
            guard let url = urls[album.id], album.coverURL?.isEmpty != false else { return nil }
            var filled = album
            filled.coverURL = url
            return (album, filled)
        }
        try await writer.edit(found, in: library)
        try await writer.forgetFoundURLs()
    }
}

extension FillEvent {
    fileprivate init(_ end: FillSteps.End, _ album: Album) {
        self =
            switch end {
            case .missing: .missing(album)
            case .doubtful(let candidates): .doubtful(album, candidates)
            case .failed(let reason, let isKnown): .failed(album, reason: reason, isKnown: isKnown)
            }
    }
}

extension FillSteps {
    fileprivate mutating func didFail(_ outcome: CoverOutcome) {
        didFail(outcome.failure?.message ?? "", isAbsent: outcome.isAbsent)
    }
}

extension CoverOutcome {
    /// The server says that there is no such picture. A placeholder is no failure, and no cover.
    fileprivate var isAbsent: Bool { failure.map { [404, 410].contains($0.status) } ?? true }
}

extension Placeholder {
    /// Nil for a downloaded picture that may be a cover. A person's URL, and a cover that a person has accepted, may have one colour.
    fileprivate init?(
        _ outcome: CoverOutcome, _ digest: Digest, _ offer: SourceCandidate?, _ library: LibraryAPI
    ) {
        var file = CoverFile(path: BytePath(library.coverFile(digest)), byteCount: Int64(outcome.bytes))
        file.readHeader()
        let isOffered = offer.map { $0.match != .accepted } ?? false
        self.init(
            digest: digest.description, width: file.width, height: file.height,
            hasOneColour: isOffered && library.hasOneColor(digest))
    }
}
