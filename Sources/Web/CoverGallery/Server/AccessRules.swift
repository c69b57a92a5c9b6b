import HTTPTypes
import Platform
import WebServer

/// Refuses requests that do not come from the gallery's own page or with its token, and adds security headers to every response.
///
/// Every page in a browser, and every program and user of this machine, can send requests to servers on it. Three checks refuse those: `Host` must be
/// a host that no foreign name server controls (DNS rebinding), requests need the token, and those that change something must come from the
/// gallery's own origin (`Origin`, `Sec-Fetch-Site`).
struct AccessRules: Sendable {
    private let hosts: AllowedHosts
    private let token: String?
    private let base: BasePath
    /// Holds the token. Browsers send cookies to every port of the host (RFC 6265 section 8.5), so each token has a name.
    private let cookie: String

    /// - Parameter token: Nil to require none.
    init(hosts: AllowedHosts, token: String?, base: BasePath) {
        self.hosts = hosts
        self.token = token
        self.base = base
        cookie = "sleeve-token-\(Digest(of: (token ?? "").utf8).description.prefix(8))"
    }

    /// The response to a request that is refused; nil for one that is answered.
    func refusal(of request: Request) -> Response? { refusalOfClient(request).map(Self.secured) }

    /// The response to a person who opens the address with the token; nil for any other request.
    func signIn(_ request: Request) -> Response? {
        guard let token, isVisit(request), tokenInAddress(request) != nil else { return nil }
        return Self.secured(signIn(token))
    }

    /// A response with the fields that all have.
    func finished(_ response: Response, for request: Request) -> Response {
        var response = response
        // The page that shows it knows the token.
        if tokenInAddress(request) != nil { response.headers[.crossOriginResourcePolicy] = "cross-origin" }
        return Self.secured(response)
    }

    private static func secured(_ response: Response) -> Response {
        var response = response
        for field in securityHeaders where response.headers[field.name] == nil { response.headers.append(field) }
        return response
    }

    private func refusalOfClient(_ request: Request) -> Response? {
        let host = request.authority
        guard hosts.contains(host) else {
            return .problem(
                "this gallery is not known by that name; start it with --server-name to allow one",
                status: .misdirectedRequest
            )
        }
        if let refusal = refusalWithoutToken(request) { return refusal }
        // Pages of other sites that know the token may show covers.
        if tokenInAddress(request) != nil, isCover(request) { return nil }
        let isChange = request.method != .get && request.method != .head
        if isFromOtherSite(request) {
            // Other sites may link to the page alone: what is below it may download and store.
            let isLink = request.method == .get && request.headers[.secFetchMode] == "navigate"
            if !isLink || !isPage(request) {
                return .problem("only the gallery's own page may request this", status: .forbidden)
            }
        }
        if isChange, hasForeignOrigin(request, host: host) {
            return .problem("only the gallery's own page may do this", status: .forbidden)
        }
        return nil
    }

    /// Whether the browser says that another site's page has sent the request (Fetch Metadata). A person who follows a link or types
    /// an address is no page.
    private func isFromOtherSite(_ request: Request) -> Bool {
        guard let site = request.headers[.secFetchSite] else { return false }
        return site != "same-origin" && site != "none"
    }

    /// Whether `Origin` (RFC 6454 section 7) names another origin than the server's own, or hides its own (`null`).
    /// - Parameter host: Of the request.
    private func hasForeignOrigin(_ request: Request, host: String) -> Bool {
        guard let origin = request.headers[.origin]?.lowercased() else { return false }
        return origin != "http://\(host.lowercased())" && origin != "https://\(host.lowercased())"
    }

    // MARK: The token

    /// Nil if the gallery has no token: the address may then be of one that had. It counts for a person's visit and for a cover alone.
    private func tokenInAddress(_ request: Request) -> String? {
        guard token != nil, isVisit(request) || isCover(request) else { return nil }
        return request.parameter("token")
    }

    /// Whether a person opens the page.
    private func isVisit(_ request: Request) -> Bool {
        if request.method != .get || isCover(request) { return false }
        return isPage(request) || AcceptedValues(request.headers[.accept])["text/html"] ?? 0 > 0
    }

    private func isPage(_ request: Request) -> Bool { [request.path, request.path + "/"].contains(base.text) }

    private func isCover(_ request: Request) -> Bool { request.path == base.text + CoverByURLRoute.path }

    private func refusalWithoutToken(_ request: Request) -> Response? {
        guard let token else { return nil }
        let inAddress = tokenInAddress(request)
        // A scheme's name has no case (RFC 9110 section 11.1).
        let bearer = request.headers[.authorization].flatMap {
            $0.lowercased().hasPrefix("bearer ") ? String($0.dropFirst(7)) : nil
        }
        let given = [inAddress, bearer, request.cookie(cookie)].compactMap(\.self)
        if given.contains(where: { ConstantTime.isEqual($0, token) }) { return nil }
        return unauthorized(request, isWrong: given.contains { !$0.isEmpty })
    }

    /// Says what to do: in a page to a person, in JSON to a program.
    /// - Parameter isWrong: The request has a token, of another gallery.
    private func unauthorized(_ request: Request, isWrong: Bool) -> Response {
        var response =
            if AcceptedValues(request.headers[.accept])["text/html"] ?? 0 > 0 {
                Response(
                    status: .unauthorized,
                    headers: [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.tokenPagePolicy],
                    body: .bytes(isWrong ? Self.wrongTokenPage : Self.tokenPage))
            } else {
                Response.problem(
                    isWrong
                        ? "this is not the gallery's token"
                        : "open the gallery with the address it printed: it holds a token", status: .unauthorized)
            }
        // RFC 9110 section 11.6.1.
        response.headers[.wwwAuthenticate] = "Bearer realm=\"sleeve\""
        response.headers[.vary] = "Accept"
        return response
    }

    private static let tokenPage = tokenPage(saying: "")
    private static let wrongTokenPage = tokenPage(
        saying: "<p role=\"alert\">The token that this browser sent is not this gallery’s.</p>\n")

    private static func tokenPage(saying problem: String) -> [UInt8] {
        let page = PageFiles.contents.first { $0.name == PageFiles.tokenPage }?.bytes ?? []
        return Array(String(decoding: page, as: UTF8.self).replacing("PROBLEM\n", with: problem).utf8)
    }

    /// Its style is in the page, as another file would need the token.
    private static let tokenPagePolicy =
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    /// Moves the token from the address bar to a cookie.
    private func signIn(_ token: String) -> Response {
        let field = "\(cookie)=\(token); \(base.cookieAttributes)"
        return Response(status: .seeOther, headers: [.location: base.text, .setCookie: field])
    }

    private static let securityHeaders: HTTPFields = [
        // Only the gallery's own files: no inline script, no style attribute, no text that becomes markup.
        .contentSecurityPolicy: """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
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
    fileprivate static let secFetchSite = Self("Sec-Fetch-Site")!
}
