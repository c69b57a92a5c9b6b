import Crypto
import HTTPTypes
import Hummingbird

/// Lets in who may come in, and puts the safety headers on every answer.
///
/// The gallery is a server on people's own machines, so every page they have open can send it requests. Three things keep
/// those out: the `Host` must be one that no foreign name server could lead here (DNS rebinding), requests that change
/// something must come from the gallery's own page (`Origin`, `Sec-Fetch-Site`), and where others than this machine can
/// connect, a token is asked for.
struct Doorkeeper: RouterMiddleware {
    typealias Context = BasicRequestContext

    private static let tokenCookie = "sleeve-token"
    private let token: String?
    private let names: Set<String>

    init(_ options: GalleryOptions) {
        token = options.token
        names = Set((options.names + ["localhost", options.host]).map { $0.lowercased() })
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        if let refusal = refusal(request) {
            response = refusal
        } else if let token, let given = request.uri.queryParameters["token"] {
            response = welcome(String(given), token)
        } else {
            do {
                response = try await next(request, context)
            } catch let error as HTTPError {
                response = .problem(error.body ?? error.status.reasonPhrase, status: error.status)
            }
        }
        protect(&response)
        return response
    }

    private func refusal(_ request: Request) -> Response? {
        guard let host = request.head.authority, isOurs(host) else {
            return .problem(
                "this gallery is not known by that name; start it with --name to allow one", status: .misdirectedRequest
            )
        }
        let changes = request.method != .get && request.method != .head
        let site = request.headers[.secFetchSite]
        if let site, site != "same-origin" && site != "none" {
            // A link on another page may lead here; nothing else may.
            let isVisit = !changes && request.headers[.secFetchMode] == "navigate"
            if !isVisit { return .problem("only the gallery's own page may ask for this", status: .forbidden) }
        }
        if changes, let origin = request.headers[.origin], origin != "http://\(host)", origin != "https://\(host)" {
            return .problem("only the gallery's own page may do this", status: .forbidden)
        }
        guard let token else { return nil }
        if request.uri.queryParameters["token"] != nil { return nil }
        let bearer = request.headers[.authorization].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        if let given = bearer ?? request.cookie(Self.tokenCookie), Self.isSame(given, token) { return nil }
        return .problem("open the gallery with the address it printed: it holds a token", status: .unauthorized)
    }

    /// An address cannot be rebound, a foreign name can.
    private func isOurs(_ authority: String) -> Bool {
        var host = authority.lowercased()
        if let colon = host.lastIndex(of: ":"), host[colon...].dropFirst().allSatisfy(\.isNumber), !host.hasSuffix("]")
        {
            host = String(host[..<colon])
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" }
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return names.contains(host) || (parts.count == 4 && parts.allSatisfy { UInt8($0) != nil })
    }

    /// Keeps the token in a cookie and takes it out of the address bar.
    private func welcome(_ given: String, _ token: String) -> Response {
        guard Self.isSame(given, token) else {
            return .problem("the token is not this gallery's", status: .unauthorized)
        }
        let cookie = "\(Self.tokenCookie)=\(token); Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
        return Response(status: .seeOther, headers: [.location: "/", .setCookie: cookie])
    }

    /// Takes the same time wherever they differ.
    private static func isSame(_ given: String, _ token: String) -> Bool {
        SHA256.hash(data: Array(given.utf8)) == SHA256.hash(data: Array(token.utf8))
    }

    private func protect(_ response: inout Response) {
        func set(_ name: HTTPField.Name, _ value: String) {
            if response.headers[name] == nil { response.headers[name] = value }
        }
        set(.contentSecurityPolicy, Self.policy)
        set(.xContentTypeOptions, "nosniff")
        set(.crossOriginResourcePolicy, "same-origin")
        set(.crossOriginOpenerPolicy, "same-origin")
        set(.referrerPolicy, "no-referrer")
        set(.cacheControl, "no-store")
    }

    /// Nothing but our own files: no inline script, no style attribute, no text that becomes markup.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types sleeve
        """
}

extension HTTPField.Name {
    static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
    static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
    static let referrerPolicy = Self("Referrer-Policy")!
    static let secFetchSite = Self("Sec-Fetch-Site")!
    static let secFetchMode = Self("Sec-Fetch-Mode")!
}
