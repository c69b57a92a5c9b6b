import HummingbirdCore
import Logging
import NIOCore
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
    private let server: Task<Void, any Error>
    static let host = "127.0.0.1"
    private static let eventLoops = MultiThreadedEventLoopGroup.singleton

    /// Starts an origin. It listens when this returns.
    ///
    /// - Throws: `OriginError.cannotListen`, for example if the port is in use.
    package static func start(_ options: OriginOptions = .init()) async throws(OriginError) -> Origin {
        let context = OriginContext(options)
        var logger = Logger(label: "sleeve.origin")
        // Many faults make clients close their connections, which is not worth a message.
        logger.logLevel = .critical
        let (listeners, continuation) = AsyncStream.makeStream(of: (any Channel).self)
        let server = Server(
            childChannelSetup: OriginChannel(context),
            configuration: ServerConfiguration(address: .hostname(Self.host, port: options.port), backlog: 4096),
            onServerRunning: { channel in continuation.yield(channel) },
            eventLoopGroup: eventLoops,
            logger: logger)
        // The server runs on an event loop, so that a test that blocks Swift's cooperative threads does not stop it.
        let task = Task(executorPreference: EventLoopTaskExecutor(eventLoops.next())) {
            defer { continuation.finish() }
            try await server.run()
        }
        for await listener in listeners {
            context.connections.setListener(listener)
            return Origin(port: listener.localAddress?.port ?? options.port, context, task)
        }
        let cause: String
        switch await task.result {
        case .success: cause = "the server ended unexpectedly"
        case .failure(let error as IOError): cause = String(cString: strerror(error.errnoCode))
        case .failure(let error): cause = "\(error)"
        }
        throw .cannotListen(port: options.port, cause: cause)
    }

    private init(port: Int, _ context: OriginContext, _ server: Task<Void, any Error>) {
        (self.port, self.context, self.server) = (port, context, server)
        url = "\(context.options.transport == nil ? "http" : "https")://\(Self.host):\(port)"
    }

    deinit { context.connections.close() }

    /// Stops listening and closes every connection, even during a response. Returns when all of them are closed.
    package func stop() async {
        // No task is cancelled: each of them waits for a channel and ends when the channel closes.
        try? await context.connections.close()?.get()
        // A connection that was just accepted may not be registered yet. Its event loop does that before this closure.
        for eventLoop in Self.eventLoops.makeIterator() { try? await eventLoop.submit {}.get() }
        await context.connections.waitUntilEmpty()
        _ = await server.result
    }

    /// Sends the responses to requests with `hold=1`, now and from now on.
    package func release() { context.gate.open() }

    /// The edits posted to this origin's remote library, in order, such as "add Low Tide".
    package var postedEdits: [String] { context.remote.edits }

    /// The URL of a generated cover.
    package func coverURL(_ number: Int) -> String { "\(url)/covers/\(number).jpg" }

    /// The number of requests so far, including those in flight.
    package var requestCount: Int { context.metrics.requests.value }

    /// The number of requests so far for a path without query. It is 0 unless `OriginOptions.countPaths` is set.
    package func requestCount(path: String) -> Int { context.metrics.paths?.count(path) ?? 0 }

    /// The number of responses with status 206.
    package var partialResponseCount: Int { context.metrics.partialResponses.value }

    /// The number of connections accepted so far.
    package var connectionCount: Int { context.metrics.connections.value }

    /// The number of open connections.
    package var openConnectionCount: Int { context.connections.count }

    /// The maximum number of requests that were in flight at the same time.
    package var peakInFlight: Int { context.metrics.peakInFlight }
}
