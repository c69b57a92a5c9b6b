import Foundation

/// A server that answers every connection alike: for covers that an origin of ours does not draw.
final class OneAnswer: Sendable {
    let port: Int
    private let socket: Int32

    struct Failure: Error { var code: Int32 }

    init(body: String, type: String) throws {
        let socket = Foundation.socket(AF_INET, Self.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) + listen(socket, 16) + getsockname(socket, address, &length)
            }
        }
        guard socket >= 0, code == 0 else { throw Failure(code: errno) }
        self.socket = socket
        port = Int(UInt16(bigEndian: address.sin_port))
        let answer =
            "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        Thread.detachNewThread {
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                var head = [UInt8](repeating: 0, count: 65_536)
                _ = read(connection, &head, head.count)
                _ = answer.withCString { write(connection, $0, strlen($0)) }
                close(connection)
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #endif
}
