import Foundation
import Synchronization

/// Forwards connections on loopback to a port, until it is told to lose a path: the open connections then stay open and carry
/// nothing.
package final class Relay: Sendable {
    package let port: Int
    private let listening: Int32
    private let state = Mutex(State())

    private struct State {
        var connections = 0
        /// Connections with a lower number are lost.
        var lost = 0
    }

    /// The number of connections so far.
    package var connectionCount: Int { state.withLock { $0.connections } }

    package init(to target: Int) throws {
        let socket = Foundation.socket(AF_INET, Listener.stream, 0)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = Self.withLoopback(port: 0) { bind(socket, $0, length) } + listen(socket, 64)
        guard socket >= 0, code == 0 else { throw Listener.Failure.cannotListen(errno) }
        listening = socket
        var size = length
        port = Self.withLoopback(port: 0) { address in
            _ = getsockname(socket, address, &size)
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int(UInt16(bigEndian: $0.pointee.sin_port))
            }
        }
        Thread.detachNewThread { [self] in
            while case let client = accept(socket, nil, nil), client >= 0 {
                let server = Foundation.socket(AF_INET, Listener.stream, 0)
                let code = Self.withLoopback(port: target) { connect(server, $0, length) }
                let number = state.withLock { state in
                    state.connections += 1
                    return state.connections - 1
                }
                guard code == 0 else {
                    close(client)
                    close(server)
                    continue
                }
                Thread.detachNewThread { self.forward(from: client, to: server, number) }
                Thread.detachNewThread { self.forward(from: server, to: client, number) }
            }
            close(socket)
        }
    }

    /// Loses the path of the connections that are open.
    package func losePath() { state.withLock { $0.lost = $0.connections } }

    /// Accepts no more.
    package func stop() { shutdown(listening, Int32(2)) }

    /// The other direction's thread uses the same descriptors, so they stay open until the process ends.
    private func forward(from source: Int32, to target: Int32, _ number: Int) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(source, &bytes, bytes.count), count > 0 {
            if state.withLock({ number < $0.lost }) { continue }
            var sent = 0
            while sent < count {
                let step = bytes.withUnsafeBytes {
                    send(target, $0.baseAddress?.advanced(by: sent), count - sent, Listener.quietly)
                }
                guard step > 0 else { return }
                sent += step
            }
        }
        if state.withLock({ number >= $0.lost }) { shutdown(target, Int32(1)) }
    }

    private static func withLoopback<Result>(
        port: Int, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
