import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix
import Platform

/// A running origin on 127.0.0.1. It serves covers, latency and faults on demand; see `HelpPage`.
///
/// Stop it with `stop()`. An origin that is released without it closes its sockets at an unspecified time.
package final class Origin: Sendable {
    /// The port it listens on.
    package let port: Int
    /// The root URL without a trailing slash, such as "http://127.0.0.1:8731".
    package let url: String

    private let context: OriginContext
    private let listener: any Channel
    static let host = "127.0.0.1"
    private static let eventLoops = MultiThreadedEventLoopGroup.singleton

    /// Starts an origin. It listens when this returns.
    ///
    /// - Throws: `OriginError.cannotListen`, for example if the port is in use.
    package static func start(_ options: OriginOptions = .init()) async throws(OriginError) -> Origin {
        let context = OriginContext(options)
        do {
            let listener = try await ServerBootstrap(group: eventLoops)
                .serverChannelOption(.backlog, value: 4096)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try accept(channel, context) }
                }
                .bind(host: host, port: options.port).get()
            return Origin(listener, context)
        } catch {
            let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw .cannotListen(port: options.port, cause: cause)
        }
    }

    /// Adds a connection's handlers.
    private static func accept(_ channel: any Channel, _ context: OriginContext) throws {
        context.metrics.connections.add(1)
        context.connections.add(channel)
        let handlers = channel.pipeline.syncOperations
        try handlers.configureHTTPServerPipeline(withOutboundHeaderValidation: false)
        try handlers.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try handlers.addHandler(RequestHandler(context))
    }

    private init(_ listener: any Channel, _ context: OriginContext) {
        (self.listener, self.context) = (listener, context)
        port = listener.localAddress?.port ?? context.options.port
        url = "http://\(Self.host):\(port)"
    }

    deinit {
        listener.close(promise: nil)
        context.connections.close()
    }

    /// Stops listening and closes every connection, even during a response. Returns when all of them are closed.
    package func stop() async {
        try? await listener.eventLoop.flatSubmit { [listener] in
            // A child process that has not executed its program yet has a copy of the socket, which would listen on.
            try? listener.pipeline.syncOperations.withUnsafeTransportIfAvailable { (socket: NIOBSDSocket.Handle) in
                _ = shutdown(socket, Int32(SHUT_RD))
            }
            return listener.close()
        }.get()
        // A connection that was just accepted may not be registered yet. Its event loop does that before this closure.
        for eventLoop in Self.eventLoops.makeIterator() { try? await eventLoop.submit {}.get() }
        for closure in context.connections.close() { try? await closure.get() }
    }

    /// Sends the responses to requests with `hold=1`, now and from now on.
    package func release() { context.gate.open() }

    /// The URL of a generated cover.
    package func coverURL(_ number: Int) -> String { "\(url)/covers/\(number).jpg" }

    /// The number of requests so far, including those in flight.
    package var requestCount: Int { context.metrics.requests.value }

    /// The number of requests so far for a path without query. It is 0 unless `OriginOptions.countPaths` is set.
    package func requestCount(path: String) -> Int { context.metrics.paths?.count(path) ?? 0 }

    /// The number of connections accepted so far.
    package var connectionCount: Int { context.metrics.connections.value }

    /// The number of open connections.
    package var openConnectionCount: Int { context.connections.count }

    /// The maximum number of requests that were in flight at the same time.
    package var peakInFlight: Int { context.metrics.peakInFlight }
}
