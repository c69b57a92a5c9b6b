import CoverLibrary
import HTTPTypes
import Hummingbird

/// The albums, their edits, and where each browser was.
struct AlbumRoutes: Sendable {
    let hall: Hall

    static let clientCookie = "sleeve-client"
    private var library: LibraryAPI { hall.library }

    func add(to router: Router<BasicRequestContext>) {
        router.get("/api/library") { request, _ in try await albums(request) }
        router.get("/api/state") { request, _ in try await state(request) }
        router.put("/api/memento") { request, _ in try await remember(request) }
        router.post("/api/albums") { request, _ in try await add(request) }
        router.get("/api/albums/{id}") { _, context in try await fields(context.albumID) }
        router.patch("/api/albums/{id}") { request, context in try await edit(context.albumID, request) }
        router.delete("/api/albums/{id}") { _, context in
            try await delete(context.albumID)
        }
        router.post("/api/undo") { request, _ in
            try await step(request, .undo, "There is nothing to undo") { try await $0.albums.undo() }
        }
        router.post("/api/redo") { request, _ in
            try await step(request, .redo, "There is nothing to redo") { try await $0.albums.redo() }
        }
    }

    private func albums(_ request: Request) async throws -> Response {
        let (text, tag) = try await guarded { try await hall.catalogue.text() }
        var headers: HTTPFields = [.contentType: "application/json", .eTag: tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = String(text.readableBytes)
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: text))
    }

    // MARK: Memento

    private struct Place: Codable {
        var album: String?
        var index: Int?
        var position: Double?
        var sort: String?
    }

    private func state(_ request: Request) async throws -> Response {
        let known = request.cookie(Self.clientCookie)
        var memento: LibraryMemento?
        if let known { memento = try? await library.albums.memento(of: known) }
        var place = JSONObject()
        if let memento {
            place.add("album", memento.album)
            place.add("index", memento.index)
            place.add("position", memento.position)
            place.add("sort", memento.order)
        }
        var object = JSONObject()
        object.add("memento", raw: memento == nil ? "null" : place.text)
        var covers = JSONObject()
        for cover in await hall.firstCovers(of: known, reach: 8) {
            covers.add(cover.id, raw: CoverState.ready(cover.version, isStale: cover.isStale).json)
        }
        object.add("covers", raw: covers.text)
        var response = Response.json(object.text)
        if known == nil {
            let name = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
            response.headers[.setCookie] =
                "\(Self.clientCookie)=\(name); Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
        }
        return response
    }

    private func remember(_ request: Request) async throws -> Response {
        let place = try await request.json(Place.self)
        guard let client = request.cookie(Self.clientCookie), client.utf8.count <= 64 else {
            return .problem("ask for /api/state first: it gives the cookie this needs", status: .badRequest)
        }
        let memento = LibraryMemento(
            album: place.album, index: place.index ?? 0, position: place.position ?? 0,
            order: String((place.sort ?? "library").prefix(32)))
        try await guarded { try await library.albums.save(memento, for: client) }
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
                album.coverURL = coverUrl ?? album.coverURL
            }
        }
        var album: Fields
        var index: Int?
    }

    private func add(_ request: Request) async throws -> Response {
        let form = try await request.json(AlbumForm.self)
        var album = Album()
        form.album.apply(to: &album)
        do throws(AlbumProblem) {
            album = try album.validated()
        } catch {
            return .problem(error.message, status: .unprocessableContent, field: error.field)
        }
        let added = try await guarded { try await library.albums.add(album, at: form.index) }
        let albums = try await guarded { try await library.albums.all() }
        var object = JSONObject()
        object.add("id", added.id)
        object.add("index", albums.firstIndex { $0.id == added.id })
        object.add("message", "Added “\(added.title)”")
        return .json(object.text, status: .created)
    }

    /// What the form shows of an album.
    private func fields(_ id: String) async throws -> Response {
        guard let album = try await album(id) else { return Self.gone }
        var fields = JSONObject()
        for (name, value) in [
            ("title", album.title), ("artist", album.artist), ("genre", album.genre), ("year", album.year),
            ("coverUrl", album.coverURL ?? ""),
        ] {
            fields.add(name, value)
        }
        var object = JSONObject()
        object.add("album", raw: fields.text)
        return .json(object.text)
    }

    private func edit(_ id: String, _ request: Request) async throws -> Response {
        let form = try await request.json(AlbumForm.self)
        guard let former = try await album(id) else { return Self.gone }
        do {
            let edit = try await guarded {
                try await library.albums.edit(id) { album in
                    form.album.apply(to: &album)
                    album = try album.validated(editing: former)
                }
            }
            if let edit { return told(edit, id: id) }
        } catch let problem as AlbumProblem {
            return .problem(problem.message, status: .unprocessableContent, field: problem.field)
        }
        var object = JSONObject()
        object.add("message", "Nothing was changed")
        object.add("id", id)
        return .json(object.text)
    }

    private func album(_ id: String) async throws -> Album? {
        try await guarded { try await library.albums.all().first { $0.id == id } }
    }

    private static var gone: Response { .problem("that album is not in the library any more", status: .notFound) }

    private func delete(_ id: String) async throws -> Response {
        guard let edit = try await guarded({ try await library.albums.delete([id]) }) else {
            return Self.gone
        }
        return told(edit, id: nil)
    }

    private func step(
        _ request: Request, _ origin: AlbumEdit.Origin, _ nothing: String,
        _ body: (LibraryAPI) async throws -> AlbumEdit?
    ) async throws -> Response {
        struct Empty: Decodable {}
        _ = try await request.json(Empty.self)
        guard let edit = try await guarded({ try await body(library) }) else {
            return .problem(nothing, status: .conflict)
        }
        return told(edit, origin, id: edit.kind == .delete ? nil : edit.changes.first?.album.id)
    }

    private func told(_ edit: AlbumEdit, _ origin: AlbumEdit.Origin = .new, id: String?) -> Response {
        var object = JSONObject()
        object.add("message", edit.message(origin))
        object.add("id", id)
        return .json(object.text)
    }

    /// What keeps a library from answering is told to the page in its own words.
    private func guarded<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as LibraryError {
            throw HTTPError(.internalServerError, message: error.message)
        }
    }
}
