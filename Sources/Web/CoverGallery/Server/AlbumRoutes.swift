import AlbumLibrary
import CoverLibrary
import HTTPTypes
import Platform
import WebServer

/// The albums, their edits, and each browser's memento.
struct AlbumRoutes: Sendable {
    let model: GalleryModel
    let base: BasePath

    /// Names a browser; its memento is stored under the value.
    static let clientCookie = "sleeve-client"
    private var library: LibraryAPI { model.library }

    func add(to routes: inout Routes) {
        routes.get("api/library") { request, _ in try await albums(request) }
        routes.get("api/state") { request, _ in await state(request) }
        routes.add(.put, "api/memento") { request, _ in try await saveMemento(request) }
        routes.post("api/albums") { request, _ in try await add(request) }
        routes.get("api/albums/{id}") { _, parameters in try await fields(parameters.albumID) }
        routes.get("api/sources/{id}") { _, parameters in try await cover(parameters.albumID) }
        routes.add(.patch, "api/albums/{id}") { request, parameters in try await edit(parameters.albumID, request) }
        routes.add(.delete, "api/albums/{id}") { _, parameters in try await delete([parameters.albumID]) }
        routes.post("api/deletions") { request, _ in try await delete(request.json(Deletion.self).ids) }
        routes.post("api/undo") { request, _ in try await step(request, isUndo: true) }
        routes.post("api/redo") { request, _ in try await step(request, isUndo: false) }
    }

    private func albums(_ request: Request) async throws -> Response {
        let (text, tag) = try await model.albums.text()
        return await .text(text, type: "application/json", tag: tag, for: request, "no-cache") {
            await model.albums.compressed(text, tag: tag)
        }
    }

    // MARK: Memento

    private struct Position: Decodable {
        var album: String?
        var index: Int?
        var position: Double?
        var sort: String?
        var view: String?
        var tile: Int?
    }

    private func state(_ request: Request) async -> Response {
        let client = request.cookie(Self.clientCookie)
        var memento = "null"
        if let client, let saved = try? await library.albums.memento(of: client) {
            memento = jsonText {
                $0.add("album", saved.album)
                $0.add("index", saved.index)
                $0.add("position", saved.position)
                $0.add("sort", saved.order)
                $0.add("view", saved.view)
                $0.add("tile", saved.tileSize)
            }
        }
        let opening = await model.opening(of: client)
        let covers = jsonText {
            for cover in opening.covers {
                if let cached = cover.cached { $0.add(cover.album, raw: CoverState(cached).json) }
            }
        }
        let json = jsonText {
            $0.add("memento", raw: memento)
            $0.add("covers", raw: covers)
            if let (albums, count) = opening.albums {
                $0.add("albums", raw: albums)
                $0.add("count", count)
            }
        }
        let (text, tag) = (Array(json.utf8), "\"\(String(FNV1a.hash(json.utf8), radix: 36))\"")
        // The page waits for it.
        var response = await Response.text(text, type: "application/json", tag: tag, for: request, "no-store") {
            Gzip.compressed(text)
        }
        if client == nil {
            let name = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
            response.headers[.setCookie] = "\(Self.clientCookie)=\(name); \(base.cookieAttributes)"
        }
        return response
    }

    private func saveMemento(_ request: Request) async throws -> Response {
        let position = try request.json(Position.self)
        guard let client = request.cookie(Self.clientCookie), client.utf8.count <= 64 else {
            throw HTTPError(.badRequest, message: "request /api/state first: its response sets the cookie this needs")
        }
        var memento = LibraryMemento(
            album: position.album, index: position.index ?? 0, position: position.position ?? 0,
            order: String((position.sort ?? "library").prefix(32)))
        memento.view = position.view.map { String($0.prefix(32)) }
        memento.tileSize = position.tile
        try await library.albums.save(memento, for: client)
        return Response(status: .noContent)
    }

    // MARK: Edits

    private struct AlbumForm: Decodable {
        struct Fields: Decodable {
            var title, artist, genre, year, coverUrl: String?

            func apply(to album: inout Album) {
                album.title = title ?? album.title
                album.artist = artist ?? album.artist
                album.genre = genre ?? album.genre
                album.year = year ?? album.year
                if let coverUrl { CoverSource(coverUrl).replace(in: &album) }
            }
        }
        var album: Fields
        var index: Int?
    }

