import AlbumLibrary
import CoverLibrary
import CoverSources
import Platform

/// An album's cover: where it may be, and whether it is cached.
struct AlbumCover: Sendable {
    let album: Album.ID
    /// The keys of its URLs, in the order of trying; empty if `problem` is set.
    var keys: [String] = []
    /// Why the album can have no cover.
    var problem: CoverProblem?
    /// Of the first of `keys` that is cached; nil if none is.
    var cached: CoverStatus?
    /// The file that was written beside the music, which is shown where nothing is cached and nothing can be downloaded.
    var written: CoverStatus?
    /// The album, if its cover has several URLs.
    fileprivate var severalURLs: Album?

    /// The request for the cover. Nil if `problem` is set.
    func request(_ policy: CoverRequest.CachePolicy) -> CoverRequest? {
        severalURLs.map { CoverRequest(album: $0, cachePolicy: policy) }
            ?? keys.first.map { CoverRequest(location: $0, cachePolicy: policy) }
    }
}

/// The library as pages read it: its JSON text, and the cache keys of its covers. Rebuilt when the library changes.
actor AlbumIndex {
    private let library: LibraryAPI
    nonisolated let files = CoverFiles()
    private var revision: String?
    private var albums = ""
    /// The latest text that was compressed.
    private var compressed: (tag: String, bytes: [UInt8])?
    /// The keys of all URLs of an album's cover, in the order of trying, or why there is none.
    private var keys: [Album.ID: Result<[String], CoverFailure>] = [:]
    private var byID: [Album.ID: Album] = [:]

    init(_ library: LibraryAPI) { self.library = library }

    /// `{"version", "albums": […], "undo", "redo", "edit", "remote"}`, and its entity tag.
    /// - Throws: `LibraryError`.
    func text() async throws -> ([UInt8], tag: String) {
        let revision = try await refresh()
        // A library in a read-only directory has no history.
        let history = try? await library.albums.history()
        let waiting = (try? await library.albums.waitingEdits()) ?? 0
        let remote = library.configuration.remote.map {
            RemoteSync.state(url: $0.absoluteString, waiting: waiting, problem: nil)
        }
        let text = jsonText {
            $0.add("version", revision)
            $0.add("albums", raw: albums)
            $0.add("undo", history?.undo?.title)
            $0.add("redo", history?.redo?.title)
            $0.add("edit", (history?.undo ?? history?.redo)?.number)
            $0.add("remote", raw: remote ?? "null")
        }
        return (Array(text.utf8), "\"\(revision)-\(waiting)\"")
    }

    /// `text`, compressed. Nil if there is no memory.
    func compressed(_ text: [UInt8], tag: String) -> [UInt8]? {
        if let compressed, compressed.tag == tag { return compressed.bytes }
        compressed = Gzip.compressed(text).map { (tag, $0) }
        return compressed?.bytes
    }

    /// The covers of these albums, in order. Cover files are read, unless only whether there is one is wanted.
    /// - Throws: `LibraryError`, `CoverFailure`.
    func covers(of ids: [Album.ID], readsFiles: Bool = true) async throws -> [AlbumCover] {
        try await refresh()
        let albums = ids.compactMap { byID[$0] }
        let covers = ids.map { id in
            switch keys[id] {
            case .success(let keys)?:
                AlbumCover(album: id, keys: keys, severalURLs: keys.count > 1 ? byID[id] : nil)
            case .failure(let failure)?: AlbumCover(album: id, problem: CoverProblem(failure))
            case nil:
                AlbumCover(album: id, problem: CoverProblem(reason: "This album is no longer in the library."))
            }
        }
        let shown = try await shownCovers(of: albums, readsFiles)
        let byAlbum = Dictionary(zip(albums.lazy.map(\.id), shown)) { first, _ in first }
        return covers.map { cover in
            var cover = cover
            switch byAlbum[cover.album] ?? nil {
            case .own(let status), .addressed(let status): cover.cached = status
            case .written(let status): cover.written = status
            case nil: break
            }
            return cover
        }
    }

    private nonisolated func shownCovers(
        of albums: [Album], _ readsFiles: Bool
    ) async throws -> [ShownCover<CoverStatus>?] {
        try await library.shownCovers(
            of: albums, files: { await statuses(ofFilesOf: $0, readsFiles) },
            addressed: { albums in try await library.statuses(of: albums.map { CoverRequest(album: $0) }) })
    }

    private nonisolated func statuses(ofFilesOf albums: [Album], _ readsFiles: Bool) async -> [CoverStatus?] {
        if readsFiles {
            let versions = await files.versions(of: albums)
            return albums.map { versions[$0.id]?.digest.map { CoverStatus(digest: $0) } }
        }
        return await files.haveFiles(albums).map { $0 ? CoverStatus(digest: "") : nil }
    }

    /// The first album whose cover may be at a URL.
    func album(at url: String) -> Album? {
        let ids = keys.lazy.filter { (try? $0.value.get())?.contains(url) ?? false }.map(\.key)
        return ids.compactMap { self.byID[$0] }.first
    }

    @discardableResult
    private func refresh() async throws -> String {
        let list = try await library.albums.current()
        if list.revision == revision { return list.revision }
        var rows: [String] = []
        rows.reserveCapacity(list.albums.count)
        var keys: [Album.ID: Result<[String], CoverFailure>] = Dictionary(minimumCapacity: list.albums.count)
        for album in list.albums {
            keys[album.id] = Result { () throws(CoverFailure) in try library.keys(of: CoverRequest(album: album)) }
        }
        let written = await library.writtenCovers(of: keys.filter { (try? $0.value.get()) == nil }.map(\.key))
        for album in list.albums {
            guard let keys = keys[album.id] else { continue }
            rows.append(
                Self.row(album, keys, album.coverFile ?? written[album.id].map { String(decoding: $0, as: UTF8.self) }))
        }
        self.keys = keys
        byID = Dictionary(list.albums.lazy.map { ($0.id, $0) }) { first, _ in first }
        albums = "[" + rows.joined(separator: ",") + "]"
        revision = list.revision
        return list.revision
    }

    /// - Parameter file: The path of the cover file, if there is one.
    private static func row(_ album: Album, _ keys: Result<[String], CoverFailure>, _ file: String?) -> String {
        jsonText {
            $0.add("id", album.id)
            $0.add("title", album.title)
            $0.add("artist", album.artist)
            // By what they are ordered, if that is not the whole.
            if let title = FoldedText.withoutArticle(album.title) { $0.add("titleKey", title) }
            if let artist = FoldedText.withoutArticle(album.artist) { $0.add("artistKey", artist) }
            $0.add("genre", album.genre)
            $0.add("year", album.year)
            let file = file.map { [$0] } ?? []
            switch keys {
            case .success(let keys):
                $0.add("hasCover", true)
                $0.add("cover", Self.tag(of: file + keys))
            case .failure where !file.isEmpty:
                $0.add("hasCover", true)
                $0.add("cover", Self.tag(of: file))
            case .failure(let failure):
                $0.add("hasCover", false)
                CoverProblem(failure).add(to: &$0, as: "problem")
            }
        }
    }

    /// A short text that differs when an album's cover file or URLs do.
    private static func tag(of keys: [String]) -> String {
        String(FNV1a.hash(keys.joined(separator: " ").utf8), radix: 36)
    }
}

/// The text of a JSON object.
func jsonText(_ fill: (inout JSONObject) throws -> Void) rethrows -> String {
    var object = JSONObject()
    try fill(&object)
    return object.text
}
