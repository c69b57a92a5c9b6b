package import Logging

package import NIOCore
import Platform

/// A server that accepts connections.
package struct ListeningServer: Sendable {
    /// The listening socket; closing it stops accepting.
    package let channel: any Channel
    /// Ends when the server has stopped; cancelling it stops the server.
    package let task: Task<Void, any Error>

    /// The port it listens on.
    package var port: Int { channel.localAddress?.port ?? 0 }

    /// Runs a Hummingbird server and returns when it listens.
    /// - Parameters:
    ///   - label: The label of the server's logger. It logs only critical messages, as Hummingbird logs every request.
    ///   - run: Runs the server until it stops. Its arguments are the server's `onServerRunning` and its logger.
    package static func start(
        label: String,
        _ run: @escaping @Sendable (@escaping @Sendable (any Channel) async -> Void, Logger) async throws -> Void
    ) async throws(ListenError) -> ListeningServer {
        let (channels, continuation) = AsyncStream.makeStream(of: (any Channel).self)
        let task = Task {
            defer { continuation.finish() }
            var logger = Logger(label: label)
            logger.logLevel = .critical
            try await run({ continuation.yield($0) }, logger)
        }
        for await channel in channels { return ListeningServer(channel: channel, task: task) }
        switch await task.result {
        case .success: throw ListenError(reason: "the server ended immediately")
        case .failure(let error as IOError): throw ListenError(reason: String(cString: strerror(error.errnoCode)))
        case .failure(let error): throw ListenError(reason: "\(error)")
        }
    }

    /// The server's root by one of its names or addresses: `http://127.0.0.1:8730/`.
    package func url(host: String) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    }

    /// Whether only this machine can connect to a server that listens on `host`, an address or a name.
    package static func isLoopback(_ host: String) -> Bool {
        // A name may begin with 127, too.
        let address = try? SocketAddress(ipAddress: host, port: 0)
        return host == "localhost" || host == "::1" || address?.protocol == .inet && host.hasPrefix("127.")
    }
}

/// The reason why a server cannot listen.
package struct ListenError: Error, Sendable {
    package let reason: String
}
