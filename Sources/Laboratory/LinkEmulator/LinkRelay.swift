import Platform
import Synchronization

/// An emulated link before a server: it listens on a port and relays every connection to the server.
///
/// Bytes pass untouched, so that TLS and HTTP/2 are end to end. One thread carries all connections.
package final class LinkRelay: Sendable {
    package static let host = "127.0.0.1"
    /// The port it listens on.
    package let port: Int
    private let shared: SharedMetrics
    /// Runs until it is cancelled.
    private let loop: Task<Void, Never>

    /// Starts a relay. It listens when this returns.
    ///
    /// - Parameters:
    ///   - port: The port to listen on; 0 chooses a free one. Only programs on this machine can connect.
    ///   - server: The server's name or IP address, which is resolved once.
    /// - Throws: `LinkError.cannotListen`, or `LinkError.unknownHost` if `server` cannot be resolved.
    package static func start(
        _ model: LinkModel, on port: Int = 0, before server: String = host, port serverPort: Int
    ) async throws(LinkError) -> LinkRelay {
        guard let address = await WorkThread.run({ try? SocketAddress(server, port: serverPort) }) else {
            throw .unknownHost(server)
        }
        do throws(SocketAddress.Failure) {
            return try LinkRelay(model, on: SocketAddress(host, port: port), before: address)
        } catch {
            throw .cannotListen(port: port, cause: error.reason)
        }
    }

    private init(_ model: LinkModel, on own: SocketAddress, before server: SocketAddress) throws(SocketAddress.Failure)
    {
        let listener = try own.listener()
        var pipeEnds: [Int32] = [-1, -1]
        guard pipe(&pipeEnds) == 0 else {
            let error = SystemError("pipe")
            close(listener)
            throw SocketAddress.Failure(reason: error.reason)
        }
        for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (stopped, stopping) = (pipeEnds[0], pipeEnds[1])
        let shared = SharedMetrics()
        (port, self.shared) = (SocketAddress(localOf: listener)?.port ?? 0, shared)
        loop = Task {
            await withTaskCancellationHandler {
                await WorkThread.run { RelayLoop(model, listener, server, shared).run(until: stopped) }
            } onCancel: {
                close(stopping)
            }
        }
    }

    /// The traffic of the link so far.
    package var metrics: LinkMetrics { shared.current }

    /// Stops listening and closes every connection at both ends.
    package func stop() async {
        loop.cancel()
        await loop.value
    }
}

/// The metrics of a relay, which other threads read.
final class SharedMetrics: Sendable {
    private let metrics = Mutex(LinkMetrics())

    var current: LinkMetrics {
        get { metrics.withLock { $0 } }
        set { metrics.withLock { $0 = newValue } }
    }
}
