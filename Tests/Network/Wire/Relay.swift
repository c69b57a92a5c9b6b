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

    /// - Parameter swallowsNotice: TLS 1.3: a server's notice that it closes the connection does not arrive.
    package init(to target: Int, swallowsNotice: Bool = false) throws {
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
            Thread.detachNewThread { self.forward(from: server, to: client, number, swallowsNotice) }
        }
    }

    /// Loses the path of the connections that are open.
    package func losePath() { state.withLock { $0.lost = $0.connections } }

    /// Accepts no more.
    package func stop() { acceptor.stop() }

    /// The other direction's thread uses the same descriptors, so they stay open until the process ends.
    private func forward(from source: Int32, to target: Int32, _ number: Int, _ swallowsNotice: Bool = false) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var records: [UInt8] = []
        while case let count = read(source, &bytes, bytes.count), count > 0 {
            if state.withLock({ number < $0.lost }) { continue }
            records += bytes[..<count]
            var sent = records[...]
            if swallowsNotice { sent = Self.withoutNotice(&records)[...] } else { records = [] }
            guard Loopback.send(sent, to: target) else { return }
        }
        if state.withLock({ number >= $0.lost }) { shutdown(target, Int32(SHUT_WR)) }
    }

    /// Takes whole records. An encrypted record of 19 bytes is an alert: level, description, type, and a tag of 16 bytes (RFC 8446 section 5.2).
    private static func withoutNotice(_ records: inout [UInt8]) -> [UInt8] {
        var taken: [UInt8] = []
        while records.count >= 5, case let end = 5 + Int(records[3]) * 256 + Int(records[4]), records.count >= end {
            if records[0] != 23 || end != 24 { taken += records[..<end] }
            records.removeFirst(end)
        }
        return taken
    }
}
