import NIOCore
import NIOHTTP1

/// The requirements of HTTP/1.1 on a request's head that neither NIO nor Hummingbird checks.
struct RequestRules: Sendable {
    /// Why a request is not answered.
    struct Refusal: Error, Equatable {
        var status: HTTPResponseStatus
        /// One line, for people.
        var text: String
    }

    let hosts: AllowedHosts

    /// The head in origin form (RFC 9112 section 3.2.1), with one `Host`: that of the target, if the target holds one (section
    /// 3.2.2), and this server's own address for an HTTP/1.0 request without one.
    /// - Parameter local: the address that the client has connected to.
    /// - Throws: `Refusal`.
    func applied(to head: HTTPRequestHead, local: SocketAddress?) throws(Refusal) -> HTTPRequestHead {
        try checkFraming(head)
        var head = head
        let given = head.headers["Host"]
        guard given.count <= 1 else { throw .bad("a request must have one Host field, not \(given.count)") }
        guard let host = given.first ?? (head.isHTTP10 ? local?.authority : nil) else {
            throw .bad("a request must have a Host field")
        }
        guard Self.isAuthority(host) else { throw .bad("the Host field is no host") }
        head.headers.replaceOrAdd(name: "Host", value: host)
        // A fragment is no part of a target.
        guard !head.uri.contains("#") else { throw .bad("the request target has a #") }
        if head.uri.hasPrefix("/") || head.uri == "*" || head.method == .CONNECT { return head }

        guard let (scheme, authority, path) = Self.absoluteForm(head.uri), Self.isAuthority(authority) else {
            throw .bad("the request target is no path, such as /cover.jpg")
        }
        guard hosts.isOwn(authority, scheme: scheme, local: local) else {
            throw Refusal(
                status: .misdirectedRequest, text: "this server is no proxy: it does not answer for other servers")
        }
        head.uri = path
        head.headers.replaceOrAdd(name: "Host", value: authority)
        return head
    }

    /// How long the body is must not be a matter of opinion, else a part of it may pass for the next request (RFC 9112 sections 6.1,
    /// 6.3 and 11.2).
    private func checkFraming(_ head: HTTPRequestHead) throws(Refusal) {
        let codings = head.headers["Transfer-Encoding"]
        if codings.isEmpty { return }
        guard !head.isHTTP10 else { throw .bad("HTTP/1.0 has no Transfer-Encoding") }
        guard !head.headers.contains(name: "Content-Length") else {
            throw .bad("a request has Content-Length or Transfer-Encoding, not both")
        }
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
    fileprivate static func bad(_ text: String) -> Self { Self(status: .badRequest, text: text) }
}

extension HTTPRequestHead {
    var isHTTP10: Bool { version.major < 1 || (version.major == 1 && version.minor == 0) }
}

extension SocketAddress {
    /// `address:port`, as in a `Host` field.
    fileprivate var authority: String? {
        guard let ipAddress, let port else { return nil }
        return self.protocol == .inet6 ? "[\(ipAddress)]:\(port)" : "\(ipAddress):\(port)"
    }
}
