import Foundation
import Synchronization

/// A server on loopback that answers every connection with the same bytes and closes it: for what an origin
/// that knows HTTP would never say, and for seeing requests as they are on the wire.
package final class Listener: Sendable {
    /// The head of every request, as it came.
    package let requests: AsyncStream<String>
    private let acceptor: Acceptor
    private let sentBytes = Mutex(0)

    package var port: Int { acceptor.port }
    package var url: String { "http://127.0.0.1:\(port)" }
    /// Bytes that clients have let us send.
    package var sent: Int { sentBytes.withLock { $0 } }

    /// - Parameters:
    ///   - answer: nil: none; connections stay open until the client goes away.
    ///   - endless: sent after it, again and again until the client goes away.
    ///   - readsHead: if false, it answers the first bytes that arrive.
    package convenience init(answer: String?, endless: String? = nil, readsHead: Bool = true) throws {
        try self.init(endless: endless, readsHead: readsHead) { _ in answer }
    }

    /// - Parameter answer: to a request's head; nil as above.
    package init(
        endless: String? = nil, readsHead: Bool = true, answering answer: @escaping @Sendable (String) -> String?
    ) throws {
        acceptor = try Acceptor()
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        requests = stream
        acceptor.start(ended: { continuation.finish() }) { [self] connection, _ in
            defer { close(connection) }
            let bytes = readsHead ? Loopback.readHead(connection) : Self.readOnce(connection)
            let head = String(decoding: bytes, as: UTF8.self)
            continuation.yield(head)
            if let answer = answer(head) {
                var isTaken = send(answer, to: connection)
                while isTaken, let endless { isTaken = send(endless, to: connection) }
            } else {
                var byte: UInt8 = 0
                while read(connection, &byte, 1) > 0 {}
            }
        }
    }

    /// Accepts no more; connections to the port are refused from now on.
    package func stop() { acceptor.stop() }

    private func send(_ text: String, to connection: Int32) -> Bool {
        Loopback.send(text.utf8, to: connection) { count in sentBytes.withLock { $0 += count } }
    }

    private static func readOnce(_ connection: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = read(connection, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}

/// Runs `body` with a listener and stops it afterwards.
package func withListener(
    answer: String?, endless: String? = nil, readsHead: Bool = true, _ body: (Listener) async throws -> Void
) async throws {
    let listener = try Listener(answer: answer, endless: endless, readsHead: readsHead)
    defer { listener.stop() }
    try await body(listener)
}

/// A port at which nothing listens, for as long as this process runs: a socket that does not listen has it.
/// - Parameter isShared: Whether another program of the user may listen there, with `SO_REUSEPORT`.
package func closedPort(isShared: Bool = false) throws -> Int {
    #if os(Linux)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var yes: Int32 = 1
    if isShared { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, socklen_t(MemoryLayout<Int32>.size)) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    if !isBound { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRINUSE) }
    return Int(UInt16(bigEndian: address.sin_port))
}

/// A port that a listener has just had, for a server that is told its port. Another program may take it before.
package func freePort() async throws -> Int {
    let listener = try Listener(answer: nil)
    listener.stop()
    for await _ in listener.requests {}
    return listener.port
}