    private func add(_ request: Request) async throws -> Response {
        let form = try request.json(AlbumForm.self)
        var album = Album()
        form.album.apply(to: &album)
        let edit = try await library.albums.insert(validated(album), at: form.index)
        let added = edit?.changes.first
        return Self.response(edit, to: added?.album.id, index: added?.index, status: .created)
    }

    /// - Throws: `AlbumProblem`.
    private func validated(_ album: Album, editing former: Album? = nil) throws(AlbumProblem) -> Album {
        try album.validated(editing: former) { url in
            do throws(CoverFailure) {
                _ = try library.keys(of: CoverRequest(location: url))
                return nil
            } catch {
                // The form takes an id in place of an address.
                let isOtherScheme = error.detail.hasSuffix("http:// or https://")
                return (error.url, error.detail + (isOtherScheme ? "; or enter the id of a MusicBrainz release" : ""))
            }
        }
    }

    /// The fields of the page's form.
    private func fields(_ id: Album.ID) async throws -> Response {
        let album = try await album(id)
        let fields = jsonText {
            $0.add("title", album.title)
            $0.add("artist", album.artist)
            $0.add("genre", album.genre)
            $0.add("year", album.year)
            $0.add("coverUrl", CoverSource(of: album).text)
        }
        return .json { $0.add("album", raw: fields) }
    }

    /// Where the cached cover of an album is from, what it is, and when it was fetched, in milliseconds since 1970; of an album without one, how many
    /// doubtful covers it has, and what sources answered. Nothing is known of an album that was deleted meanwhile.
    private func cover(_ id: Album.ID) async throws -> Response {
        guard let album = try await library.albums.all().first(where: { $0.id == id }) else { return .json { _ in } }
        var listing: CoverListing?
        let cached = library.listings(.requests([CoverRequest(album: album)]))
        for try await each in cached where listing == nil { listing = each }
        let written = try await model.albums.covers(of: [id], readsFiles: false)[0].written
        let isFile = album.coverFile != nil || written != nil
        if listing == nil, !isFile, let review = model.review {
            let isDoubtful = try await !review.albums(among: [album]).isEmpty
            let doubtful =
                isDoubtful ? min(try await review.candidates(of: album).count, FilterRoutes.maximumCandidates) : 0
            let answers = try await review.answers(of: album)
            return .json {
                if doubtful > 0 { $0.add("doubtful", doubtful) }
                if !answers.isEmpty { $0.add("answers", answers.joined(separator: "\n")) }
            }
        }
        let url = listing?.url.absoluteString ?? ""
        let isStarter = StarterAlbums.slug(of: url) != nil
        let own = isStarter ? "a starter album’s cover" : OwnPictures.isAddress(url) ? "your own picture" : nil
        let source = own ?? URL(string: url)?.host()
        return .json {
            $0.add("source", isFile ? "a file beside the music" : source)
            guard !isFile, let listing else { return }
            $0.add("type", listing.mediaType)
            $0.add("bytes", listing.bytes)
            $0.add("fetched", Int(listing.storedAt.timeIntervalSince1970 * 1_000))
            guard let width = listing.width, let height = listing.height else { return $0.add("unsized", true) }
            $0.add("width", width)
            $0.add("height", height)
        }
    }

    private func edit(_ id: Album.ID, _ request: Request) async throws -> Response {
        let form = try request.json(AlbumForm.self)
        let former = try await album(id)
        let edit = try await library.albums.edit(id) { album in
            form.album.apply(to: &album)
            album = try validated(album, editing: former)
        }
        return Self.response(edit, to: id)
    }

    /// Of several albums, as one step.
    private struct Deletion: Decodable { var ids: [Album.ID] }

    private func delete(_ ids: [Album.ID]) async throws -> Response {
        guard let edit = try await library.albums.delete(ids) else { throw Self.gone }
        return Self.response(edit)
    }

    private struct Step: Decodable {
        /// The number of the edit, or of the undo, that is to be the latest one. Without it, the latest one is reverted whatever it is.
        var edit: Int?
    }

