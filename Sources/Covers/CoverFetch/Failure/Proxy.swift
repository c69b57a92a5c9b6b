import CurlHTTP
import Platform

/// The proxy that libcurl takes from the environment for a URL, without its credentials. Failures of the proxy are reported as
/// such.
struct Proxy: Sendable, Hashable {
    /// The environment variable that names the proxy.
    var variable: String
    var host: String
    /// Nil for the default port.
    var port: Int?
    /// It knows connections, and no HTTP.
    var isSOCKS: Bool

    /// `host[:port]`.
    var authority: String { (host.contains(":") ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "") }

    /// Nil if no variable names a proxy, or `no_proxy` excepts the host.
    /// - Parameter environment: returns the value of a variable.
    init?(for url: String, environment: (String) -> String? = Self.environment) {
        // Not HTTP_PROXY: the client of a CGI program can set it.
        let own = url.hasPrefix("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let set = (own + ["all_proxy", "ALL_PROXY"]).compactMap { name in environment(name).map { (name, $0) } }
        guard let (name, value) = set.first(where: { !$0.1.isEmpty }) else { return nil }
        // To libcurl, an empty variable is none.
        let exceptions = ["no_proxy", "NO_PROXY"].compactMap { environment($0) }.first { !$0.isEmpty }
        if let exceptions, Self.excepts(exceptions, url) { return nil }
        isSOCKS = value.lowercased().hasPrefix("socks")
        var authority = value[...]
        if let start = authority.firstRange(of: "://")?.upperBound { authority = authority[start...] }
        authority = authority.prefix { $0 != "/" }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        variable = name
        if authority.first == "[" {
            host = String(authority.dropFirst().prefix { $0 != "]" })
            port = authority.firstRange(of: "]:").flatMap { Int(authority[$0.upperBound...]) }
        } else {
            host = String(authority.prefix { $0 != ":" })
            port = authority.firstIndex(of: ":").flatMap { Int(authority[authority.index(after: $0)...]) }
        }
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Whether a list of names and addresses has the host of a URL, as libcurl reads it since 7.86: names stand for what is in their domains,
    /// too, and addresses may have the length of a prefix.
    private static func excepts(_ exceptions: String, _ url: String) -> Bool {
        guard let host = try? HTTPURL(url).host else { return false }
        if exceptions == "*" { return true }
        let name = host.last == "." ? host.dropLast() : host.drop { $0 == "[" }.prefix { $0 != "]" }
        let address = SocketAddress.bytes(of: String(name))
        return exceptions.lowercased().split { $0 == "," || $0 == " " }.contains { exception in
            if let address { return Self.prefix(exception, holds: address) }
            let domain = (exception.last == "." ? exception.dropLast() : exception).drop { $0 == "." }
            return !domain.isEmpty && (name == domain || name.hasSuffix("." + domain))
        }
    }

    /// Whether an address, or a prefix with its length in bits, holds an address.
    private static func prefix(_ text: Substring, holds address: [UInt8]) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard let base = parts.first.flatMap({ SocketAddress.bytes(of: String($0)) }), base.count == address.count
        else { return false }
        let most = 8 * base.count
        guard let bits = parts.count > 1 ? Int(parts[1]) : most, (0...most).contains(bits) else { return false }
        return (0..<bits).allSatisfy { bit in
            let mask: UInt8 = 0x80 >> (bit % 8)
            return base[bit / 8] & mask == address[bit / 8] & mask
        }
    }

    /// Whether libcurl's message is about connecting to the proxy.
    func isUnreachable(_ message: String) -> Bool {
        message.contains(.proxyUnresolved) || message.contains(CurlMessage.failedToConnect.rawValue + address)
    }

    /// As libcurl writes it.
    private var address: String { port.map { "\(host) port \($0)" } ?? "\(host) port " }

    private var name: String { "the proxy \(authority), which \(variable) names" }

    /// Rewords libcurl's message if it is about the proxy: says which one, and what to do.
    func attributing(_ message: String) -> String {
        if message.contains(.proxyUnresolved) { return "can't find \(name); correct or unset \(variable)" }
        let reason = message.split(separator: ": ").last.map { $0.prefix(1).lowercased() + $0.dropFirst() } ?? message
        if isUnreachable(message) { return "can't reach \(name): \(reason); start it, or unset \(variable)" }
        let isRejection = message.contains(.answeredByProxy) || message.contains(.tunnelFailed)
        return isRejection ? "\(name), refused the connection: \(reason)" : message
    }

    /// Describes a 407 response.
    var refusal: String {
        "\(name), requires another user name and password"
    }
}
