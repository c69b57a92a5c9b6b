import NIOCore
import Platform
import Synchronization

/// The listening socket and the open connections of an origin, so that it can close them.
final class ConnectionRegistry: Sendable {
    private struct State {
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: Connection] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.connections.count } }

    func setListener(_ channel: any Channel) { state.withLock { $0.listener = channel } }

    /// Adds a connection. It is closed at once if the origin has stopped.
    func add(_ connection: Connection) {
        let isClosed = state.withLock {
            $0.connections[ObjectIdentifier(connection.channel)] = connection
            return $0.isClosed
        }
        if isClosed { connection.close() }
    }

    func remove(_ connection: Connection) {
        state.withLock { $0.connections[ObjectIdentifier(connection.channel)] = nil }
    }

    /// Stops listening and closes all connections. The result completes when the listener is closed; it is nil if the
    /// listener was closed before.
    @discardableResult
    func close() -> EventLoopFuture<Void>? {
        let listener = state.withLock { state in
            state.isClosed = true
            return state.listener.take()
        }
        for connection in connections { connection.close() }
        guard let listener else { return nil }
        return listener.eventLoop.flatSubmit {
            // A child process that has not executed its program yet has a copy of the socket, which would listen on.
            try? listener.pipeline.syncOperations.withUnsafeTransportIfAvailable { (socket: NIOBSDSocket.Handle) in
                _ = shutdown(socket, Int32(SHUT_RD))
            }
            return listener.close()
        }
    }

    /// Waits until every connection is closed. Call it when no new connection can arrive.
    func waitUntilEmpty() async {
        for connection in connections {
            connection.close()
            try? await connection.channel.closeFuture.get()
        }
    }

    private var connections: [Connection] { state.withLock { Array($0.connections.values) } }
}
