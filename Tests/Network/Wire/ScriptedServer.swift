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

    package var port: Int { acceptor.port }
    package var url: String { "http://127.0.0.1:\(port)" }
    /// The requests so far.
    package var requests: [Request] { log.withLock { $0 } }
    private let acceptor: Acceptor
    private let log = Mutex<[Request]>([])
    private let open = Mutex<[Int: Int32]>([:])

    /// - Parameter port: the port to listen on; 0 chooses a free one.
    package init(port: Int = 0, _ answer: @escaping Answer) throws {
        acceptor = try Acceptor(port: port)
        acceptor.start { [self] connection, number in
            Thread.detachNewThread { self.serve(connection, number, answer) }
        }
    }

    package func stop() { acceptor.stop() }

    /// Sends bytes that no request asked for. When it returns, they wait at the client.
    /// - Parameter connection: the number of a connection that is open.
    /// - Returns: whether they were sent.
    package func send(_ bytes: some Sequence<UInt8>, on connection: Int) -> Bool {
        open.withLock { open in
            guard let socket = open[connection] else { return false }
            defer { Loopback.waitForReceipt(socket) }
            return Loopback.send(bytes, to: socket)
        }
    }

    /// Ends the sending side of a connection. When it returns, the client has the end.
    package func endSending(on connection: Int) {
        open.withLock { open in
            guard let socket = open[connection] else { return }
            shutdown(socket, Int32(SHUT_WR))
            Loopback.waitForReceipt(socket)
        }
    }

    private func serve(_ connection: Int32, _ number: Int, _ answer: Answer) {
        open.withLock { $0[number] = connection }
        defer {
            open.withLock { open in
                open[number] = nil
                close(connection)
            }
        }
        while case let bytes = Loopback.readHead(connection), bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let head = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
            let words = head.split(separator: " ")
            var request = Request(head: head, target: words.count > 1 ? String(words[1]) : "", connection: number)
            let length = request.field("Content-Length").flatMap { Int($0) } ?? 0
            guard let body = Self.readBody(connection, length) else { return }
            request.body = body
            log.withLock { $0.append(request) }
            guard let bytes = answer(request), Loopback.send(bytes, to: connection) else { return }
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
