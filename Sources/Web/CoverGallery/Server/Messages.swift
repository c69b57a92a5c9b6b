import AlbumLibrary
import CoverLibrary
import HTTPCaching
import HTTPTypes
import Platform
import WebServer

extension Response {
    /// JSON that must not be cached.
    static func json(status: HTTPResponse.Status = .ok, _ fill: (inout JSONObject) throws -> Void) rethrows -> Response
    {
        let text = try jsonText(fill)
        return Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .bytes(Array(text.utf8)))
    }

    /// The response to an error of a route: `{"error": "…"}`, with the form field that is wrong as `field`.
    static func problem(_ error: any Error) -> Response {
        switch error {
        case let error as HTTPError: problem(error.message, status: error.status)
        case let error as SystemError: problem("\(error)", status: .internalServerError)
        case LibraryError.editedSince: problem(LibraryError.editedSince.message, status: .conflict)
        case let error as LibraryError: problem(error.message, status: .internalServerError)
        case let error as CoverFailure where error.kind == .notAnImage:
            problem("the file isn’t a picture", status: .unprocessableContent)
        case let error as CoverFailure where error.kind == .tooLarge:
            problem(error.detail, status: .contentTooLarge)
        case let error as CoverFailure: problem(error.message, status: .internalServerError)
        case let error as AlbumProblem:
            problem(error.message, status: .unprocessableContent, field: error.field)
        default: problem("the gallery failed", status: .internalServerError)
        }
    }

    static func problem(_ message: String, status: HTTPResponse.Status, field: String? = nil) -> Response {
        .json(status: status) {
            $0.add("error", Redaction.redact(message))
            if let field { $0.add("field", field) }
        }
    }

    /// Text with an entity tag, compressed if the client prefers that.
    /// - Parameter compressed: Nil if that is not possible.
    static func text(
        _ text: [UInt8], type: String, tag: String, for request: Request, _ cacheControl: String,
        compressed: () async -> [UInt8]?
    ) async -> Response {
        var fields: HTTPFields = [.cacheControl: cacheControl, .vary: "Accept-Encoding"]
        guard AcceptedValues(request.headers[.acceptEncoding]).prefersGzip, let compressed = await compressed() else {
            return .file(.bytes(text), type: type, tag: tag, for: request, fields)
        }
        fields[.contentEncoding] = "gzip"
        // Other bytes have another strong tag (RFC 9110 section 8.8.1).
        let gzipTag = tag.dropLast() + "-gzip\""
        return .file(.bytes(compressed), type: type, tag: String(gzipTag), for: request, fields)
    }

    /// A body of known length with an entity tag; 304 if the client has it (RFC 9110 section 13.1.2).
    static func file(
        _ body: Body, type: String, tag: String, for request: Request, _ headers: HTTPFields
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        headers[.eTag] = tag
        if EntityTags(request.headers[values: .ifNoneMatch]).contains(tag) {
            // The body is not sent, but its length (RFC 9110 section 8.6).
            return Response(status: .notModified, headers: headers, body: body)
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

extension Request {
    /// Refuses other media types of the body, as other sites' pages can send some of them without a CORS preflight.
    /// - Throws: `HTTPError`.
    func require(_ mediaType: String) throws {
        guard headers[.contentType]?.split(separator: ";").first == mediaType[...] else {
            throw HTTPError(.unsupportedMediaType, message: "the body must be \(mediaType)")
        }
    }

    /// The body, read as JSON.
    /// - Throws: `HTTPError`.
    func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try require("application/json")
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw HTTPError(.badRequest, message: "the body does not have the expected JSON members")
        }
    }
}

/// A field with which a client says what it accepts: values with weights (RFC 9110 section 12.4.2).
struct AcceptedValues {
    /// The weights of the values in lower case, from 0 to 1.
    private var weights: [String: Double] = [:]

    /// - Parameter text: of `Accept` or `Accept-Encoding`; nil if the request has none.
    init(_ text: String?) {
        for member in (text ?? "").lowercased().split(separator: ",") {
            let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let value = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            weights[value] = (0...1).contains(weight) ? weight : 0
        }
    }

    /// A value's weight; nil if the client does not name it.
    subscript(_ value: String) -> Double? { weights[value] }

    /// Of `Accept-Encoding`: whether gzip is accepted, and liked no less than no coding at all (section 12.5.3).
    var prefersGzip: Bool {
        let gzip = self["gzip"] ?? self["x-gzip"] ?? self["*"] ?? 0
        return gzip > 0 && gzip >= self["identity"] ?? 0
    }
}
