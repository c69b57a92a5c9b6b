import Foundation
import Synchronization

/// A server on loopback that answers every connection with the same bytes and closes it: for what an origin
/// that knows HTTP would never say, and for seeing requests as they are on the wire.
package final class Listener: Sendable {
    package enum Failure: Error { case cannotListen(Int32) }

    package let port: Int
    /// The head of every request, as it came.
    package let requests: AsyncStream<String>
    private let socket: Int32
    private let counter: Counter

    /// Bytes that clients have let us send.
    package var sent: Int { counter.bytes.withLock { $0 } }

    private final class Counter: Sendable {
        let bytes = Mutex(0)
        /// The number of a socket that was closed may be another one's.
        let isOpen = Mutex(true)
    }

    package var url: String { "http://127.0.0.1:\(port)" }

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
        let socket = Foundation.socket(AF_INET, Self.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) + listen(socket, 64) + getsockname(socket, address, &length)
            }
        }
        guard socket >= 0, code == 0 else { throw Failure.cannotListen(errno) }
        self.socket = socket
        port = Int(UInt16(bigEndian: address.sin_port))
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        requests = stream
        let counter = Counter()
        self.counter = counter
        Thread.detachNewThread {
            while true {
                let connection = accept(socket, nil, nil)
                if connection < 0 {
                    // `stop` has ended it. Otherwise the client has gone, or the process has too many files open for now.
                    if errno == EINVAL || errno == EBADF { break }
                    usleep(1_000)
                    continue
                }
                let head = readsHead ? Self.readHead(connection) : Self.readOnce(connection)
                continuation.yield(head)
                if let answer = answer(head) {
                    var isTaken = Self.send(answer, to: connection, counter)
                    while isTaken, let endless { isTaken = Self.send(endless, to: connection, counter) }
                } else {
                    var byte: UInt8 = 0
                    while read(connection, &byte, 1) > 0 {}
                }
                close(connection)
            }
            counter.isOpen.withLock { isOpen in
                isOpen = false
                close(socket)
            }
            continuation.finish()
        }
    }

    /// Accepts no more; connections to the port are refused from now on.
    package func stop() { counter.isOpen.withLock { if $0 { shutdown(socket, Int32(SHUT_RDWR.bits)) } } }

    #if canImport(Darwin)
        static let quietly: Int32 = 0
    #else
        /// No signal is sent when the client has gone.
        static let quietly = Int32(MSG_NOSIGNAL)
    #endif

    /// False: the client has gone.
    private static func send(_ text: String, to connection: Int32, _ counter: Counter) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(connection, $0.baseAddress, $0.count, quietly) }
            if count <= 0 { return false }
            counter.bytes.withLock { $0 += count }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func readHead(_ connection: Int32) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), read(connection, &byte, 1) == 1 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func readOnce(_ connection: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = read(connection, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    #if canImport(Glibc)
        static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        static let stream = SOCK_STREAM
    #endif
}

extension Int {
    /// `SHUT_RDWR` is an `Int` on Linux and an `Int32` on macOS.
    fileprivate var bits: Int { self }
}
extension Int32 {
    fileprivate var bits: Int32 { self }
}

/// Runs `body` with a listener and stops it afterwards.
package func withListener(
    answer: String?, endless: String? = nil, readsHead: Bool = true, _ body: (Listener) async throws -> Void
) async throws {
    let listener = try Listener(answer: answer, endless: endless, readsHead: readsHead)
    defer { listener.stop() }
    try await body(listener)
}

/// A port without a listener.
package func closedPort() async throws -> Int {
    let listener = try Listener(answer: nil)
    listener.stop()
    for await _ in listener.requests {}
    return listener.port
}
