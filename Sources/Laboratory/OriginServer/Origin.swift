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

/// An origin's default behaviour. Query parameters override most of it for one request; see `HelpPage`.
package struct OriginOptions: Sendable {
    /// The port to listen on; 0 chooses a free one.
    package var port = 0
    /// The delay before each response.
    package var delay: Duration = .zero
    /// The bandwidth that all response bodies share, in bytes per second; nil is unlimited.
    package var totalBytesPerSecond: Int?
    /// A request gets 429 if more than this many are in flight, itself included; nil is unlimited.
    package var maximumInFlight: Int?
    /// Only every Nth request fails with `fault` or `status`; nil makes every request fail.
    package var faultEvery: Int?
    /// How requests fail. It takes precedence over `status`.
    package var fault: OriginFault?
    /// The status of failing requests.
    package var status: Int?
    /// The `Cache-Control` field of covers; empty omits it.
    package var cacheControl = "public, max-age=86400"
    /// The length of covers whose URL states none, in bytes; nil is 8 to 250 KB, which depends on the cover.
    package var size: Int?
    /// Counts requests by path, for `Origin.requestCount(path:)`. Every requested path stays in memory.
    package var countPaths = false

    package init() {}

    /// Sets `status` or `fault` from the argument of `--fault`.
    ///
    /// - Parameter name: a status code or a fault's name.
    /// - Throws: `OriginError.invalidValue`.
    package mutating func setFault(_ name: String) throws(OriginError) {
        if let fault = OriginFault(rawValue: name) {
            self.fault = fault
        } else if let code = Int(name), (200...599).contains(code) {
            status = code
        } else {
            throw .invalidValue(
                name: "fault", value: name, expected: "a status code or one of \(OriginFault.names)")
        }
    }
}

/// A faulty way to answer a request. Error statuses are not among them; see `OriginOptions.status`.
package enum OriginFault: String, CaseIterable, Sendable {
    /// Sends the correct `Content-Length` and half of the body, then closes the connection.
    case truncate
    /// Sends a `Content-Length` that is 1,000 bytes too large and the whole body, then closes the connection.
    case wrongLength = "wrong-length"
    /// Sends a `Content-Length` of half of the body and the whole body, then closes the connection.
    case excess
    /// Resets the connection (RST) before the response.
    case reset
    /// Closes the connection (FIN) before the response.
    case close
    /// Sends 200 and an HTML page, as a captive portal does.
    case html
    /// Sends 200 and a JSON error.
    case json
    /// Sends 200 and a JSON error about an exceeded rate limit.
    case quota
    /// Sends 200 and an empty body.
    case empty
    /// Sends a cover and then filler bytes without end, without `Content-Length`.
    case endless
    /// Redirects to the same URL.
    case loop
    /// Sends nothing. The connection stays open until the client closes it or the origin stops.
    case never

    /// The names of all faults, for messages.
    package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// An error of an origin's start or of its options.
package enum OriginError: Error, CustomStringConvertible, Sendable {
    /// The origin cannot listen on the port; `cause` is the system's error message.
    case cannotListen(port: Int, cause: String)
    /// An option or a query parameter has an invalid value.
    case invalidValue(name: String, value: String, expected: String)

    package var description: String {
        switch self {
        case .cannotListen(let port, let cause): "cannot listen on \(Origin.host):\(port): \(cause)"
        case .invalidValue(let name, let value, let expected): "\(name)=\(value): expected \(expected)"
        }
    }
}
