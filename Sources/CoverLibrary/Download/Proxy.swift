import CurlHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The proxy that libcurl takes from the environment for a URL, to tell its failures from the server's. Its user name and
/// password are left out.
struct Proxy: Sendable, Hashable {
    /// Of the environment.
    var variable: String
    var host: String
    /// Nil: the usual one.
    var port: Int?

    /// Nil: there is none, `no_proxy` aside.
    /// - Parameter environment: gives a variable's value.
    init?(for url: String, environment: (String) -> String? = Self.environment) {
        // Not HTTP_PROXY, which a CGI program's client could set.
        let own = url.hasPrefix("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let set = (own + ["all_proxy", "ALL_PROXY"]).compactMap { name in environment(name).map { (name, $0) } }
        guard let (name, value) = set.first(where: { !$0.1.isEmpty }) else { return nil }
        var place = value[...]
        if let start = place.firstRange(of: "://")?.upperBound { place = place[start...] }
        place = place.prefix { $0 != "/" }
        if let at = place.lastIndex(of: "@") { place = place[place.index(after: at)...] }
        variable = name
        if place.first == "[" {
            host = String(place.dropFirst().prefix { $0 != "]" })
            port = place.firstRange(of: "]:").flatMap { Int(place[$0.upperBound...]) }
        } else {
            host = String(place.prefix { $0 != ":" })
            port = place.firstIndex(of: ":").flatMap { Int(place[place.index(after: $0)...]) }
        }
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// What libcurl says of a failed transfer, and that it was the proxy's failure, where it was.
    func told(_ detail: String) -> String {
        let reached = port.map { "\(host) port \($0)" } ?? "\(host) port "
        let isProxys =
            detail.contains("resolve proxy") || detail.contains("Failed to connect to \(reached)")
            || detail.contains("from proxy") || detail.contains("CONNECT tunnel failed")
        return isProxys ? "the proxy that \(variable) names failed: \(detail)" : detail
    }

    /// Of a 407.
    var refusal: String {
        "the proxy that \(variable) names takes no requests without another user name and password"
    }
}
