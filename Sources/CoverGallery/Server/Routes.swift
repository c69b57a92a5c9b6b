import CoverLibrary
import HTTPTypes
import Hummingbird
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the gallery answers, path by path.
enum Routes {
    static func router(_ hall: Hall, _ options: GalleryOptions) -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.add(middleware: Doorkeeper(options))
        let files = PageFiles()
        router.get("/") { request, _ in
            var response = try files.response("index.html", request)
            // The first covers are asked for while the page is still being read (RFC 8288, HTML's `preload`).
            let first = await hall.firstCovers(of: request.cookie(AlbumRoutes.clientCookie), reach: 2)
            for cover in first {
                response.headers.append(HTTPField(name: .link, value: "<\(cover.path)>; rel=preload; as=image"))
            }
            return response
        }
        router.get("/{file}") { request, context in try files.response(context.parameters.get("file") ?? "", request) }
        AlbumRoutes(hall: hall).add(to: router)
        CoverRoutes(hall: hall).add(to: router)
        LiveRoutes(hall: hall).add(to: router)
        return router
    }
}

extension Response {
    /// JSON that is of this moment.
    static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// An error for people: `{"error": "…"}`.
    static func problem(_ message: String, status: HTTPResponse.Status, field: String? = nil) -> Response {
        var object = JSONObject()
        object.add("error", message)
        if let field { object.add("field", field) }
        return .json(object.text, status: status)
    }
}

extension BasicRequestContext {
    /// The album that the path names, percent-decoded (RFC 3986 section 2.1).
    var albumID: Album.ID {
        var bytes: [UInt8] = []
        var rest = Substring(parameters.get("id") ?? "").utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(Substring(rest.prefix(2)), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPField.Name {
    static let link = Self("Link")!
}

extension Request {
    /// Reads the body as JSON; refuses other media types, which pages of other sites could send without being asked.
    /// - Throws: `HTTPError`.
    func json<Value: Decodable>(_ type: Value.Type, limit: Int = 64 << 10) async throws -> Value {
        guard headers[.contentType]?.split(separator: ";").first == "application/json" else {
            throw HTTPError(.unsupportedMediaType, message: "the body must be application/json")
        }
        guard let body = try? await body.collect(upTo: limit) else {
            throw HTTPError(.contentTooLarge, message: "the body is larger than \(limit) bytes")
        }
        do {
            return try JSONDecoder().decode(type, from: Data(body.readableBytesView))
        } catch {
            throw HTTPError(.badRequest, message: "the body is not the JSON that is expected here")
        }
    }

    /// A cookie's value.
    func cookie(_ name: String) -> String? { cookies[name]?.value }
}
