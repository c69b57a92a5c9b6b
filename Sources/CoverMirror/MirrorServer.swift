import CoverLibrary
import HummingbirdCore
import NIOCore
import NIOPosix
import ServerChannels

/// The HTTP/1.1 front of a mirror.
package final class MirrorServer: Sendable {
    /// Its root: `http://127.0.0.1:8732/`.
    package let url: String
    /// The port it listens on.
    package let port: Int
    private let handler: MirrorHandler
    private let server: ListeningServer

    /// Opens it. It is listening when this returns.
    /// - Parameter maximumBodySize: of a request, in bytes.
    /// - Throws: `MirrorError`.
    package static func open(_ mirror: Mirror, _ options: MirrorOptions, maximumBodySize: Int) async throws
        -> MirrorServer
    {
        guard options.isLoopback || !options.names.isEmpty else { throw MirrorError.needsName(host: options.host) }
        let hosts = AllowedHosts(listening: options.host, names: options.names)
        let timeouts = ConnectionTimeouts(stall: options.clientTimeout)
        let handler = MirrorHandler(
            mirror: mirror, hosts: hosts, maximumBodySize: maximumBodySize,
            requestBytes: ByteBudget(
                limit: max(maximumBodySize, options.maximumRequestBytes), timeout: options.clientTimeout))
        do {
            let server = try await ListeningServer.start(label: "sleeve.mirror") { didListen, logger in
                try await Server(
                    childChannelSetup: LazyHTTP1Channel(
                        HTTP1Channel(
                            responder: { request, writer, channel in
                                try await handler.respond(to: request, on: channel, with: writer)
                            }),
                        clients: ClientRules(hosts: hosts, timeouts: timeouts)),
                    configuration: ServerConfiguration(
                        address: .hostname(options.host, port: options.port), backlog: 1_024,
                        availableConnectionsDelegate: .maximum(ConnectionLimit.connections, logger: logger)),
                    onServerRunning: didListen,
                    eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                    logger: logger
                ).run()
            }
            return MirrorServer(options, handler: handler, server: server)
        } catch {
            throw MirrorError.cannotListen(host: options.host, port: options.port, cause: error.reason)
        }
    }

    private init(_ options: MirrorOptions, handler: MirrorHandler, server: ListeningServer) {
        self.handler = handler
        self.server = server
        url = server.url(host: options.names.first ?? options.host)
        port = server.port
    }

    /// Stops listening, and waits until the requests in flight are answered, at most `timeout`. Then cancels those that remain.
    package func close(within timeout: Duration = .seconds(5)) async {
        try? await server.channel.close()
        await handler.requests.stop(within: timeout)
        server.task.cancel()
    }

    /// The bytes of request bodies that are held now.
    var requestBytes: Int { handler.requestBytes.used }
}
