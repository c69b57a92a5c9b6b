import CoverLibrary

/// Everything behind the door: the library, its pages, and what keeps them informed.
final class Hall: Sendable {
    let library: LibraryAPI
    let catalogue: Catalogue
    let pages: Pages
    let prefetch: PrefetchRun
    private let cache: CacheWatch
    private let remote: RemoteWatch?
    private let watching: Watching

    init(library: LibraryAPI) {
        self.library = library
        catalogue = Catalogue(library)
        let pages = Pages(library, catalogue)
        self.pages = pages
        prefetch = PrefetchRun(library) { await pages.tellAll("prefetch", $0) }
        cache = CacheWatch(library, pages)
        remote = library.configuration.remote.map { RemoteWatch(library, url: $0, pages) }
        watching = Watching()
    }

    /// The tasks that end with the gallery.
    private actor Watching {
        var tasks: [Task<Void, Never>] = []
        func add(_ task: Task<Void, Never>) { tasks.append(task) }
        func end() async {
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
            tasks = []
        }
    }

    func begin() async {
        let events = library.events(limit: 16_384)
        // What is known now is what later states are told from.
        _ = try? await library.albums.current()
        await watching.add(Task { await follow(events) })
        await watching.add(Self.every(.seconds(15)) { [pages] in await pages.beat() })
        // Other processes and editors change the library file too; asking notices it.
        await watching.add(
            Self.every(.seconds(1)) { [pages, library] in
                if await !pages.isEmpty { _ = try? await library.albums.current() }
            })
        await watching.add(Self.every(.seconds(1)) { [cache] in await cache.look() })
        await watching.add(Self.every(.seconds(1)) { [pages] in await pages.retry() })
        if let remote { await watching.add(Self.every(.seconds(1)) { await remote.send() }) }
    }

    func close() async {
        await pages.close()
        await prefetch.stop()
        await watching.end()
    }

    /// A page's mailbox, with the state of things in it; nil: too many pages are open.
    func connect(_ page: String) async -> Mailbox? {
        guard let mailbox = await pages.connect(page) else { return nil }
        if let state = await prefetch.state { mailbox.post("prefetch", state) }
        if let state = await cache.state { mailbox.post("cache", state) }
        if let state = await remote?.state { mailbox.post("remote", state) }
        return mailbox
    }

    /// A cover that a page will show first.
    struct FirstCover {
        var id: Album.ID
        var version: String
        var isStale: Bool

        /// Where it is, whatever characters the id has (RFC 3986 section 2.3).
        var path: String {
            let id = self.id.utf8.map { byte -> String in
                let character = Character(UnicodeScalar(byte))
                if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                    return String(character)
                }
                return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
            return "/covers/\(id.joined())?v=\(version)"
        }
    }

    /// The covers in the cache around the album a browser will open on, if it shows the albums in the library's order.
    func firstCovers(of client: String?, reach: Int) async -> [FirstCover] {
        guard let albums = try? await library.albums.current().albums, !albums.isEmpty else { return [] }
        var centre = 0
        if let client, let memento = try? await library.albums.memento(of: client) {
            guard memento.order == "library" else { return [] }
            // The library may have become shorter since it was read.
            centre = min(max(memento.index, 0), albums.count - 1)
        }
        let near = albums[max(centre - reach, 0)...min(centre + reach, albums.count - 1)]
        guard let keys = try? await catalogue.keys(of: near.map(\.id)) else { return [] }
        let keyed = near.compactMap { album in (try? keys[album.id]?.get()).map { (album.id, $0) } }
        guard let versions = try? library.cachedVersions(of: keyed.map(\.1)) else { return [] }
        return zip(keyed, versions).compactMap { keyed, version in
            version.map { FirstCover(id: keyed.0, version: CoverVersion.of($0.digest), isStale: $0.isStale) }
        }
    }

    private func follow(_ events: AsyncStream<LibraryEvent>) async {
        for await event in events {
            switch event {
            case .arrived(let arrival):
                await pages.arrived(arrival.url, digest: arrival.digest, at: arrival.time)
            case .failed(let failure):
                // Where there are other places, whoever asks goes on to them.
                if await catalogue.places(of: failure.url).count == 1 {
                    await pages.failed(failure.url, failure, isEvent: true)
                }
            case .albumsChanged: await tellOfAlbums()
            case .missed:
                await pages.lookAgain()
                await tellOfAlbums()
            }
        }
    }

    private func tellOfAlbums() async {
        guard let list = try? await library.albums.current() else { return }
        var object = JSONObject()
        object.add("version", list.revision)
        await pages.tellAll("library", object.text)
    }

    private static func every(_ time: Duration, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                await body()
                try? await Task.sleep(for: time)
            }
        }
    }
}
