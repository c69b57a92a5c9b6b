import WebServer

/// Where a gallery listens and which requests it answers.
package struct GalleryOptions: Sendable {
    /// The address or host name to listen on.
    package var host = "127.0.0.1"
    /// 0 chooses a free port.
    package var port = 8_730
    /// The secret that browsers and programs must send (`GalleryToken.isValid`). Nil only if `isLoopback`: every program and user of this machine
    /// may then use the gallery.
    package var token: String?
    /// Host names by which browsers may address the gallery, in addition to `localhost` and IP addresses.
    package var names: [String] = []
    /// The path below which the gallery answers, as a reverse proxy passes it on.
    package var base = BasePath.root
    /// Whether `cover?url=` may connect to addresses that are not on the open Internet.
    package var allowsPrivateAddresses = false
    /// A browser that stops reading a response, or stops sending a request's body, is disconnected after this. Above 0.
    package var clientTimeout: Duration = .seconds(30)

    package init() {}

    /// Whether only this machine can connect.
    package var isLoopback: Bool { AllowedHosts.isLoopback(host) }
}

/// The reason why a gallery cannot be opened.
package enum GalleryError: Error, Sendable, CustomStringConvertible {
    case cannotListen(host: String, port: Int, cause: String)
    case needsToken(host: String)

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause): "cannot listen on \(host):\(port): \(cause)"
        case .needsToken(let host): "the gallery at \(host) needs a token of at least 16 letters, digits, - and _"
        }
    }
}
