import AlbumLibrary
import CoverLibrary
import HTTPTypes
import Platform
import WebServer

/// A failed request, as its client is told of it.
struct HTTPError: Error {
    let status: HTTPResponse.Status
    let message: String

    init(_ status: HTTPResponse.Status, message: String) { (self.status, self.message) = (status, message) }
}

/// The parts of a request's path that its route names.
struct PathParameters: Sendable {
    fileprivate var values: [String: Substring] = [:]

    /// The part as it is in the path; empty if the route does not name it.
    subscript(_ name: String) -> String { values[name].map(String.init) ?? "" }

    /// The album that the path names.
    var albumID: Album.ID { String(decoding: PercentEncoding.decoded(self["id"].utf8), as: UTF8.self) }
}

/// What is answered at which paths, below a base path.
struct Routes: Sendable {
    typealias Handler = @Sendable (Request, PathParameters) async throws -> Response

    /// The largest body of a request, in bytes, and what a client is told that sends more.
    struct BodyLimit: Sendable {
        var bytes: Int
        var message: String

        init(_ bytes: Int, message: String? = nil) {
            (self.bytes, self.message) = (bytes, message ?? "the body is larger than \(bytes) bytes")
        }
    }

    private struct Route: Sendable {
        let method: HTTPRequest.Method
        let path: [Substring]
        let limit: BodyLimit
        let handler: Handler
    }

    /// A route that a request has.
    struct Match: Sendable {
        let limit: BodyLimit
        let parameters: PathParameters
        let handler: Handler
    }

    private let base: BasePath
    private var routes: [Route] = []

    init(below base: BasePath) { self.base = base }

    /// - Parameter path: Below the base. A segment in braces is a parameter.
    mutating func add(
        _ method: HTTPRequest.Method, _ path: String, limit: BodyLimit = BodyLimit(64 << 10),
        _ handler: @escaping Handler
    ) {
        routes.append(Route(method: method, path: Self.segments(base.text + path), limit: limit, handler: handler))
    }

    mutating func get(_ path: String, _ handler: @escaping Handler) { add(.get, path, handler) }

    mutating func post(_ path: String, limit: BodyLimit = BodyLimit(64 << 10), _ handler: @escaping Handler) {
        add(.post, path, limit: limit, handler)
    }

    /// The first route of a request; a HEAD has that of the GET if it has none of its own. Empty segments do not count.
    func match(_ request: Request) -> Match? {
        let path = Self.segments(request.path)
        return match(request.method, path) ?? (request.method == .head ? match(.get, path) : nil)
    }

    private func match(_ method: HTTPRequest.Method, _ path: [Substring]) -> Match? {
        for route in routes where route.method == method && route.path.count == path.count {
            var parameters = PathParameters()
            let isMatch = zip(route.path, path).allSatisfy { expected, part in
                guard expected.hasPrefix("{") else { return expected == part }
                parameters.values[String(expected.dropFirst().dropLast())] = part
                return true
            }
            if isMatch { return Match(limit: route.limit, parameters: parameters, handler: route.handler) }
        }
        return nil
    }

    private static func segments(_ path: String) -> [Substring] { path.split(separator: "/") }
}

/// Everything the gallery answers.
struct GalleryResponder: Responder {
    private let access: AccessRules
    private let routes: Routes
    private let base: BasePath

    init(_ model: GalleryModel, _ access: AccessRules, _ covers: CoverByURLRoute, base: BasePath) {
        self.access = access
        self.base = base
        var routes = Routes(below: base)
        let files = PageFiles()
        routes.get("") { request, _ in
            // Empty segments do not count, but the page's addresses are relative to its own.
            guard request.path == base.text else {
                return Response(status: .permanentRedirect, headers: [.location: base.text])
            }
            let isNew = request.cookie(AlbumRoutes.clientCookie) == nil
            return try await files.page(loading: isNew ? model.firstCovers() : [], request)
        }
        AlbumRoutes(model: model, base: base).add(to: &routes)
        CoverRoutes(model: model).add(to: &routes)
        covers.add(to: &routes)
        PageRoutes(model: model).add(to: &routes)
        FilterRoutes(model: model).add(to: &routes)
        // After the others: a name is any.
        for path in ["{file}", "files/{version}/{file}"] {
            let hasVersion = path.hasPrefix("files")
            routes.get(path) { request, parameters in
                try await files.response(parameters["file"], version: hasVersion ? parameters["version"] : nil, request)
            }
        }
        self.routes = routes
    }

    func admit(_ request: Request) -> Admission {
        if let refusal = access.refusal(of: request) { return .refuse(refusal) }
        guard let route = routes.match(request) else {
            return .refuse(access.finished(.problem(notFound), for: request))
        }
        return .accept(
            limit: route.limit.bytes,
            above: { access.finished(.problem(route.limit.message, status: .contentTooLarge), for: request) },
            answer: { answer($0, by: route) })
    }

    private func answer(_ request: Request, by route: Routes.Match) -> Answer {
        if let response = access.signIn(request) { return .now(response) }
        return .later {
            var response: Response
            do {
                response = try await route.handler(request, route.parameters)
            } catch {
                response = .problem(error)
            }
            return access.finished(response, for: request)
        }
    }

    var busy: Response {
        .problem("the gallery receives too much at a time; try again", status: .serviceUnavailable)
    }

    /// A proxy that removes the path from requests ends here.
    private var notFound: HTTPError {
        HTTPError(
            .notFound, message: "there is nothing here" + (base == .root ? "" : ": the gallery is below \(base.text)"))
    }
}

/// The path below which a gallery answers: `/`, or such as `/sleeve/` behind a proxy that has other applications, too.
///
/// The page's own addresses are relative, so only redirects, cookies and `Link` fields name it.
package struct BasePath: Sendable, Hashable {
    /// Begins and ends with `/`.
    package let text: String

    package static let root = BasePath(segments: [])

    /// Slashes at the beginning and the end of `text` are optional.
    /// - Returns: nil if a segment is empty, `.` or `..`, or has other characters than the unreserved ones of RFC 3986 section
    ///   2.3, or if the path is longer than 200 bytes.
    package init?(_ text: String) {
        var inner = text[...]
        if inner.hasPrefix("/") { inner.removeFirst() }
        if inner.hasSuffix("/") { inner.removeLast() }
        let segments = inner.isEmpty ? [] : inner.split(separator: "/", omittingEmptySubsequences: false)
        let isValid = segments.allSatisfy { segment in
            !segment.isEmpty && segment != "." && segment != ".." && segment.allSatisfy(\.isUnreserved)
        }
        guard isValid, text.utf8.count <= 200 else { return nil }
        self.init(segments: segments)
    }

    private init(segments: [Substring]) { text = segments.reduce("/") { "\($0)\($1)/" } }

    /// Without the slash at the end: `/sleeve`, or `/`.
    private var withoutSlash: String { text == "/" ? text : String(text.dropLast()) }

    /// The attributes of the gallery's cookies; they last a year. A link of another site brings them, which leads to the page alone (`AccessRules`),
    /// and no other request of it does (RFC 6265bis section 5.5.7.1). The path has no slash at the end, so that browsers send them
    /// with a request for `/sleeve`, too (RFC 6265 section 5.1.4).
    var cookieAttributes: String { "Path=\(withoutSlash); HttpOnly; SameSite=Lax; Max-Age=31536000" }
}

extension Character {
    fileprivate var isUnreserved: Bool { isASCII && (isLetter || isNumber || "-._~".contains(self)) }
}
