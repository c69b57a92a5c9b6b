import ServerChannels

/// Where a mirror listens and by which names it is called.
package struct MirrorOptions: Sendable {
    /// An address or name of this machine.
    package var host = "127.0.0.1"
    /// 0 takes a free one.
    package var port = 8_732
    /// Names, besides addresses and `localhost`, by which programs may call it. One is needed where others than this machine
    /// can connect: a mirror asks for no password, so that must be meant.
    package var names: [String] = []

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
            "others can connect to \(host), and a mirror asks for no password; if that is meant, say by which name they "
                + "call it: --name NAME"
        }
    }
}
