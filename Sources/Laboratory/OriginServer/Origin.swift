import Platform
import WebServer

/// A running origin on 127.0.0.1. It serves covers, latency and faults on demand; see `HelpPage`.
///
/// Stop it with `stop()`: an origin that is released without it listens until the process ends.
package final class Origin: Sendable {
    /// The port it listens on.
    package let port: Int
    /// The root URL without a trailing slash, such as "http://127.0.0.1:8731".
    package let url: String

    private let responder: OriginResponder
    private let server: Server
    static let host = "127.0.0.1"

    /// Starts an origin. It listens when this returns.
    ///
    /// - Throws: `OriginError.cannotListen`, for example if the port is in use.
    package static func start(_ options: OriginOptions = .init()) async throws(OriginError) -> Origin {
        let responder = OriginResponder(options)
        do throws(SocketAddress.Failure) {
            // Clients under test may do nothing for a long time.
            let timeouts = ConnectionTimeouts(idle: .seconds(86_400), stall: .seconds(86_400))
            return Origin(
                try Server(
                    host: host, port: options.port, hosts: AllowedHosts(listening: host), timeouts: timeouts,
                    connections: DescriptorLimit.current ?? 1_024, responder), responder)
        } catch {
            throw .cannotListen(port: options.port, cause: error.reason)
        }
    }

    private init(_ server: Server, _ responder: OriginResponder) {
        (self.server, self.responder) = (server, responder)
        port = server.port
        url = "http://\(Self.host):\(port)"
    }

    /// Stops listening and closes every connection, even during a response. Returns when all of them are closed.
    package func stop() async {
        release()
        await server.close()
    }

    /// Sends the responses to requests with `hold=1`, now and from now on.
    package func release() { responder.gate.open() }

    /// The URL of a generated cover.
    package func coverURL(_ number: Int) -> String { "\(url)/covers/\(number).jpg" }

    /// The number of requests so far, including those in flight.
    package var requestCount: Int { responder.metrics.requests.value }

    /// The number of requests so far for a path without query. It is 0 unless `OriginOptions.countPaths` is set.
    package func requestCount(path: String) -> Int { responder.metrics.paths?.count(path) ?? 0 }

    /// The number of connections accepted so far.
    package var connectionCount: Int { responder.metrics.connections.value }

    /// The number of open connections.
    package var openConnectionCount: Int { server.openConnections }

    /// The maximum number of requests that were in flight at the same time.
    package var peakInFlight: Int { responder.metrics.peakInFlight }
}
