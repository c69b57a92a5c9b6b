import HTTPTypes
import Platform

/// The requirements of HTTP/1.1 on a request's head that libmicrohttpd does not check.
struct RequestRules: Sendable {
    /// Why a request is not answered.
    struct Refusal: Error, Equatable {
        var status: HTTPResponse.Status
        /// One line, for people.
        var text: String
    }

    let hosts: AllowedHosts

    /// The head in origin form (RFC 9112 section 3.2.1), with one `Host`: that of the target, if the target holds one (section
    /// 3.2.2), and this server's own address for an HTTP/1.0 request without one.
    /// - Parameter local: the address that the client has connected to.
    /// - Throws: `Refusal`.
    func applied(to request: Request, local: SocketAddress?) throws(Refusal) -> Request {
        try checkFraming(request)
        let given = request.headers[values: Request.host]
        guard given.count <= 1 else { throw .bad("a request must have one Host field, not \(given.count)") }
        guard let host = given.first ?? (request.isHTTP10 ? local?.authority : nil) else {
            throw .bad("a request must have a Host field")
        }
        guard Self.isAuthority(host) else { throw .bad("the Host field is no host") }
        // A fragment is no part of a target, and a space ends one.
        guard !request.target.contains(where: { "# \t".contains($0) }) else {
            throw .bad("the request target has a # or a space")
        }
        if request.target.hasPrefix("/") || request.target == "*" || request.method == .connect {
            return request.to(request.target, at: host)
        }

        guard let (scheme, authority, path) = Self.absoluteForm(request.target), Self.isAuthority(authority) else {
            throw .bad("the request target is no path, such as /cover.jpg")
        }
        guard hosts.isOwn(authority, scheme: scheme, local: local) else {
            throw Refusal(
                status: .misdirectedRequest, text: "this server is no proxy: it does not answer for other servers")
        }
        return request.to(path, at: authority)
    }

    /// - Throws: `Refusal` if it is none.
    static func method(_ text: String) throws(Refusal) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(rawValue: text) else { throw .bad("the method is none") }
        return method
    }

    /// How long the body is must not be a matter of opinion, else a part of it may pass for the next request (RFC 9112 sections 6.1,
    /// 6.3 and 11.2).
    private func checkFraming(_ request: Request) throws(Refusal) {
        let codings = request.headers[values: .transferEncoding]
        let lengths = request.headers[values: .contentLength]
        guard lengths.count <= 1 else { throw .bad("a request has one Content-Length") }
        if codings.isEmpty { return }
        guard !request.isHTTP10 else { throw .bad("HTTP/1.0 has no Transfer-Encoding") }
        guard lengths.isEmpty else { throw .bad("a request has Content-Length or Transfer-Encoding, not both") }
        guard codings.count == 1, codings[0].lowercased() == "chunked" else {
            throw Refusal(status: .notImplemented, text: "chunked is the only transfer coding that is understood")
        }
    }

    /// An absolute URL (RFC 9112 section 3.2.2). Nil for any other text.
    private static func absoluteForm(_ target: String) -> (scheme: String, authority: String, path: String)? {
        guard let colon = target.firstRange(of: "://") else { return nil }
        let rest = target[colon.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let path = rest[end...]
        return (
            target[..<colon.lowerBound].lowercased(), String(rest[..<end]),
            path.hasPrefix("/") ? String(path) : "/" + path
        )
    }

    /// Whether a text is a host with an optional port, without a user name (RFC 9110 section 4.2.4, RFC 3986 section 3.2).
    private static func isAuthority(_ text: String) -> Bool {
        guard let (host, port) = AllowedHosts.split(text) else { return false }
        let isAddress = host.hasPrefix("[")
        guard isAddress ? host.hasSuffix("]") : !host.utf8.contains(where: { "[]".utf8.contains($0) }) else {
            return false
        }
        return (UInt16(port) != nil || port.isEmpty) && host.utf8.allSatisfy(hostBytes.contains)
    }

    private static let hostBytes = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=%[]:".utf8)
}

extension RequestRules.Refusal {
    static func bad(_ text: String) -> Self { Self(status: .badRequest, text: text) }
}

extension Request {
    fileprivate func to(_ target: String, at host: String) -> Request {
        var headers = headers
        headers[Self.host] = host
        return Request(method: method, target: target, headers: headers, isHTTP10: isHTTP10, client: client)
    }
}
