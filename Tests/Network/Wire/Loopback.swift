import Foundation
import Synchronization

/// TCP on 127.0.0.1 by plain blocking calls: what the tests' servers and their client share.
enum Loopback {
    #if canImport(Darwin)
        private static let (stream, quietly) = (SOCK_STREAM, Int32(0))
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
        /// No signal is sent when the other side has gone.
        private static let quietly = Int32(MSG_NOSIGNAL)
    #endif
    private static let addressLength = socklen_t(MemoryLayout<sockaddr_in>.size)

    static func makeSocket() -> Int32 { Foundation.socket(AF_INET, stream, 0) }

    /// - Parameter port: 0 for a free one.
    static func listen(port: Int) throws -> (socket: Int32, port: Int) {
        let socket = makeSocket()
        return try withAddress(port) { address in
            var length = addressLength
            let code = bind(socket, address, length) + Foundation.listen(socket, 64)
            guard code + getsockname(socket, address, &length) == 0 else {
                throw Wire.Failure(call: "listen", code: errno)
            }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                (socket, Int(UInt16(bigEndian: $0.pointee.sin_port)))
            }
        }
    }

    /// Returns false, with `errno`, if nothing listens there.
    static func connect(_ socket: Int32, to port: Int) -> Bool {
        withAddress(port) { Foundation.connect(socket, $0, addressLength) == 0 }
    }

    private static func withAddress<Result>(
        _ port: Int, _ body: (UnsafeMutablePointer<sockaddr>) throws -> Result
    ) rethrows -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    /// Sends all bytes. Returns false, with `errno`, if the other side has gone.
    /// - Parameter didSend: called with each number of bytes that the system has taken.
    static func send(_ bytes: some Sequence<UInt8>, to socket: Int32, didSend: (Int) -> Void = { _ in }) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, quietly) }
            if count <= 0 { return false }
            didSend(count)
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits until the other side's system has all that was sent, or has ended the connection.
    static func waitForReceipt(_ socket: Int32) {
        var (left, state) = (Int32(0), pollfd(fd: socket, events: 0, revents: 0))
        while ioctl(socket, UInt(TIOCOUTQ), &left) == 0, left > 0, poll(&state, 1, 0) == 0 { sched_yield() }
    }

    /// The head of a request; what there was of it if the client has gone.
    static func readHead(_ connection: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), read(connection, &byte, 1) == 1 { bytes.append(byte) }
        return bytes
    }
}

/// A listening socket on loopback, and the thread that accepts its connections.
final class Acceptor: Sendable {
    let port: Int
    private let socket: Int32
    /// The number of a socket that was closed may be another one's.
    private let isOpen = Mutex(true)

    /// - Parameter port: the port to listen on; 0 chooses a free one.
    init(port: Int = 0) throws { (socket, self.port) = try Loopback.listen(port: port) }

    /// Calls `serve` with each connection and its number, from 0, one after the other. It has to close the connection.
    /// - Parameter ended: called after `stop`.
    func start(ended: @escaping @Sendable () -> Void = {}, serve: @escaping @Sendable (Int32, Int) -> Void) {
        Thread.detachNewThread { [self] in
            var number = 0
            while true {
                let connection = accept(socket, nil, nil)
                if connection >= 0 {
                    // What is sent is at the client when the call returns: by Nagle's algorithm, a short second segment waits for an acknowledgement.
                    var isOn: Int32 = 1
                    setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
                    serve(connection, number)
                    number += 1
                } else if errno == EINVAL || errno == EBADF {
                    break
                } else {
                    // The client has gone, or the process has too many files open for now.
                    usleep(1_000)
                }
            }
            isOpen.withLock { isOpen in
                isOpen = false
                close(socket)
            }
            ended()
        }
    }

    /// Accepts no more; connections to the port are refused from now on.
    func stop() { isOpen.withLock { if $0 { shutdown(socket, Int32(SHUT_RDWR)) } } }
}
