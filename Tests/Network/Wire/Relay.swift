import Foundation
import Synchronization

/// Forwards connections on loopback to a port, until it is told to lose a path: the open connections then stay open and carry
/// nothing.
package final class Relay: Sendable {
    private struct State {
        var connections = 0
        /// Connections with a lower number are lost.
        var lost = 0
    }

    private let acceptor: Acceptor
    private let state = Mutex(State())

    package var port: Int { acceptor.port }
    /// The number of connections so far.
    package var connectionCount: Int { state.withLock { $0.connections } }

    package init(to target: Int) throws {
        acceptor = try Acceptor()
        acceptor.start { [self] client, number in
            state.withLock { $0.connections = number + 1 }
            let server = Loopback.makeSocket()
            guard Loopback.connect(server, to: target) else {
                close(client)
                close(server)
                return
            }
            Thread.detachNewThread { self.forward(from: client, to: server, number) }
            Thread.detachNewThread { self.forward(from: server, to: client, number) }
        }
    }

    /// Loses the path of the connections that are open.
    package func losePath() { state.withLock { $0.lost = $0.connections } }

    /// Accepts no more.
    package func stop() { acceptor.stop() }

    /// The other direction's thread uses the same descriptors, so they stay open until the process ends.
    private func forward(from source: Int32, to target: Int32, _ number: Int) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(source, &bytes, bytes.count), count > 0 {
            if state.withLock({ number < $0.lost }) { continue }
            guard Loopback.send(bytes[..<count], to: target) else { return }
        }
        if state.withLock({ number >= $0.lost }) { shutdown(target, Int32(SHUT_WR)) }
    }
}
