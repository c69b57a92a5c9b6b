import CoverLibrary
import HTTPTypes
import Hummingbird
import Platform

extension Response {
    /// JSON that must not be cached.
    static func json(status: HTTPResponse.Status = .ok, _ fill: (inout JSONObject) throws -> Void) rethrows -> Response
    {
        let text = try jsonText(fill)
        return Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// The response to an error of a route: `{"error": "…"}`, with the form field that is wrong as `field`.
    /// - Throws: `error` if it has no message for users.
    static func problem(_ error: any Error) throws -> Response {
        switch error {
        case let error as HTTPError: problem(error.body ?? error.status.reasonPhrase, status: error.status)
        case let error as LibraryError: problem(error.message, status: .internalServerError)
        case let error as CoverFailure where error.kind == .notAnImage:
            problem("the file isn’t a picture", status: .unprocessableContent)
        case let error as CoverFailure where error.kind == .tooLarge:
            problem(error.detail, status: .contentTooLarge)
        case let error as CoverFailure: problem(error.message, status: .internalServerError)
        case let error as AlbumProblem:
            problem(error.message, status: .unprocessableContent, field: error.field)
        default: throw error
        }
    }

    static func problem(_ message: String, status: HTTPResponse.Status, field: String? = nil) -> Response {
        .json(status: status) {
            $0.add("error", Redaction.redact(message))
            if let field { $0.add("field", field) }
        }
    }

    /// A body with an entity tag; 304 if the client has it (RFC 9110 section 13.1.2).
    static func file(
        _ bytes: ByteBuffer, type: String, tag: String, for request: Request, _ headers: HTTPFields
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        headers[.eTag] = tag
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = String(bytes.readableBytes)
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: bytes))
    }

    /// A page for a person whose browser shows it in place of the gallery.
    /// - Parameter paragraphs: HTML.
    static func page(status: HTTPResponse.Status, title: String, _ paragraphs: String) -> Response {
        let text = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <h1>\(title)</h1>
            \(paragraphs)
            </html>

            """
        return Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

extension Request {
    /// Reads the body. Refuses other media types, as other sites' pages can send some of them without a CORS preflight.
    /// - Parameters:
    ///   - limit: In bytes.
    ///   - tooLarge: Thrown if the body is larger.
    /// - Throws: `HTTPError`.
    func bytes(_ mediaType: String, limit: Int, else tooLarge: HTTPError) async throws -> Data {
        guard headers[.contentType]?.split(separator: ";").first == mediaType[...] else {
            throw HTTPError(.unsupportedMediaType, message: "the body must be \(mediaType)")
        }
        guard let body = try? await body.collect(upTo: limit) else { throw tooLarge }
        return Data(body.readableBytesView)
    }

    /// Reads the body as JSON.
    /// - Parameter limit: In bytes.
    /// - Throws: `HTTPError`.
    func json<Value: Decodable>(_ type: Value.Type, limit: Int = 64 << 10) async throws -> Value {
        let tooLarge = HTTPError(.contentTooLarge, message: "the body is larger than \(limit) bytes")
        let bytes = try await bytes("application/json", limit: limit, else: tooLarge)
        do {
            return try JSONDecoder().decode(type, from: bytes)
        } catch {
            throw HTTPError(.badRequest, message: "the body does not have the expected JSON members")
        }
    }

    /// A cookie's value.
    func cookie(_ name: String) -> String? { cookies[name]?.value }
}
