import AlbumLibrary
import CoverLibrary
import CoverSources
import CZlib
import Platform
import Synchronization

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
    /// Those that a page may open on.
    private var firstRows: [String] = []
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

    /// The most that `first` gives.
    private static let maximumFirst = 100

    /// The first albums, as `text` has them. Nil if there are none.
    func first(_ count: Int) async -> String? {
        guard (try? await refresh()) != nil, !firstRows.isEmpty else { return nil }
        return Self.list(firstRows.prefix(count))
    }

    private static func list(_ rows: some Sequence<String>) -> String { "[" + rows.joined(separator: ",") + "]" }

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
        albums = Self.list(rows)
        firstRows = Array(rows.prefix(Self.maximumFirst))
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

/// The cover files that people have beside their music, by their digests, as pages name covers. Nothing of them is copied: a file is read when
/// a page wants it. Its digest is computed once for each version of the file.
final class CoverFiles: Sendable {
    /// A version of a file.
    struct Version: Sendable {
        fileprivate var name: String
        /// nil for a file that is no cover.
        fileprivate(set) var digest: String?
        fileprivate(set) var longestSide: Int?
    }

    private struct State {
        var versions: [Album.ID: Version] = [:]
        /// An album whose file had this digest.
        var albums: [String: Album] = [:]
    }

    private let state = Mutex(State())

    /// The versions of the albums' files; nil for albums without one, or whose file is gone.
    func versions(of albums: [Album]) async -> [Album.ID: Version] {
        let albums = albums.filter { $0.coverFile != nil }
        let share = max(1, (albums.count + Self.threads - 1) / Self.threads)
        return await withTaskGroup(of: [(Album.ID, Version?)].self) { group in
            for start in stride(from: 0, to: albums.count, by: share) {
                let part = albums[start..<min(start + share, albums.count)]
                group.addTask { await WorkThread.run { part.map { ($0.id, self.version(of: $0)) } } }
            }
            var found: [Album.ID: Version] = [:]
            for await part in group { for (id, version) in part { found[id] = version } }
            return found
        }
    }

    /// How many read files at a time.
    private static let threads = 4

    /// Which albums have a file, whatever is in it.
    func haveFiles(_ albums: [Album]) async -> [Bool] {
        await WorkThread.run { albums.map { $0.coverFileVersion != nil } }
    }

    private func version(of album: Album) -> Version? {
        guard let name = album.coverFileVersion.map({ "\($0) \(album.coverFile ?? "")" }) else { return nil }
        if let known = state.withLock({ $0.versions[album.id] }), known.name == name { return known }
        var version = Version(name: name)
        if let cover = Cover(fileOf: album) {
            version.digest = cover.digest
            version.longestSide = [cover.width, cover.height].compactMap(\.self).max()
        }
        state.withLock { [version] state in
            if let former = state.versions.updateValue(version, forKey: album.id)?.digest { state.albums[former] = nil }
            if let digest = version.digest { state.albums[digest] = album }
        }
        return version
    }

    /// The cover with this digest, if a file that a page was told of still has it.
    func cover(digest: String) async -> Cover? {
        guard let album = state.withLock({ $0.albums[digest] }) else { return nil }
        let cover = await WorkThread.run { Cover(fileOf: album) }
        return cover?.digest == digest ? cover : nil
    }
}

/// The gzip content coding (RFC 1952).
enum Gzip {
    /// The compressed bytes; nil if zlib has no memory.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // 16 more than the window's size selects gzip.
        let code = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK, let length = UInt32(exactly: bytes.count) else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(length))))
        let isComplete = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = length
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(clamping: output.count)
                return deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
        }
        return isComplete ? Array(output.prefix(Int(stream.total_out))) : nil
    }
}
