import ServerChannels

/// The address that a mirror listens on, and the names that clients may use for it.
package struct MirrorOptions: Sendable {
    /// An address or name of this machine.
    package var host = "127.0.0.1"
    /// 0 for any free port.
    package var port = 8_732
    /// Host names that requests may use, in addition to addresses and `localhost`. At least one is required if other machines can
    /// connect: a mirror asks for no password, so exposing it must be a decision.
    package var names: [String] = []
    /// A client that stops reading a response, or stops sending a request's body, is disconnected after this. Above 0.
    package var clientTimeout: Duration = .seconds(30)

    /// The limit of the bodies of all requests together, in bytes, unless one alone may be longer.
    package var maximumRequestBytes = 128 << 20

    package init() {}

    /// Whether only this machine can connect.
    package var isLoopback: Bool { ListeningServer.isLoopback(host) }
}

/// Why a mirror cannot be opened.
package enum MirrorError: Error, Sendable, CustomStringConvertible {
    case cannotListen(host: String, port: Int, cause: String)
    case needsName(host: String)

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause): "cannot listen on \(host):\(port): \(cause)"
        case .needsName(let host):
            "other machines can connect to \(host), and a mirror asks for no password; to allow it, give the name that they "
                + "use: --name NAME"
        }
    }
}
