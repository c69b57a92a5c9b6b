import CoverLibrary
import NIOCore

/// The library as pages read it, made once for each state of the library file, however many pages ask.
actor Catalogue {
    /// The keys of covers by album; a reason where there can be none.
    typealias Keys = [Album.ID: Result<String, CoverFailure>]

    private let library: LibraryAPI
    private var revision: String?
    private var albums = ""
    /// The keys of all places where an album's cover may be.
    private var keys: [Album.ID: Result<[String], CoverFailure>] = [:]
    /// Places by the first of them, where there are others.
    private var chains: [String: [String]] = [:]

    init(_ library: LibraryAPI) { self.library = library }

    /// `{"version", "albums": […], "undo", "redo", "remote"}`, and its entity tag.
    /// - Throws: `LibraryError`.
    func text() async throws -> (ByteBuffer, tag: String) {
        let revision = try await refresh()
        // A library in a place where nothing can be written has no history, and can be looked at all the same.
        let history = try? await library.albums.history()
        let waiting = (try? await library.albums.waitingEdits()) ?? 0
        var object = JSONObject()
        object.add("version", revision)
        object.add("albums", raw: albums)
        object.add("undo", history?.undo?.title)
        object.add("redo", history?.redo?.title)
        if let url = library.configuration.remote {
            var remote = JSONObject()
            remote.add("url", url)
            remote.add("waiting", waiting)
            remote.add("problem", String?.none)
            object.add("remote", raw: remote.text)
        } else {
            object.add("remote", String?.none)
        }
        return (ByteBuffer(string: object.text), "\"\(revision)-\(waiting)\"")
    }

    /// The keys of these albums' covers: of several places the first that has it in the cache, else the first.
    /// - Throws: `LibraryError`, `CoverFailure`.
    func keys(of ids: [Album.ID]) async throws -> Keys {
        _ = try await refresh()
        var found = Keys(minimumCapacity: ids.count)
        for id in ids {
            switch keys[id] {
            case .success(let places)?:
                let versions = places.count > 1 ? try library.cachedVersions(of: places) : []
                found[id] = .success(places[versions.firstIndex { $0 != nil } ?? 0])
            case .failure(let failure)?: found[id] = .failure(failure)
            case nil: break
            }
        }
        return found
    }

    /// Where a cover is to be had that `keys(of:)` has named, in the order of trying.
    func places(of key: String) -> [String] { chains[key] ?? [key] }

    /// The key of an album's cover; nil: there is no such album, or it can have no cover.
    func key(of id: Album.ID) async throws -> String? { try await keys(of: [id])[id].flatMap { try? $0.get() } }

    private func refresh() async throws -> String {
        let list = try await library.albums.current()
        if list.revision == revision { return list.revision }
        var rows: [String] = []
        rows.reserveCapacity(list.albums.count)
        var keys: [Album.ID: Result<[String], CoverFailure>] = [:]
        keys.reserveCapacity(list.albums.count)
        chains = [:]
        for album in list.albums {
            let places = Result { () throws(CoverFailure) in try library.coverKeys(of: album) }
            if case .success(let several) = places, several.count > 1 { chains[several[0]] = several }
            keys[album.id] = places
            rows.append(Self.row(album, places))
        }
        albums = "[" + rows.joined(separator: ",") + "]"
        self.keys = keys
        revision = list.revision
        return list.revision
    }

    private static func row(_ album: Album, _ places: Result<[String], CoverFailure>) -> String {
        var row = JSONObject()
        row.add("id", album.id)
        row.add("title", album.title)
        row.add("artist", album.artist)
        row.add("genre", album.genre)
        row.add("year", album.year)
        switch places {
        case .success(let places):
            row.add("hasCover", true)
            row.add("cover", Self.tag(of: places))
        case .failure(let failure):
            row.add("hasCover", false)
            CoverProblem(failure).add(to: &row, as: "problem")
        }
        return row.text
    }

    /// Tells pages whether an album's cover is another one than before (FNV-1a, 64 bits).
    private static func tag(of places: [String]) -> String {
        let hash = places.joined(separator: " ").utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return String(hash, radix: 36)
    }
}
