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

    /// Nil if no variable names a proxy; `no_proxy` is not consulted.
    /// - Parameter environment: returns the value of a variable.
    init?(for url: String, environment: (String) -> String? = Self.environment) {
        // Not HTTP_PROXY: the client of a CGI program can set it.
        let own = url.hasPrefix("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let set = (own + ["all_proxy", "ALL_PROXY"]).compactMap { name in environment(name).map { (name, $0) } }
        guard let (name, value) = set.first(where: { !$0.1.isEmpty }) else { return nil }
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

    /// Names the proxy in libcurl's message if the message is about the proxy.
    func attributing(_ message: String) -> String {
        let address = port.map { "\(host) port \($0)" } ?? "\(host) port "
        let concernsProxy =
            message.contains(.proxyUnresolved) || message.contains(CurlMessage.failedToConnect.rawValue + address)
            || message.contains(.answeredByProxy) || message.contains(.tunnelFailed)
        return concernsProxy ? "the proxy that \(variable) names failed: \(message)" : message
    }

    /// Describes a 407 response.
    var refusal: String {
        "the proxy that \(variable) names requires another user name and password"
    }
}
