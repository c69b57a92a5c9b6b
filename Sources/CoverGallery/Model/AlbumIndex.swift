import CoverLibrary
import NIOCore

/// The library as pages read it: its JSON text, and the cache keys of its covers. Rebuilt when the library changes.
actor AlbumIndex {
    /// The keys of covers by album, or why there is none.
    typealias Keys = [Album.ID: Result<String, CoverFailure>]

    private let library: LibraryAPI
    private var revision: String?
    private var albums = ""
    /// The keys of all URLs of an album's cover, in the order of trying.
    private var keys: [Album.ID: Result<[String], CoverFailure>] = [:]
    /// The keys of covers with several URLs, by the first of them.
    private var alternatives: [String: [String]] = [:]

    init(_ library: LibraryAPI) { self.library = library }

    /// `{"version", "albums": […], "undo", "redo", "remote"}`, and its entity tag.
    /// - Throws: `LibraryError`.
    func text() async throws -> (ByteBuffer, tag: String) {
        let revision = try await refresh()
        // A library in a read-only directory has no history.
        let history = try? await library.history
        let waiting = (try? await library.waitingEdits) ?? 0
        let remote = library.configuration.remote.map { RemoteSync.state(url: $0, waiting: waiting, problem: nil) }
        let text = jsonText {
            $0.add("version", revision)
            $0.add("albums", raw: albums)
            $0.add("undo", history?.undo?.title)
            $0.add("redo", history?.redo?.title)
            $0.add("remote", raw: remote ?? "null")
        }
        return (ByteBuffer(string: text), "\"\(revision)-\(waiting)\"")
    }

    /// The keys of these albums' covers. Of several URLs the first that is cached, else the first.
    /// - Throws: `LibraryError`, `CoverFailure`.
    func keys(of ids: [Album.ID]) async throws -> Keys {
        _ = try await refresh()
        var found = Keys(minimumCapacity: ids.count)
        for id in ids {
            switch keys[id] {
            case .success(let keys)?:
                let versions = keys.count > 1 ? try library.cachedVersions(of: keys) : []
                found[id] = .success(keys[versions.firstIndex { $0 != nil } ?? 0])
            case .failure(let failure)?: found[id] = .failure(failure)
            case nil: break
            }
        }
        return found
    }

    /// All URLs of a cover that `keys(of:)` returned, in the order of trying.
    func urls(of key: String) -> [String] { alternatives[key] ?? [key] }

    /// The key of an album's cover; nil if there is no such album, or it can have no cover.
    func key(of id: Album.ID) async throws -> String? { try await keys(of: [id])[id].flatMap { try? $0.get() } }

    /// Which of these albums' covers are cached.
    /// - Throws: `LibraryError`, `CoverFailure`.
    func cachedCovers(of ids: [Album.ID]) async throws -> [(id: Album.ID, cached: LibraryAPI.CoverStatus)] {
        let keys = try await keys(of: ids)
        let keyed = ids.compactMap { id in (try? keys[id]?.get()).map { (id, $0) } }
        let versions = try library.cachedVersions(of: keyed.map(\.1))
        return zip(keyed, versions).compactMap { keyed, version in version.map { (keyed.0, $0) } }
    }

    private func refresh() async throws -> String {
        let list = try await library.albumList()
        if list.revision == revision { return list.revision }
        var rows: [String] = []
        rows.reserveCapacity(list.albums.count)
        keys = Dictionary(minimumCapacity: list.albums.count)
        alternatives = [:]
        for album in list.albums {
            let keys = Result { () throws(CoverFailure) in try library.coverKeys(of: album) }
            if case .success(let several) = keys, several.count > 1 { alternatives[several[0]] = several }
            self.keys[album.id] = keys
            rows.append(Self.row(album, keys))
        }
        albums = "[" + rows.joined(separator: ",") + "]"
        revision = list.revision
        return list.revision
    }

    private static func row(_ album: Album, _ keys: Result<[String], CoverFailure>) -> String {
        jsonText {
            $0.add("id", album.id)
            $0.add("title", album.title)
            $0.add("artist", album.artist)
            $0.add("genre", album.genre)
            $0.add("year", album.year)
            switch keys {
            case .success(let keys):
                $0.add("hasCover", true)
                $0.add("cover", Self.tag(of: keys))
            case .failure(let failure):
                $0.add("hasCover", false)
                CoverProblem(failure).add(to: &$0, as: "problem")
            }
        }
    }

    /// A short text that differs when an album's cover URLs do (FNV-1a, 64 bits).
    private static func tag(of keys: [String]) -> String {
        let hash = keys.joined(separator: " ").utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return String(hash, radix: 36)
    }
}

/// The text of a JSON object.
func jsonText(_ fill: (inout JSONObject) throws -> Void) rethrows -> String {
    var object = JSONObject()
    try fill(&object)
    return object.text
}
