import AlbumLibrary
import CoverLibrary
import Platform
import Synchronization

/// The gallery's shared state and background tasks.
final class GalleryModel: Sendable {
    let library: LibraryAPI
    let albums: AlbumIndex
    let sessions: PageSessions
    let prefetch: PrefetchRun
    let runs: GalleryRuns
    let review: (any CoverReview)?
    private let cache: CacheReporter
    private let remote: RemoteSync?
    private let background = Mutex<Task<Void, Never>?>(nil)

    init(library: LibraryAPI, review: (any CoverReview)?, runs: [any GalleryRun]) {
        self.library = library
        self.review = review
        albums = AlbumIndex(library)
        let sessions = PageSessions(library, albums)
        self.sessions = sessions
        prefetch = PrefetchRun(library, sessions)
        self.runs = GalleryRuns(runs, sessions, albums)
        cache = CacheReporter(library, sessions)
        remote = library.configuration.remote.map { RemoteSync(library, url: $0.absoluteString, sessions) }
    }

    func start() async {
        await library.albums.removeUnusedPictures()
        let events = library.events(limit: 16_384)
        // Later changes of the library file are detected by comparison with this state.
        _ = try? await library.albums.current()
        let task = Task {
            await withDiscardingTaskGroup { [self] group in
                group.addTask { await self.forward(events) }
                group.addTask { await self.sessions.receiveArrivals() }
                group.addTask { await Self.every(.seconds(15)) { await self.sessions.sendHeartbeats() } }
                group.addTask {
                    for await _ in await self.library.albums.fileChanges() {
                        await self.readAlbums()
                        // A program may save all the time.
                        try? await Task.sleep(for: .milliseconds(100))
                    }
                }
                // Not every change is reported.
                group.addTask { await Self.every(.seconds(1)) { await self.readAlbums() } }
                group.addTask { await Self.every(.seconds(10)) { await self.runs.findPossible() } }
                group.addTask { await Self.every(.seconds(1)) { await self.cache.report() } }
                group.addTask { await Self.every(.seconds(1)) { await self.sessions.retry() } }
                if let remote { group.addTask { await Self.every(.seconds(1)) { await remote.send() } } }
            }
        }
        background.withLock { $0 = task }
    }

    func close() async {
        await sessions.close()
        await prefetch.stop()
        await runs.stop()
        let task = background.withLock { $0.take() }
        task?.cancel()
        await task?.value
    }

    private static let wallReach = 48

    /// What a browser opens on, if it shows the albums in the library's order.
    struct Opening {
        /// The cached covers around the album.
        var covers: [AlbumCover] = []
        /// The first albums as `AlbumIndex.text` has them, if the browser opens on these.
        var albums: (text: String, count: Int)?
    }

    func opening(of client: String?) async -> Opening {
        guard let list = try? await library.albums.current().albums, !list.isEmpty else { return Opening() }
        var memento = LibraryMemento(album: nil, index: 0, position: 0)
        memento.view = "wall"
        if let client, let saved = try? await library.albums.memento(of: client) { memento = saved }
        guard memento.order == "library" else { return Opening() }
        // The index is the browser's claim, and the library may have shrunk. The wall's position is that of its first row.
        let isWall = memento.view == "wall"
        let first = isWall ? Int(memento.position) + Self.wallReach / 2 : memento.index
        /// How many albums on each side.
        let reach = isWall ? Self.wallReach : 8
        let centre = min(max(first, 0), list.count - 1)
        let near = list[max(centre - reach, 0)...min(centre + reach, list.count - 1)].map(\.id)
        var opening = Opening()
        opening.covers = ((try? await albums.covers(of: near)) ?? []).filter { $0.cached != nil }
        if isWall, memento.position == 0, memento.index < near.count {
            opening.albums = await albums.first(near.count).map { ($0, list.count) }
        }
        return opening
    }

    /// The digests of the cached ones of the first four covers.
    func firstCovers() async -> [String] {
        guard let first = try? await library.albums.current().albums.prefix(4) else { return [] }
        let covers = try? await albums.covers(of: first.map(\.id))
        return covers?.compactMap { $0.cached?.digest } ?? []
    }

    /// Detects changes that other programs made to the library file.
    private func readAlbums() async {
        if await !sessions.isEmpty { _ = try? await library.albums.current() }
    }

    private func forward(_ events: AsyncStream<LibraryEvent>) async {
        for await event in events {
            switch event {
            case .arrived(let arrival):
                await sessions.didArrive(arrival.url, digest: arrival.digest ?? "", at: arrival.date ?? Date())
            case .failed(let failure): await sessions.didFail(failure)
            // A page looks its covers up when it shows them.
            case .removed: break
            case .albumsChanged: await reportAlbums()
            // What was missed, or is news to this version, may be anything.
            default:
                await sessions.checkCache()
                await reportAlbums()
            }
        }
    }

    private func reportAlbums() async {
        guard let list = try? await library.albums.current() else { return }
        await sessions.broadcast("library", jsonText { $0.add("version", list.revision) })
    }

    private static func every(_ interval: Duration, _ body: () async -> Void) async {
        while !Task.isCancelled {
            await body()
            try? await Task.sleep(for: interval)
        }
    }
}

