import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import NIOPosix
import Platform

/// A running origin of HTTP, or of HTTPS with HTTP/2. It serves covers, latency and faults on demand; see `HelpPage`.
///
/// Stop it with `stop()`. An origin that is released without it closes its sockets at an unspecified time.
package final class Origin: Sendable {
    /// The port it listens on.
    package let port: Int
    /// The root URL without a trailing slash, such as "http://127.0.0.1:8731".
    package let url: String
    /// The certificate that clients must trust, in PEM; nil without TLS.
    package let certificate: String?

    private let context: OriginContext
    private let relay: LinkRelay?
    private let server: Task<Void, any Error>
    private static let eventLoops = MultiThreadedEventLoopGroup.singleton

    /// Starts an origin. It listens when this returns.
    ///
    /// - Throws: `OriginError.cannotListen`, for example if the port is in use, or `OriginError.cannotMakeCertificate`.
    package static func start(_ options: OriginOptions = .init()) async throws(OriginError) -> Origin {
        let context = OriginContext(options)
        let certificate: OriginCertificate?
        let tls: NIOSSLContext?
        do {
            certificate = try options.tls.map { _ in try OriginCertificate(host: options.host) }
            tls = try options.tls.flatMap { try certificate?.context($0) }
        } catch {
            throw .cannotMakeCertificate("\(error)")
        }
        var logger = Logger(label: "sleeve.origin")
        // Many faults make clients close their connections, which is not worth a message.
        logger.logLevel = .critical
        let (listeners, continuation) = AsyncStream.makeStream(of: (any Channel).self)
        let server = Server(
            childChannelSetup: OriginChannel(context, tls: tls),
            configuration: ServerConfiguration(
                address: .hostname(options.host, port: options.link == nil ? options.port : 0), backlog: 4096),
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
            let port = listener.localAddress?.port ?? options.port
            do throws(OriginError) {
                let relay = try await startRelay(context, before: port)
                return Origin(port: relay?.port ?? port, context, certificate?.pem, relay, task)
            } catch {
                context.connections.close()
                _ = await task.result
                throw error
            }
        }
        let cause: String
        switch await task.result {
        case .success: cause = "the server ended unexpectedly"
        case .failure(let error as IOError): cause = String(cString: strerror(error.errnoCode))
        case .failure(let error): cause = "\(error)"
        }
        throw OriginError.cannotListen(host: options.host, port: options.port, cause: cause)
    }

    /// Starts the link before the origin, if there is one.
    private static func startRelay(_ context: OriginContext, before port: Int) async throws(OriginError) -> LinkRelay? {
        let options = context.options
        guard let link = options.link else { return nil }
        return try await LinkRelay.start(
            link, host: options.host, port: options.port, before: options.host, port: port, context.linkMetrics)
    }

    private init(
        port: Int, _ context: OriginContext, _ certificate: String?, _ relay: LinkRelay?,
        _ server: Task<Void, any Error>
    ) {
        let host = context.options.host
        self.port = port
        url = "\(certificate == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        self.context = context
        self.certificate = certificate
        self.relay = relay
        self.server = server
    }

    deinit { context.connections.close() }

    /// Stops listening and closes every connection, even during a response. Returns when all of them are closed.
    package func stop() async {
        await relay?.stop()
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

    /// What the link before the origin has carried; nil without a link.
    package var linkMetrics: LinkMetrics? { relay?.metrics }
}
