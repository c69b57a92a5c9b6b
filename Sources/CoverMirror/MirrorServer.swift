package import CoverLibrary
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServerChannels

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The HTTP/1.1 front of a mirror.
package final class MirrorServer: Sendable {
    /// Its root: `http://127.0.0.1:8732/`.
    package let url: String
    /// The port it listens on.
    package let port: Int
    private let handler: MirrorHandler
    private let listener: any Channel
    private let running: Task<Void, any Error>

    /// Opens it. It is listening when this returns.
    /// - Parameter maximumBodySize: of a request, in bytes.
    /// - Throws: `MirrorError`.
    package static func open(_ mirror: Mirror, _ options: MirrorOptions, maximumBodySize: Int) async throws
        -> MirrorServer
    {
        guard options.isLoopback || !options.names.isEmpty else { throw MirrorError.needsName(host: options.host) }
        let handler = MirrorHandler(mirror: mirror, options: options, maximumBodySize: maximumBodySize)
        // What a person may want to know is told by the mirror itself.
        var logger = Logger(label: "sleeve.mirror")
        logger.logLevel = .critical
        let (listening, announce) = AsyncStream.makeStream(of: (any Channel).self)
        let server = Server(
            childChannelSetup: PatientChannel(
                HTTP1Channel(
                    responder: { request, writer, channel in
                        try await handler.respond(to: request, on: channel, with: writer)
                    },
                    // A head that never ends must not keep its connection.
                    configuration: .init(idleTimeout: .seconds(60)))),
            configuration: ServerConfiguration(
                address: .hostname(options.host, port: options.port), backlog: 1_024,
                availableConnectionsDelegate: .maximum(2_048, logger: logger)),
            onServerRunning: { announce.yield($0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger)
        let running = Task {
            defer { announce.finish() }
            try await server.run()
        }
        for await channel in listening {
            return MirrorServer(
                options, port: channel.localAddress?.port ?? options.port, handler: handler, listener: channel,
                running: running)
        }
        let cause: String
        do {
            try await running.value
            cause = "the server ended at once"
        } catch {
            cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        }
        throw MirrorError.cannotListen(host: options.host, port: options.port, cause: cause)
    }

    private init(
        _ options: MirrorOptions, port: Int, handler: MirrorHandler, listener: any Channel,
        running: Task<Void, any Error>
    ) {
        self.handler = handler
        let name = options.names.first ?? options.host
        url = "http://\(name.contains(":") ? "[\(name)]" : name):\(port)/"
        self.port = port
        self.listener = listener
        self.running = running
    }

    /// Stops listening, and waits until the requests in flight are answered, at most `timeout`. Then cancels those that remain.
    package func close(within timeout: Duration = .seconds(5)) async {
        try? await listener.close()
        await handler.requests.stop(within: timeout)
        running.cancel()
    }
}
