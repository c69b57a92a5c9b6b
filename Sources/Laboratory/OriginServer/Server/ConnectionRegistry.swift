import NIOCore
import Synchronization

/// The open connections of an origin, so that it can close them.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.connections.count } }

    /// Adds a connection until it closes. It is closed immediately if the origin has stopped.
    func add(_ channel: any Channel) {
        let isClosed = state.withLock {
            $0.connections[ObjectIdentifier(channel)] = channel
            return $0.isClosed
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
        }
        if isClosed { channel.close(promise: nil) }
    }

    /// Closes all connections, and those that are added later. Returns what completes when they are closed.
    @discardableResult
    func close() -> [EventLoopFuture<Void>] {
        let connections = state.withLock { state in
            state.isClosed = true
            return Array(state.connections.values)
        }
        for connection in connections { connection.close(promise: nil) }
        return connections.map(\.closeFuture)
    }
}
