import CoverLibrary
import Foundation
import HTTPTypes
import Hummingbird

/// `GET /cover?url=…`: the cover at a URL, from the cache, else downloaded; with `&size=300` in a smaller size.
/// `GET /status?url=…`: what is cached of it, as JSON. It connects to no server.
struct CoverRoutes {
    let library: LibraryAPI

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("/cover") { request, _ in try await cover(request) }
        router.get("/status") { request, _ in try await status(request) }
        return router
    }

    private func cover(_ request: Request) async throws -> Response {
        let (url, size) = (try url(of: request), request.uri.queryParameters.get("size", as: Int.self))
        if let size, !LibraryAPI.keptSizes.contains(size) {
            throw HTTPError(.badRequest, message: "size must be one of \(LibraryAPI.keptSizes)")
        }
        do throws(CoverFailure) {
            let cover =
                if let size { try await library.cover(for: url, longestSide: size) } else {
                    try await library.cover(for: url)
                }
            return response(cover, to: request)
        } catch {
            throw Self.answer(to: error)
        }
    }

    /// A digest names the bytes, so it is their entity tag.
    private func response(_ cover: Cover, to request: Request) -> Response {
        let tag = "\"\(cover.digest)\""
        var fields: HTTPFields = [.eTag: tag, .cacheControl: "private, no-cache"]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: fields) }
        fields[.contentType] = cover.mediaType
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: cover.data)))
    }

    private func status(_ request: Request) async throws -> Response {
        guard let status = try await library.statuses(of: [url(of: request)])[0] else {
            throw HTTPError(.notFound, message: "not cached")
        }
        let json = try JSONEncoder().encode(status)
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }

    private func url(of request: Request) throws -> URL {
        guard let url = request.uri.queryParameters.get("url").flatMap({ URL(string: $0) }) else {
            throw HTTPError(.badRequest, message: "needs a URL, percent-encoded: ?url=https%3A%2F%2F…")
        }
        return url
    }

    private static func answer(to failure: CoverFailure) -> HTTPError {
        var headers: HTTPFields = [:]
        if let pause = failure.retryAfter { headers[.retryAfter] = "\(pause.components.seconds + 1)" }
        return HTTPError(.init(code: failure.gatewayStatus), headers: headers, message: failure.message)
    }
}
