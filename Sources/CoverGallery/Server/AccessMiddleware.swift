import HTTPTypes
import Hummingbird
import Platform
import ServerChannels

/// Refuses requests that do not come from the gallery's own page, and adds security headers to every response.
///
/// Every page in a browser can send requests to servers on the same machine. Three checks refuse those: `Host` must be
/// a host that no foreign name server controls (DNS rebinding), requests that change something must come from the gallery's own
/// origin (`Origin`, `Sec-Fetch-Site`), and a token is required where other machines can connect.
struct AccessMiddleware: RouterMiddleware {
    typealias Context = GalleryContext

    private let hosts: AllowedHosts
    private let token: String?
    private let base: BasePath

    init(hosts: AllowedHosts, token: String?, base: BasePath) {
        self.hosts = hosts
        self.token = token
        self.base = base
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        if let refusal = refusal(of: request) {
            response = refusal
        } else if let token, let given = request.uri.queryParameters["token"] {
            response = signIn(request, String(given), token)
        } else {
            do {
                response = try await next(request, context)
            } catch {
                response = try .problem(error)
            }
        }
        for field in Self.securityHeaders where response.headers[field.name] == nil { response.headers.append(field) }
        return response
    }

    private func refusal(of request: Request) -> Response? {
        let host = request.head.authority ?? ""
        guard hosts.contains(host) else {
            return .problem(
                "this gallery is not known by that name; start it with --name to allow one", status: .misdirectedRequest
            )
        }
        let isChange = request.method != .get && request.method != .head
        if CrossSiteRequest.isFromOtherSite(request.headers) {
            // Other pages may only link here.
            let isVisit = !isChange && request.headers[.secFetchMode] == "navigate"
            if !isVisit { return .problem("only the gallery's own page may request this", status: .forbidden) }
        }
        if isChange, CrossSiteRequest.hasForeignOrigin(request.headers, host: host) {
            return .problem("only the gallery's own page may do this", status: .forbidden)
        }
        guard let token, request.uri.queryParameters["token"] == nil else { return nil }
        let bearer = request.headers[.authorization].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        if let given = bearer ?? request.cookie(GalleryCookie.token), ConstantTime.isEqual(given, token) { return nil }
        return unauthorized(request, "open the gallery with the address it printed: it holds a token")
    }

    /// Says what to do: in a page to a person, in JSON to a program.
    private func unauthorized(_ request: Request, _ message: String) -> Response {
        let accepted = AcceptedValues(request.headers[.accept])
        var response: Response
        if accepted["text/html"] ?? 0 > 0 {
            response = .page(
                status: .unauthorized, title: "This gallery needs its token",
                """
                <p>Open it with the whole address that <code>sleeve serve</code> printed when it was started, with everything after \
                the question mark: <code>http://…/?token=…</code>. This browser then remembers the token.</p>
                <p>If that is the address you opened, the gallery was started again with another token since: use the latest one.</p>
                <form method="get"><label>Or enter the token: <input name="token" type="password" autocomplete="off" \
                required autofocus></label> <button>Open</button></form>
                """)
        } else {
            response = .problem(message, status: .unauthorized)
        }
        // RFC 9110 section 11.6.1.
        response.headers[.wwwAuthenticate] = "Bearer realm=\"sleeve\""
        response.headers[.vary] = "Accept"
        return response
    }

    /// Moves the token from the address bar to a cookie.
    private func signIn(_ request: Request, _ given: String, _ token: String) -> Response {
        guard ConstantTime.isEqual(given, token) else {
            return unauthorized(request, "this is not the gallery's token")
        }
        let cookie = "\(GalleryCookie.token)=\(token); \(base.cookieAttributes)"
        return Response(status: .seeOther, headers: [.location: base.text, .setCookie: cookie])
    }

    private static let securityHeaders: HTTPFields = [
        // Only the gallery's own files: no inline script, no style attribute, no text that becomes markup.
        .contentSecurityPolicy: """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types sleeve
        """,
        .xContentTypeOptions: "nosniff", .crossOriginResourcePolicy: "same-origin",
        .crossOriginOpenerPolicy: "same-origin", .referrerPolicy: "no-referrer", .cacheControl: "no-store",
    ]
}

extension HTTPField.Name {
    fileprivate static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
    fileprivate static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
    fileprivate static let secFetchMode = Self("Sec-Fetch-Mode")!
}
