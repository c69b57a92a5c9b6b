import CMicroHTTPD
package import HTTPTypes
import Synchronization

/// What a server sends, or does to the connection instead.
package struct Response: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// `count` bytes, each piece read when the client has taken the one before it: a slow client holds one piece. `read` gets an offset and how
        /// many bytes fit; it runs on the server's thread. If it fails or ends early, the connection ends. With nil for `count`, an empty piece is the
        /// end.
        case pieces(count: Int?, read: @Sendable (_ offset: Int, _ most: Int) throws -> [UInt8])
        /// Pieces as they are written: `count` bytes, or unknown.
        case stream(BodyStream, count: Int? = nil)

        /// Bytes without a length before them.
        package static func unsized(_ bytes: [UInt8]) -> Body {
            .pieces(count: nil) { Array(bytes[min($0, bytes.count)..<min($0 + $1, bytes.count)]) }
        }
    }

    package var status: HTTPResponse.Status
    package var headers: HTTPFields
    package var body: Body
    /// A `Content-Length` that is not the body's, which the end of the connection follows.
    package var announcedLength: Int?
    /// Closes the connection instead of sending anything.
    package var closure: Closure?

    package enum Closure: Sendable {
        /// With FIN.
        case end
        /// With RST.
        case reset
    }

    package init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body = .bytes([])) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Plain text for people.
    static func refusal(_ refusal: RequestRules.Refusal) -> Response {
        Response(
            status: refusal.status, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .bytes(Array((refusal.text + "\n").utf8)))
    }
}

/// A response's body that is written piece by piece. A writer waits while the client has not taken what was written before.
package final class BodyStream: Sendable {
    private enum End { case complete, closed }

    private struct State {
        var bytes: [UInt8] = []
        var taken = 0
        var end: End?
        /// The connection that is suspended until there is something to send.
        var waiting: SuspendedConnection?
        var writer: CheckedContinuation<Bool, Never>?

        mutating func resume() { waiting.take()?.resume() }
    }

    /// More than this is not held for a client, but for one piece, in bytes.
    private static let limit = 64 << 10

    private let state = Mutex(State())

    package init() {}

    /// Sends a piece.
    /// - Returns: false if the client has gone: there is no use in another piece.
    package func write(_ piece: [UInt8]) async -> Bool {
        await withCheckedContinuation { (writer: CheckedContinuation<Bool, Never>) in
            let answer: Bool? = state.withLock { state in
                if state.end != nil { return false }
                state.bytes.append(contentsOf: piece)
                state.resume()
                if state.bytes.count - state.taken <= Self.limit { return true }
                state.writer = writer
                return nil
            }
            if let answer { writer.resume(returning: answer) }
        }
    }

    /// Ends the body.
    package func finish() { end(.complete) }

    /// The client has gone.
    func close() { end(.closed) }

    private func end(_ end: End) {
        let writer = state.withLock { state in
            if state.end == nil || end == .closed { state.end = end }
            state.resume()
            return state.writer.take()
        }
        writer?.resume(returning: false)
    }

    /// Whether a connection waits for something to send.
    var isWaiting: Bool { state.withLock { $0.waiting != nil } }

    /// Takes bytes for the client, or suspends the connection until there are some. Called on the server's thread.
    /// - Returns: how many, 0 if the connection is suspended, or one of libmicrohttpd's two negative values for the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, for connection: OpaquePointer) -> Int {
        let (count, writer) = state.withLock { state -> (Int, CheckedContinuation<Bool, Never>?) in
            if state.end == .closed { return (Self.failure, nil) }
            let count = min(buffer.count, state.bytes.count - state.taken)
            if count == 0 {
                switch state.end {
                case .complete: return (Self.completion, nil)
                case .closed: return (Self.failure, nil)
                case nil: state.waiting = SuspendedConnection(suspending: connection)
                }
                return (0, nil)
            }
            state.bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[state.taken..<state.taken + count]))
            }
            state.taken += count
            if state.taken == state.bytes.count {
                state.bytes.removeAll(keepingCapacity: true)
                state.taken = 0
            }
            return (count, state.bytes.isEmpty ? state.writer.take() : nil)
        }
        writer?.resume(returning: true)
        return count
    }

    private static let completion = Int(sleeve_end_of_stream), failure = Int(sleeve_end_with_error)
}

/// A connection that libmicrohttpd neither reads nor writes. It stays valid until it is resumed, which the owner of this value does once.
// because: a suspended connection is resumed from any thread (libmicrohttpd's manual, MHD_resume_connection).
struct SuspendedConnection: @unchecked Sendable {
    private let connection: OpaquePointer

    /// Suspends the connection. Only on its thread, in one of its callbacks.
    init(suspending connection: OpaquePointer) {
        self.connection = connection
        MHD_suspend_connection(connection)
    }

    func resume() { MHD_resume_connection(connection) }
}