/// The prefetch of the whole library that a page can start; one at a time.
actor PrefetchRun {
    private let library: LibraryAPI
    private let sessions: PageSessions
    private var task: Task<Void, Never>?
    /// Of the current or last run.
    private var failures = FailedCovers()

    init(_ library: LibraryAPI, _ sessions: PageSessions) {
        self.library = library
        self.sessions = sessions
    }

    /// - Returns: False if a prefetch is running already.
    func start() -> Bool {
        if task != nil { return false }
        task = Task {
            await run()
            task = nil
        }
        return true
    }

    /// Cancels the run and waits for its end. Covers that had arrived are kept.
    func stop() async {
        task?.cancel()
        await task?.value
    }

    private func run() async {
        failures = FailedCovers()
        var (total, summary) = (0, RunSummary())
        do {
            // An album whose cover is a person's file needs no other.
            let albums = try await library.albums.all().filter { album in
                album.coverFile == nil || (try? library.keys(of: CoverRequest(album: album))) != nil
            }
            total = albums.count
            // The user asked for all covers, so those with a cached 404 or 410 are requested again.
            let outcomes = library.prefetch(
                albums.map { CoverRequest(album: $0, cachePolicy: .ignoreAbsence) })
            defer { summary = outcomes.progress }
            async let _: Void = publish(total: albums.count) { outcomes.progress }
            for try await outcome in outcomes {
                // Albums without a usable URL are counted as skipped.
                guard let failure = outcome.failure, outcome.kind != .skipped else { continue }
                failures.add(failure, url: outcome.url, album: outcome.line.map { albums[$0 - 1] })
            }
            if let cause = outcomes.progress.stopReason {
                failures.add(CoverProblem(reason: "The other covers could not be saved.", cause: cause))
            }
        } catch {
            failures.add(CoverProblem(reason: "\(error)"))
        }
        await publish(summary, total: total, isRunning: false)
    }

    /// Publishes a run's state four times a second until the task is cancelled.
    private func publish(total: Int, _ progress: @Sendable () -> RunSummary) async {
        repeat {
            await publish(progress(), total: total, isRunning: true)
        } while (try? await Task.sleep(for: .milliseconds(250))) != nil
    }

    private func publish(_ summary: RunSummary, total: Int, isRunning: Bool) async {
        let text = jsonText {
            $0.add("running", isRunning)
            $0.add("total", total)
            for (name, value) in [
                ("settled", summary.settled), ("downloaded", summary.downloaded), ("fresh", summary.fresh),
                ("joined", summary.joined), ("skipped", summary.skipped), ("failed", summary.failed),
                ("bytes", summary.bytes),
            ] {
                $0.add(name, value)
            }
            let seconds = summary.duration / .seconds(1)
            $0.add("seconds", seconds)
            $0.add("coversPerSecond", seconds > 0 ? Double(summary.downloaded) / seconds : 0)
            failures.add(to: &$0)
        }
        await sessions.broadcast("prefetch", text)
    }
}

/// Sends queued edits to the remote library, with exponential backoff after failures, and reports the queue to pages.
actor RemoteSync {
    private static let maximumBackoff = 60.0
    private let library: LibraryAPI
    private let url: String
    private let sessions: PageSessions
    /// In seconds.
    private var backoff = 1.0
    private var retryAt = ContinuousClock.now
    private var problem: String?

    init(_ library: LibraryAPI, url: String, _ sessions: PageSessions) {
        self.library = library
        self.url = url
        self.sessions = sessions
    }

    /// Called periodically.
    func send() async {
        if retryAt <= .now {
            do {
                let outbox = try await library.albums.sendEdits()
                if outbox.problem != nil {
                    retryAt = .now + .seconds(backoff * .random(in: 0.5...1))
                    backoff = min(backoff * 2, Self.maximumBackoff)
                } else {
                    backoff = 1
                }
                problem = outbox.refused.first ?? outbox.problem
            } catch {
                problem = "\(error)"
            }
        }
        guard let waiting = try? await library.albums.waitingEdits() else { return }
        await sessions.broadcast("remote", Self.state(url: url, waiting: waiting, problem: problem))
    }

    /// - Parameter waiting: How many edits are queued.
    static func state(url: String, waiting: Int, problem: String?) -> String {
        jsonText {
            $0.add("url", Redaction.redact(url))
            $0.add("waiting", waiting)
            $0.add("problem", problem.map { Redaction.redact($0) })
        }
    }
}

/// Reports the cache's totals to pages.
actor CacheReporter {
    private let library: LibraryAPI
    private let sessions: PageSessions
    private var nextReport = ContinuousClock.now

    init(_ library: LibraryAPI, _ sessions: PageSessions) {
        self.library = library
        self.sessions = sessions
    }

    /// Called periodically.
    func report() async {
        let start = ContinuousClock.now
        guard start >= nextReport, await !sessions.isEmpty, let totals = try? await library.statistics() else {
            return
        }
        // Counting a large cache takes time: at most 5 % of a thread's.
        nextReport = .now + start.duration(to: .now) * 20
        let text = jsonText {
            $0.add("entries", totals.entries)
            $0.add("bytes", totals.chargedBytes)
            $0.add("capacity", totals.capacity)
        }
        await sessions.broadcast("cache", text)
    }
}
