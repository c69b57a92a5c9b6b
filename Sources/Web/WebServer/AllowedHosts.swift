import Platform

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
