import AlbumLibrary
import CoverLibrary
import HTTPTypes
import Platform
import WebServer

/// The covers' bytes, from the cache or a file beside the music, and users' own pictures. Missing covers are downloaded through `PageRoutes`.
///
/// A cover's path ends in its digest: it needs neither the library file nor a URL, and its response never changes. Pages learn which
/// album has which digest from `PageRoutes`.
///
/// With `?w=300` it is the cover in a smaller size, one of `LibraryAPI.keptSizes`, or as it is if it cannot be made smaller.
struct CoverRoutes: Sendable {
    let model: GalleryModel

    func add(to routes: inout Routes) {
        routes.get("covers/{digest}") { request, parameters in try await cover(request, parameters["digest"]) }
        let limit = model.library.configuration.maximumSize
        routes.post("api/pictures", limit: .init(limit, message: "the picture is larger than \(limit >> 10) KiB")) {
            request, _ in
            try await storePicture(request)
        }
    }

    /// - Throws: `HTTPError`: 404 unless the path ends in the digest of a cached cover, 400 if the size is none that is kept.
    private func cover(_ request: Request, _ digest: String) async throws -> Response {
        let size = try KeptSize.wanted(by: request)
        var cover = try await SentCover.cached(digest, size, in: model.library)
        if cover == nil { cover = try await file(digest, size) }
        guard let cover else { throw HTTPError(.notFound, message: "this cover is not in the cache") }
        // The path names these bytes for ever (RFC 8246).
        return cover.response(
            to: request, cacheControl: "private, max-age=31536000, immutable")
    }

    private func file(_ digest: String, _ size: KeptSize?) async throws -> SentCover? {
        guard let cover = await model.albums.files.cover(digest: digest) else { return nil }
        return try await .made(cover, size)
    }

    /// Keeps a user's own picture. It is not an album's cover before an edit sets the address that this responds with.
    private func storePicture(_ request: Request) async throws -> Response {
        try request.require("application/octet-stream")
        guard let pictures = model.library.albums.pictures else {
            throw LibraryError.invalidConfiguration("there is no library file")
        }
        let upload = try pictures.begin()
        try await WorkThread.run { try upload.append(request.body) }
        try await keep(upload)
        return .json(status: .created) { $0.add("coverUrl", upload.address) }
    }

    /// Keeps a picture that has arrived, and copies it to the cache if that has room.
    private func keep(_ upload: PictureUpload) async throws {
        let picture = try await WorkThread.run {
            let picture = try URL(string: upload.address).flatMap { Cover(url: $0, data: Data(try upload.contents())) }
            guard let picture else { throw HTTPError(.unprocessableContent, message: "the file isn’t a picture") }
            try upload.keep(mediaType: picture.mediaType)
            return picture
        }
        _ = try? await model.library.store(picture.data, for: picture.url)
    }
}
