package import AlbumLibrary
import CoverLibrary
import CoverSources
import NIOCore
import Platform

/// The paths of the cover files that were written beside the music of these albums, by their ids.
package typealias WrittenFiles = @Sendable (Set<Album.ID>) -> [Album.ID: [UInt8]]

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
    private let writtenFiles: WrittenFiles
    private var revision: String?
    private var albums = ""
    /// The latest text that was compressed.
    private var compressed: (tag: String, bytes: ByteBuffer)?
    /// The keys of all URLs of an album's cover, in the order of trying, or why there is none.
    private var keys: [Album.ID: Result<[String], CoverFailure>] = [:]
    private var byID: [Album.ID: Album] = [:]

    init(_ library: LibraryAPI, _ writtenFiles: @escaping WrittenFiles) {
        (self.library, self.writtenFiles) = (library, writtenFiles)
    }

    /// `{"version", "albums": […], "undo", "redo", "edit", "remote"}`, and its entity tag.
    /// - Throws: `LibraryError`.
    func text() async throws -> (ByteBuffer, tag: String) {
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
        return (ByteBuffer(string: text), "\"\(revision)-\(waiting)\"")
    }

    /// `text`, compressed. Nil if there is no memory.
    func compressed(_ text: ByteBuffer, tag: String) -> ByteBuffer? {
        if let compressed, compressed.tag == tag { return compressed.bytes }
        compressed = Gzip.compressed(text).map { (tag, $0) }
        return compressed?.bytes
    }

    /// The covers of these albums, in order. Cover files are read, unless only whether there is one is wanted.
    /// - Throws: `LibraryError`, `CoverFailure`.
    func covers(of ids: [Album.ID], readsFiles: Bool = true) async throws -> [AlbumCover] {
        try await refresh()
        let withFile = ids.compactMap { byID[$0] }.filter { $0.coverFile != nil }
        let covers = ids.map { id in
            switch keys[id] {
            case .success(let keys)?:
                AlbumCover(album: id, keys: keys, severalURLs: keys.count > 1 ? byID[id] : nil)
            case .failure(let failure)?: AlbumCover(album: id, problem: CoverProblem(failure))
            case nil:
                AlbumCover(album: id, problem: CoverProblem(reason: "This album is no longer in the library."))
            }
        }
        var statuses = try await library.statuses(of: covers.flatMap(\.keys).map { CoverRequest(location: $0) })[...]
        let files = await fileDigests(of: withFile, readsFiles)
        var found = covers.map { cover in
            var cover = cover
            cover.cached = statuses.prefix(cover.keys.count).lazy.compactMap(\.self).first
            statuses = statuses.dropFirst(cover.keys.count)
            if let digest = files[cover.album] { cover.cached = .init(digest: digest) }
            return cover
        }
        let written = await fileDigests(
            of: withWrittenFile(found.lazy.filter { $0.cached == nil }.map(\.album)), readsFiles)
        for index in found.indices { found[index].written = written[found[index].album].map { .init(digest: $0) } }
        return found
    }

    /// Those of the albums beside whose music a cover file was written, with its path.
    private func withWrittenFile(_ ids: some Sequence<Album.ID>) -> [Album] {
        writtenFiles(Set(ids)).compactMap { id, path in
            var album = byID[id]
            album?.coverFilePath = path
            return album
        }
    }

    private nonisolated func fileDigests(of albums: [Album], _ readsFiles: Bool) async -> [Album.ID: String] {
        if readsFiles { return await files.versions(of: albums).compactMapValues(\.digest) }
        var digests: [Album.ID: String] = [:]
        for album in albums where await files.hasFile(album) { digests[album.id] = "" }
        return digests
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
        keys = Dictionary(minimumCapacity: list.albums.count)
        for album in list.albums {
            keys[album.id] = Result { () throws(CoverFailure) in try library.keys(of: CoverRequest(album: album)) }
        }
        let written = writtenFiles(Set(keys.filter { (try? $0.value.get()) == nil }.keys))
        for album in list.albums {
            guard let keys = keys[album.id] else { continue }
            rows.append(
                Self.row(album, keys, album.coverFile ?? written[album.id].map { String(decoding: $0, as: UTF8.self) }))
        }
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
