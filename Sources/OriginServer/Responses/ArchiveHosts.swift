/// The hosts of the Cover Art Archive, as names under `localhost` on the origin's own port, so that an emulated link carries them all.
///
/// libcurl and browsers resolve every name under `localhost` to this machine themselves (RFC 6761 section 6.3).
package struct ArchiveHosts: Equatable {
    private let scheme: String
    /// The port with its colon; empty if the client's URL had none.
    private let port: Substring

    /// The name of all hosts in a certificate. It has three labels because clients accept no wildcard before only one.
    package static let wildcard = "*.hosts.localhost"
    /// The number of storage hosts.
    private static let storageHosts = 40

    /// - Parameter authority: The host and port of the request.
    init(isTLS: Bool, authority: String) {
        scheme = isTLS ? "https" : "http"
        let end = authority.lastIndex { $0 == ":" || $0 == "]" }
        port = end.map { authority[$0] == ":" ? authority[$0...] : "" } ?? ""
    }

    /// The root URL of the archive, to which the front host redirects.
    var archive: String { "\(scheme)://archive.hosts.localhost\(port)" }

    /// The root URL of the host that stores a cover.
    func storage(_ cover: Int) -> String {
        "\(scheme)://ia\(600_001 + cover % Self.storageHosts * 100).hosts.localhost\(port)"
    }
}
