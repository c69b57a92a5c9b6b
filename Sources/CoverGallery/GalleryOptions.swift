/// Where a gallery listens and whom it answers.
package struct GalleryOptions: Sendable {
    /// An address or name of this machine.
    package var host = "127.0.0.1"
    /// 0 takes a free one.
    package var port = 8_730
    /// What a browser must show; needed wherever others than this machine can connect.
    package var token: String?
    /// Names, besides addresses and `localhost`, that browsers may call this server by.
    package var names: [String] = []

    package init() {}

    /// Whether only this machine can connect.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}

/// Why a gallery cannot be opened.
package enum GalleryError: Error, Sendable, CustomStringConvertible {
    case cannotListen(host: String, port: Int, cause: String)
    case needsToken(host: String)

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause): "cannot listen on \(host):\(port): \(cause)"
        case .needsToken(let host):
            "others can connect to \(host), so the gallery needs a token of at least 16 characters"
        }
    }
}
