import CoverLibrary
import HTTPTypes
import Hummingbird

/// The covers themselves, from the cache alone: what is missing comes by way of `LiveRoutes`.
struct CoverRoutes: Sendable {
    let hall: Hall

    func add(to router: Router<BasicRequestContext>) {
        router.get("/covers/{id}") { request, context in
            try await cover(context.albumID, request)
        }
    }

    private func cover(_ id: String, _ request: Request) async throws -> Response {
        guard let url = try? await hall.catalogue.key(of: id), let cover = try? hall.library.cachedCover(for: url)
        else {
            return .problem("there is no cover here yet", status: .notFound)
        }
        let version = CoverVersion.of(cover.digest)
        let tag = "\"\(version)\""
        // An address with the version in it means these bytes for ever.
        let isPinned = request.uri.queryParameters["v"].map { $0 == version } ?? false
        var headers: HTTPFields = [
            .contentType: cover.mediaType, .eTag: tag,
            .cacheControl: isPinned ? "private, max-age=31536000, immutable" : "private, no-cache",
            .contentSecurityPolicy: Self.policy,
        ]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = String(cover.bytes.count)
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: cover.bytes)))
    }

    /// An SVG opened by itself is a document: it gets no scripts, no network and no origin.
    private static let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
}

/// A cover's short name in addresses: the beginning of its digest.
enum CoverVersion {
    static func of(_ digest: String) -> String { String(digest.prefix(12)) }
}
