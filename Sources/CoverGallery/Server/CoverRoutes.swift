import CoverLibrary
import HTTPTypes
import Hummingbird
import NIOCore
import Platform
import ServerChannels

/// The covers' bytes, from the cache alone, and users' own pictures. Missing covers are downloaded through `PageRoutes`.
///
/// A cover's path ends in its digest: it needs neither the library file nor a URL, and its response never changes. Pages learn which
/// album has which digest from `PageRoutes`.
///
/// With `?w=300` it is the cover in a smaller size, one of `LibraryAPI.keptSizes`, or as it is if it cannot be made smaller.
struct CoverRoutes: Sendable {
    let model: GalleryModel

    func add(to router: RouterGroup<GalleryContext>) {
        router.get("/covers/{digest}") { request, context in try await cover(request, context) }
        router.post("/api/pictures") { request, _ in try await storePicture(request) }
    }

    /// - Throws: `HTTPError`: 404 unless the path ends in the digest of a cached cover, 400 if the size is none that is kept.
    private func cover(_ request: Request, _ context: GalleryContext) async throws -> Response {
        let digest = context.parameters.get("digest") ?? ""
        let size = try Self.size(request)
        let busy = HTTPError(
            .serviceUnavailable, message: "too many browsers read their covers slowly; try again later")
        // The size is not known before the cover is read.
        guard let held = await model.coverBytes.reserve(Self.largestUsual) else { throw busy }
        let found =
            if let size { try await model.library.cachedCover(digest: digest, longestSide: size.longestSide) } else {
                try await model.library.cachedCover(digest: digest)
            }
        guard let cover = found else { throw HTTPError(.notFound, message: "this cover is not in the cache") }
        guard held.resize(to: cover.data.count) else { throw busy }
        let tag = size?.tag(of: cover, digest: digest) ?? "\"\(digest)\""
        return Self.response(cover, tag: tag, request, context.channel, held)
    }

    /// The wanted size; nil for the cover as it is.
    private static func size(_ request: Request) throws -> KeptSize? {
        guard let text = request.uri.queryParameters["w"] else { return nil }
        guard let size = KeptSize(text) else { throw HTTPError(.badRequest, message: KeptSize.expected) }
        return size
    }

    /// The room that is reserved for a cover while it is read, in bytes.
    private static let largestUsual = 32 << 20

    /// Stores a user's own picture, pinned. It is not an album's cover before an edit sets the address that this responds with.
    private func storePicture(_ request: Request) async throws -> Response {
        let limit = model.library.configuration.maximumSize
        let tooLarge = HTTPError(.contentTooLarge, message: "the picture is larger than \(limit >> 10) KiB")
        let picture = try await request.bytes("application/octet-stream", limit: limit, else: tooLarge)
        let address = OwnPicture.address(of: picture)
        guard let url = URL(string: address) else { throw HTTPError(.internalServerError) }
        try await model.library.store(picture, for: url, pinned: true)
        return .json(status: .created) { $0.add("coverUrl", address) }
    }

    private static func response(
        _ cover: Cover, tag: String, _ request: Request, _ channel: any Channel, _ held: ByteBudget.Reservation
    ) -> Response {
        let bytes = ByteBuffer(bytes: cover.data)
        var response = Response.file(
            bytes, type: cover.mediaType, tag: tag, for: request,
            // The path names these bytes for ever (RFC 8246).
            [.cacheControl: "private, max-age=31536000, immutable", .contentSecurityPolicy: policy])
        if response.status == .ok { response.body = body(bytes, channel, held) }
        return response
    }

    /// A body that is written as the client takes it.
    /// - Parameter held: the memory of the bytes.
    private static func body(
        _ bytes: ByteBuffer, _ channel: any Channel, _ held: ByteBudget.Reservation
    ) -> ResponseBody {
        ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while let slice = rest.readSlice(length: min(rest.readableBytes, 64 << 10)), slice.readableBytes > 0 {
                try await writer.write(slice)
                // The next write waits for room: the event loop has to know of this one.
                try await channel.eventLoop.submit {}.get()
            }
            try await writer.finish(nil)
            withExtendedLifetime(held) {}
        }
    }

    /// An SVG opened by itself is a document: it gets no scripts, no network and no origin.
    private static let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
}
