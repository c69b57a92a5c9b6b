import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A running HTTP/1.1 origin on loopback. It serves covers, latency and faults on demand; see `HelpPage`.
///
/// Stop it with `stop()`; one that is merely dropped closes its sockets too, but nobody knows when.
package final class Origin: Sendable {
    /// The port it listens on.
    package let port: Int
    /// Its root without a slash at the end: "http://127.0.0.1:PORT".
    package let url: String

    private let ledger: Ledger
    private let group: any EventLoopGroup
    private let running: Task<Void, any Error>

    /// Starts an origin. It is listening when this returns.
    ///
    /// - Throws: `OriginError.cannotListen`, for example when the port is taken.
    package static func start(_ options: OriginOptions = .init()) async throws -> Origin {
        let ledger = Ledger(options)
        let group = MultiThreadedEventLoopGroup.singleton
        var logger = Logger(label: "sleeve.origin")
        // A client that goes away is no event here: half of what the origin is for makes clients go away.
        logger.logLevel = .critical
        let (listening, announce) = AsyncStream.makeStream(of: (any Channel).self)
        let server = Server(
            childChannelSetup: OriginChannel(options: options, ledger: ledger),
            configuration: ServerConfiguration(
                address: .hostname(options.host, port: options.port), backlog: 4096),
            onServerRunning: { channel in announce.yield(channel) },
            eventLoopGroup: group,
            logger: logger)
        // On an event loop, so that a caller that blocks Swift's own threads (a test with plain sockets) blocks no answer.
        let running = Task(executorPreference: LoopExecutor(group.next())) {
            defer { announce.finish() }
            try await server.run()
        }
        for await channel in listening {
            ledger.listen(channel)
            let port = channel.localAddress?.port ?? options.port
            return Origin(host: options.host, port: port, ledger: ledger, group: group, running: running)
        }
        do {
            try await running.value
            throw OriginError.cannotListen(host: options.host, port: options.port, cause: "the server ended at once")
        } catch let error as OriginError {
            throw error
        } catch {
            throw OriginError.cannotListen(host: options.host, port: options.port, cause: Self.reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String {
        (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    }

    private init(
        host: String, port: Int, ledger: Ledger, group: any EventLoopGroup, running: Task<Void, any Error>
    ) {
        self.port = port
        url = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        self.ledger = ledger
        self.group = group
        self.running = running
    }

    deinit { ledger.close() }

    /// Stops listening and closes every connection, whatever it waits for. Returns when all of them are closed.
    package func stop() async {
        // Nothing is cancelled: every task here waits on a channel, and ends when that closes.
        try? await ledger.close()?.get()
        // A connection accepted just before may still be on its way to the ledger; its event loop does things in order.
        for loop in group.makeIterator() { try? await loop.submit {}.get() }
        await ledger.untilEmpty()
        _ = await running.result
    }

    /// Lets go the answers to requests with `hold=1`, now and from now on.
    package func release() { ledger.gate.succeed() }

    /// Edits that were posted to this origin's library, in order: `add Low Tide`, `delete Low Tide`.
    package var postedEdits: [String] { ledger.albums.messages }

    /// The URL of a generated cover.
    package func coverURL(_ number: Int) -> String { "\(url)/covers/\(number).jpg" }

    /// Requests so far, also those in flight.
    package var requestCount: Int { ledger.requests.load(ordering: .relaxed) }

    /// Requests so far for a path (no query). Always 0 unless `OriginOptions.countPaths` is set.
    package func requestCount(path: String) -> Int { ledger.requestCount(path: path) }

    /// Requests so far that were answered 429 because of `OriginOptions.mostInFlight`.
    package var overruns: Int { ledger.overruns.load(ordering: .relaxed) }

    /// Requests so far that were answered with a part of a body.
    package var parts: Int { ledger.parts.load(ordering: .relaxed) }

    /// Connections accepted so far.
    package var connectionCount: Int { ledger.connections.load(ordering: .relaxed) }

    /// Connections that are open now.
    package var openConnectionCount: Int { ledger.openConnectionCount }

    /// The most requests that were in flight at one moment.
    package var peakInFlight: Int { ledger.peakInFlight.load(ordering: .relaxed) }
}
