import NIOCore
import NIOPosix
import Platform
import Synchronization

/// An emulated link before a server: it listens on a port and relays every connection to the server.
///
/// Bytes pass untouched, so that TLS and HTTP/2 are end to end. One thread carries all connections.
package final class LinkRelay: Sendable {
    package static let host = "127.0.0.1"
    /// The port it listens on.
    package let port: Int
    private let listener: any Channel
    private let group: MultiThreadedEventLoopGroup
    private let loop: NIOLoopBound<RelayLoop>
    private let shared: SharedMetrics

    /// Starts a relay. It listens when this returns.
    ///
    /// - Parameters:
    ///   - port: The port to listen on; 0 chooses a free one. Only programs on this machine can connect.
    ///   - server: The server's name or IP address, which is resolved once.
    /// - Throws: `LinkError.cannotListen`, or `LinkError.unknownHost` if `server` cannot be resolved.
    package static func start(
        _ model: LinkModel, on port: Int = 0, before server: String = host, port serverPort: Int
    ) async throws(LinkError) -> LinkRelay {
        let shared = SharedMetrics()
        let address: SocketAddress
        do {
            address = try SocketAddress.makeAddressResolvingHost(server, port: serverPort)
        } catch {
            throw .unknownHost(server)
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let eventLoop = group.next()
            let loop = try await eventLoop.submit {
                NIOLoopBound(RelayLoop(model, server: address, shared, on: eventLoop), eventLoop: eventLoop)
            }.get()
            let listener = try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 4096)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try loop.value.accept(channel) }
                }
                .bind(host: Self.host, port: port).get()
            return LinkRelay(listener, group, loop, shared)
        } catch {
            try? await group.shutdownGracefully()
            let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw .cannotListen(port: port, cause: cause)
        }
    }

    private init(
        _ listener: any Channel, _ group: MultiThreadedEventLoopGroup, _ loop: NIOLoopBound<RelayLoop>,
        _ shared: SharedMetrics
    ) {
        port = listener.localAddress?.port ?? 0
        (self.listener, self.group, self.loop, self.shared) = (listener, group, loop, shared)
    }

    /// The traffic of the link so far.
    package var metrics: LinkMetrics { shared.current }

    /// Stops listening and closes every connection at both ends.
    package func stop() async {
        try? await listener.close().get()
        try? await listener.eventLoop.submit { [loop] in loop.value.stop() }.get()
        try? await group.shutdownGracefully()
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
