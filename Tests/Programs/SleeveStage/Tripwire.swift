import Foundation
package import OriginServer
import Testing

/// A URL for a list that reports when a client requests it: a loopback port that accepts and never answers.
package final class Tripwire: Sendable {
    private let listener: Int32
    private let port: Int
    private let tripped: AsyncStream<Void>

    package init() throws {
        #if os(Linux)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        try #require(isBound)
        port = Int(UInt16(bigEndian: address.sin_port))
        let (tripped, continuation) = AsyncStream.makeStream(of: Void.self)
        self.tripped = tripped
        Thread.detachNewThread {
            var connections: [Int32] = []
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    break
                }
                connections.append(connection)
                continuation.yield()
            }
            continuation.finish()
            for connection in connections + [listener] { close(connection) }
        }
    }

    deinit { disarm() }

    /// Wakes the thread in `accept`, which then closes everything.
    private func disarm() { _ = shutdown(listener, Int32(SHUT_RDWR)) }

    /// The URL of the port.
    package var url: String { "http://127.0.0.1:\(port)/x.jpg" }

    /// A URL of the origin that redirects to the port, so it is queued with the origin's others.
    package func url(through origin: Origin) -> String {
        "\(origin.coverURL(0))?to=http%3A%2F%2F127.0.0.1%3A\(port)%2Fx.jpg"
    }

    /// Returns when a client has connected. Fails the test if `child` ends before.
    package func wait(for child: Child) async throws {
        child.whenEnded { [weak self] _ in self?.disarm() }
        for await _ in tripped { return }
        Issue.record("the process ended before it came to the tripwire: \(await child.exit())")
        throw Child.Failure(reason: "ended early")
    }
}