    private func step(_ request: Request, isUndo: Bool) async throws -> Response {
        let number = try request.json(Step.self).edit
        guard let edit = try await isUndo ? library.albums.undo(number) : library.albums.redo(number) else {
            throw HTTPError(.conflict, message: "There is nothing to \(isUndo ? "undo" : "redo")")
        }
        let id = edit.kind == .delete ? nil : edit.changes.first?.album.id
        let message = isUndo ? "Undone: \(edit.inverse.title)" : "Redone: \(edit.title)"
        return Self.response(edit, to: id, message: edit.changes.isEmpty ? nil : message)
    }

    func album(_ id: Album.ID) async throws -> Album {
        guard let album = try await library.albums.all().first(where: { $0.id == id }) else { throw Self.gone }
        return album
    }

    private static var gone: HTTPError { HTTPError(.notFound, message: "that album is no longer in the library") }

    /// - Parameters:
    ///   - id: The album to show afterwards.
    ///   - message: By default what the edit did.
    static func response(
        _ edit: AlbumEdit?, to id: Album.ID? = nil, index: Int? = nil, message: String? = nil,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        .json(status: status) {
            $0.add("message", message ?? edit?.message ?? "Nothing was changed")
            $0.add("id", id)
            if let index { $0.add("index", index) }
            $0.add("edit", edit?.number)
        }
    }
}

/// Where an album's cover comes from, as a user enters it in one field: an address, or a release of MusicBrainz.
enum CoverSource: Sendable, Hashable {
    case none
    /// A URL, not validated. That of a picture of the user is below `https://covers.invalid/`.
    case address(String)
    /// A MusicBrainz release id.
    case release(String)
    /// A MusicBrainz release-group id.
    case releaseGroup(String)

    /// Reads an id of a release, `release-group/ID`, the address of either at MusicBrainz or in the Cover Art Archive, or any
    /// other address.
    init(_ text: String) {
        // No id contains whitespace. The validation of an album trims its address.
        let word = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self = word.isEmpty ? .none : Self.musicBrainz(word) ?? .address(text)
    }

    /// The first place where the album's cover is looked for, alternate addresses left out.
    init(of album: Album) {
        if let url = album.coverURL, !url.isEmpty {
            self = .address(url)
        } else if let id = album.musicBrainzReleaseID {
            self = .release(id)
        } else if let id = album.musicBrainzReleaseGroupID {
            self = .releaseGroup(id)
        } else {
            self = .none
        }
    }

    /// The text that `init(_:)` reads as this source.
    var text: String {
        switch self {
        case .none: ""
        case .address(let url): url
        case .release(let id): "https://musicbrainz.org/release/\(id)"
        case .releaseGroup(let id): "https://musicbrainz.org/release-group/\(id)"
        }
    }

    /// Makes this the first place to look for the album's cover. `none` removes the present one.
    func replace(in album: inout Album) {
        switch (self, Self(of: album)) {
        case (.address(let url), _): album.coverURL = url
        case (.release(let id), _):
            album.coverURL = nil
            album.musicBrainzReleaseID = id
        case (.releaseGroup(let id), _):
            album.coverURL = nil
            album.musicBrainzReleaseID = nil
            album.musicBrainzReleaseGroupID = id
        case (.none, .address): album.coverURL = nil
        case (.none, .release): album.musicBrainzReleaseID = nil
        case (.none, .releaseGroup): album.musicBrainzReleaseGroupID = nil
        case (.none, .none): break
        }
    }

    private static func musicBrainz(_ text: String) -> CoverSource? {
        if MusicBrainzID.uuid(text) != nil { return .release(text) }
        var rest = text[...]
        if let scheme = rest.firstRange(of: "://") {
            guard ["http", "https"].contains(rest[..<scheme.lowerBound].lowercased()) else { return nil }
            rest = rest[scheme.upperBound...]
        }
        var parts = rest.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)[...]
        let host = parts.first?.lowercased() ?? ""
        let isSite = host == "musicbrainz.org" || host.hasSuffix(".musicbrainz.org")
        if isSite || host == "coverartarchive.org" { parts.removeFirst() } else if rest != text { return nil }
        guard let entity = parts.popFirst()?.lowercased(), let id = parts.popFirst(), MusicBrainzID.uuid(id) != nil
        else { return nil }
        // A picture in the archive is an address like any other.
        if !isSite, parts.contains(where: { !$0.isEmpty }) { return nil }
        switch entity {
        case "release": return .release(String(id))
        case "release-group": return .releaseGroup(String(id))
        default: return nil
        }
    }
}
