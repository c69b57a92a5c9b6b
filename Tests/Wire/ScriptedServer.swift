import Foundation
import Synchronization

/// A server on loopback that keeps connections open and sends what a closure returns for each request, byte for byte.
package final class ScriptedServer: Sendable {
    package struct Request: Sendable {
        /// The head as it came. Bytes are not decoded: each is a scalar of ISO 8859-1.
        package var head: String
        package var target: String
        /// The body, if the request has a `Content-Length`.
        package var body: [UInt8] = []
        /// The number of the connection, from 0.
        package var connection: Int

        /// The value of a field's first line.
        package func field(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// - Returns: what is sent; nil to close the connection.
    package typealias Answer = @Sendable (Request) -> [UInt8]?

    package let port: Int
    package var url: String { "http://127.0.0.1:\(port)" }
    /// The requests so far.
    package var requests: [Request] { log.withLock { $0 } }
    private let socket: Int32
    private let log: Log

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
        func withLock<Result: Sendable>(_ body: (inout sending [Request]) -> sending Result) -> Result {
            requests.withLock(body)
        }
    }

    /// - Parameter port: the port to listen on; 0 chooses a free one.
    package init(port: Int = 0, _ answer: @escaping Answer) throws {
        let socket = Foundation.socket(AF_INET, Listener.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) + listen(socket, 64) + getsockname(socket, address, &length)
            }
        }
        guard socket >= 0, code == 0 else { throw Listener.Failure.cannotListen(errno) }
        self.socket = socket
        self.port = Int(UInt16(bigEndian: address.sin_port))
        let log = Log()
        self.log = log
        Thread.detachNewThread {
            var count = 0
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                let number = count
                count += 1
                Thread.detachNewThread { Self.serve(connection, number, log, answer) }
            }
            close(socket)
        }
    }

    package func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

    private static func serve(_ connection: Int32, _ number: Int, _ log: Log, _ answer: Answer) {
        defer { close(connection) }
        while let head = readHead(connection) {
            let words = head.split(separator: " ")
            var request = Request(head: head, target: words.count > 1 ? String(words[1]) : "", connection: number)
            let length = request.field("Content-Length").flatMap { Int($0) } ?? 0
            guard let body = readBody(connection, length) else { return }
            request.body = body
            log.withLock { $0.append(request) }
            guard let bytes = answer(request) else { return }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Listener.quietly) }
                if count <= 0 { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Nil if the client has gone.
    private static func readBody(_ connection: Int32, _ length: Int) -> [UInt8]? {
        var body = [UInt8](repeating: 0, count: length)
        var received = 0
        while received < length {
            let count = body.withUnsafeMutableBytes { bytes in
                read(connection, bytes.baseAddress?.advanced(by: received), length - received)
            }
            guard count > 0 else { return nil }
            received += count
        }
        return body
    }

    /// Nil if the client has gone.
    private static func readHead(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard read(connection, &byte, 1) == 1 else { return nil }
            bytes.append(byte)
        }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

/// Runs `body` with a server and stops it afterwards.
package func withScriptedServer(
    _ answer: @escaping ScriptedServer.Answer, _ body: (ScriptedServer) async throws -> Void
) async throws {
    let server = try ScriptedServer(answer)
    defer { server.stop() }
    try await body(server)
}

/// A response with a `Content-Length`, whose field lines are ISO 8859-1.
package func httpResponse(_ status: String, _ fields: [String] = [], _ body: [UInt8] = []) -> [UInt8] {
    let lines = ["HTTP/1.1 \(status)"] + fields + ["Content-Length: \(body.count)", "", ""]
    return lines.joined(separator: "\r\n").unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + body
}
