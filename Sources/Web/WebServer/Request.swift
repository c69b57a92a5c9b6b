package import HTTPTypes
import Platform
import Synchronization

/// A request whose head, and whose body if it has one, have arrived.
package struct Request: Sendable {
    package let method: HTTPRequest.Method
    /// In origin form (RFC 9112 section 3.2.1), as it was sent: percent-encoded.
    package let target: String
    /// With one `Host`.
    package let headers: HTTPFields
    let isHTTP10: Bool
    /// Empty until the body is complete.
    package internal(set) var body: [UInt8] = []
    /// The memory of the body, as long as anything has this request.
    var memory: BodyMemory.Share?
    /// Whether the client is still there.
    package let client: ClientPresence

    /// The host and the port that the request is for.
    package var authority: String { headers[Self.host] ?? "" }

    /// The target up to its query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// What follows the first `?`; nil without one.
    package var query: String? { target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } }

    /// The decoded value of the first parameter of that name. A `+` stays.
    package func parameter(_ name: String) -> String? {
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name {
                return String(decoding: PercentEncoding.decoded((parts.dropFirst().first ?? "").utf8), as: UTF8.self)
            }
        }
        return nil
    }

    /// The value of the first cookie of that name (RFC 6265 section 5.4).
    package func cookie(_ name: String) -> String? {
        for field in headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.count + 1)) }
            }
        }
        return nil
    }

    static let host = HTTPField.Name("Host")!
}

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

/// The hosts by which clients may address a server; protects it against DNS rebinding.
///
/// A page from a foreign host can have that host's name resolve to this machine. The browser then lets the page read the server's
/// responses, but still sends the foreign name in `Host`. An IP address needs no name server, so all of them are allowed.
package struct AllowedHosts: Sendable {
    private let names: Set<String>
    /// Those of `names` by which clients may reach the server through a proxy, whose scheme and port differ.
    private let given: Set<String>

    /// - Parameters:
    ///   - listening: The address or name the server listens on.
    ///   - names: More names it is known by. `localhost` is always allowed.
    package init(listening: String, names: [String] = []) {
        given = Set(names.map { $0.lowercased() })
        self.names = given.union(["localhost", listening.lowercased()])
    }

    /// Whether the server may answer a request with this `Host` (RFC 9110 section 7.2): a name, an IPv4 address, or an IPv6
    /// address in brackets, each with an optional port.
    package func contains(_ authority: String) -> Bool {
        guard let (host, _) = Self.split(authority) else { return false }
        if host.hasPrefix("["), host.hasSuffix("]") { return SocketAddress.isIPv6(String(host.dropFirst().dropLast())) }
        // Only four decimal numbers are an IPv4 address; other forms are names (RFC 3986 section 3.2.2).
        return names.contains(host) || SocketAddress.isIPv4(host)
    }

    /// Whether a URL with this scheme and authority names this server. `contains` accepts every address, as a browser sends
    /// that of the machine it is connected to; a client of a proxy sends that of another machine (RFC 9110 section 7.4).
    /// - Parameter local: The address that the client has connected to.
    func isOwn(_ authority: String, scheme: String, local: SocketAddress?) -> Bool {
        guard let (host, port) = Self.split(authority), ["http", "https"].contains(scheme) else { return false }
        if given.contains(host) { return true }
        guard scheme == "http", local?.port == (port.isEmpty ? 80 : Int(port)) else { return false }
        return names.contains(host) || host == local.map { $0.isIPv6 ? "[\($0.address)]" : $0.address }
    }

    /// The host in lower case, and the port's digits, if any. Nil for another text.
    static func split(_ authority: String) -> (host: String, port: Substring)? {
        var end = authority.endIndex
        if authority.hasPrefix("[") {
            end = authority.firstIndex(of: "]").map(authority.index(after:)) ?? end
        } else {
            end = authority.firstIndex(of: ":") ?? end
        }
        let host = authority[..<end].lowercased()
        let port = authority[end...]
        guard !host.isEmpty, port.isEmpty || port.hasPrefix(":"), port.dropFirst().utf8.allSatisfy(isDigit) else {
            return nil
        }
        return (host, port.dropFirst())
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether only this machine can connect to a server that listens on `host`, an address or a name.
    package static func isLoopback(_ host: String) -> Bool {
        // A name may begin with 127, too.
        host == "localhost" || host == "::1" || SocketAddress.isIPv4(host) && host.hasPrefix("127.")
    }
}

/// Whether the client of a request still waits for the response.
package final class ClientPresence: Sendable {
    private struct State {
        var hasLeft = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    init() {}

    /// Runs `body`, and cancels it if the client closes the connection meanwhile, as every browser does that no longer wants the response.
    package func whileConnected<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let task = Task { await body() }
        onLeave { task.cancel() }
        defer { onLeave(nil) }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Calls `action` when the client has left or has the response, or now if that is so. Replaces the action before.
    package func onLeave(_ action: (@Sendable () -> Void)?) {
        let hasLeft = state.withLock { state in
            state.action = action
            return state.hasLeft
        }
        if hasLeft { action?() }
    }

    func leave() {
        let action = state.withLock { state in
            state.hasLeft = true
            return state.action.take()
        }
        action?()
    }
}
