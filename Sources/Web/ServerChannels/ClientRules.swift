import NIOCore
import NIOHTTP1

/// The rules for the clients that connect to a server.
package struct ClientRules: Sendable {
    private let hosts: AllowedHosts
    private let timeouts: ConnectionTimeouts

    package init(hosts: AllowedHosts, timeouts: ConnectionTimeouts) {
        self.hosts = hosts
        self.timeouts = timeouts
    }

    /// The limit of a socket's send buffer, in bytes. With its default of some mebibytes, a client that
    /// takes 40 KB a second would seem to take nothing for a minute.
    private static let maximumUnsent = 64 << 10
    #if os(Linux)
        private static let unsentOption = NIOBSDSocket.Option(rawValue: 25)  // TCP_NOTSENT_LOWAT
    #else
        private static let unsentOption = NIOBSDSocket.Option(rawValue: 0x201)  // TCP_NOTSENT_LOWAT
    #endif

    /// Adds the handlers to the pipeline of an HTTP/1.1 server, on the channel's event loop.
    func install(on channel: any Channel) throws {
        // A system without the option takes slow clients for stalled ones.
        _ = try? channel.syncOptions?.setOption(
            .tcpOption(Self.unsentOption), value: SocketOptionValue(Self.maximumUnsent))
        let pipeline = channel.pipeline.syncOperations
        let rules = HTTP1RulesHandler(rules: RequestRules(hosts: hosts))
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(rules, position: .after(decoder))
        try pipeline.addHandler(ProgressHandler(timeouts, rules: rules), position: .first)
    }
}
