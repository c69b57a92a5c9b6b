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

    /// The cached covers around the album a browser opens on. Empty if it does not show the albums in the library's order.
    func firstCovers(of client: String?) async -> [AlbumCover] {
        guard let list = try? await library.albums.current().albums, !list.isEmpty else { return [] }
        var centre = 0
        /// How many albums on each side.
        var reach = 8
        if let client, let memento = try? await library.albums.memento(of: client) {
            guard memento.order == "library" else { return [] }
            // The index is the browser's claim, and the library may have shrunk. The wall's position is that of its first row.
            let first = memento.view == "wall" ? Int(memento.position) + Self.wallReach / 2 : memento.index
            centre = min(max(first, 0), list.count - 1)
            if memento.view == "wall" { reach = Self.wallReach }
        }
        let near = list[max(centre - reach, 0)...min(centre + reach, list.count - 1)].map(\.id)
        return ((try? await albums.covers(of: near)) ?? []).filter { $0.cached != nil }
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
