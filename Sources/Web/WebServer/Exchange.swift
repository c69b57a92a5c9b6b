import CMicroHTTPD
import HTTPTypes
import Platform
import Synchronization

/// A request and its response, from the request's first line to the response's last byte. Its methods are called on the thread of its connection, in
/// libmicrohttpd's callbacks, unless they say otherwise.
// because: only the connection's thread touches the variables beside `shared`.
final class Exchange: @unchecked Sendable {
    private enum Step {
        /// Nothing but the target is known.
        case head
        /// The body arrives.
        case body
        /// The response is being made, or queued.
        case response
    }

    private struct Shared {
        var response: Response?
        /// The connection waits for the response.
        var waiting: SuspendedConnection?
        /// The client or the server has given up the request.
        var isOver = false
        var stream: BodyStream?
    }

    private let server: Server
    private let target: String
    private let connection: Connection
    let client = ClientPresence()
    private var step = Step.head
    private var request: Request?
    private var admission: Admission?
    private let shared = Mutex(Shared())

    init(_ server: Server, target: String, _ connection: Connection) {
        (self.server, self.target, self.connection) = (server, target, connection)
    }

    /// Whether the connection is not read. From any thread.
    var isSuspended: Bool {
        let (isWaiting, stream) = shared.withLock { ($0.waiting != nil, $0.stream) }
        return isWaiting || stream?.isWaiting == true
    }

    /// The client has gone, or the server ends: whatever waits is over. From any thread.
    func leave() {
        let streams = shared.withLock { shared in
            shared.isOver = true
            shared.waiting.take()?.resume()
            return [shared.stream, shared.response?.stream].compactMap(\.self)
        }
        for stream in streams { stream.close() }
        client.leave()
    }

    // MARK: The request

    /// Goes on with the request.
    /// - Parameter piece: bytes of the body, of which there is at least one; empty when the head has arrived, and when all has.
    func proceed(_ handle: OpaquePointer, method: String, version: String, _ piece: UnsafeRawBufferPointer)
        -> MHD_Result
    {
        switch step {
        case .head: return begin(handle, method: method, version: version)
        case .body where !piece.isEmpty: return append(piece)
        case .body: return answer(handle)
        case .response:
            guard let response = shared.withLock({ $0.response.take() }) else { return .NO }
            return send(response, handle)
        }
    }

    private func begin(_ handle: OpaquePointer, method: String, version: String) -> MHD_Result {
        let isHTTP10 = version == "HTTP/1.0"
        do throws(RequestRules.Refusal) {
            var request = Request(
                method: try RequestRules.method(method), target: target, headers: try Self.fields(of: handle),
                isHTTP10: isHTTP10, client: client)
            request = try server.rules.applied(to: request, local: SocketAddress(localOf: connection.socket))
            request.memory = BodyMemory.Share(of: server.bodies)
            self.request = request
            let hasBody =
                request.headers[.contentLength].map { $0 != "0" } ?? (request.headers[.transferEncoding] != nil)
            let admission = server.responder.admit(request)
            switch admission {
            case .refuse(let response): if hasBody { return refuse(response, handle) }
            case .accept(let limit, let above, _):
                let announced = request.headers[.contentLength].flatMap { Int($0) } ?? 0
                if announced > limit { return refuse(above(), handle) }
            }
            self.admission = admission
            step = .body
            if hasBody { connection.state.withLock { $0.phase = .receiving } }
            return .YES
        } catch {
            return refuse(.refusal(error), handle)
        }
    }

    /// Sends a response to a request that is not read to its end.
    private func refuse(_ response: Response, _ handle: OpaquePointer) -> MHD_Result {
        connection.state.withLock { $0.lingers = true }
        var response = response
        response.headers[.connection] = "close"
        return send(response, handle)
    }

    private func append(_ piece: UnsafeRawBufferPointer) -> MHD_Result {
        connection.state.withLock { $0.received += piece.count }
        let length = (request?.body.count ?? 0) + piece.count
        if case .accept(let limit, let above, _) = admission, length > limit { return refuseWithinBody(above()) }
        guard request?.memory?.add(piece.count) == true else { return refuseWithinBody(server.responder.busy) }
        request?.body.append(contentsOf: piece)
        return .YES
    }

    /// Sends a response and closes the connection, which libmicrohttpd cannot within a body.
    private func refuseWithinBody(_ response: Response) -> MHD_Result {
        connection.state.withLock { $0.lingers = true }
        guard case .bytes(let body) = response.body else { return .NO }
        var text = "HTTP/1.1 \(response.status.code) \(response.status.reasonPhrase)\r\n"
        for field in response.headers { text += "\(field.name): \(field.value)\r\n" }
        text += "Connection: close\r\nContent-Length: \(body.count)\r\n\r\n"
        let bytes = Array(text.utf8) + (request?.method == .head ? [] : body)
        // The first bytes of this response: the system has room for them.
        #if os(Linux)
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        #else
            let flags = MSG_DONTWAIT
        #endif
        _ = bytes.withUnsafeBytes { Platform.send(connection.socket, $0.baseAddress, $0.count, flags) }
        return .NO
    }

    // MARK: The response

    private func answer(_ handle: OpaquePointer) -> MHD_Result {
        guard let request, let admission, !server.isEnding else { return .NO }
        let answer: Answer =
            switch admission {
            case .refuse(let response): .now(response)
            case .accept(_, _, let answer): answer(request)
            }
        step = .response
        connection.state.withLock { $0.phase = .responding }
        switch answer {
        case .now(let response): return send(response, handle)
        case .later(let make):
            let isOver = shared.withLock { shared in
                if !shared.isOver { shared.waiting = SuspendedConnection(suspending: handle) }
                return shared.isOver
            }
            if isOver { return .NO }
            Task { finish(await make()) }
            return .YES
        }
    }

    /// Takes the response. From any thread.
    private func finish(_ response: Response) {
        let isOver = shared.withLock { shared in
            if !shared.isOver { shared.response = response }
            shared.waiting.take()?.resume()
            return shared.isOver
        }
        if isOver { response.stream?.close() }
    }

    private func send(_ response: Response, _ handle: OpaquePointer) -> MHD_Result {
        step = .response
        connection.state.withLock { $0.phase = .responding }
        if let closure = response.closure {
            if closure == .reset { SocketAddress.reset(connection.socket) }
            return .NO
        }
        guard let made = make(response, handle) else { return .NO }
        defer { MHD_destroy_response(made) }
        if let length = response.announcedLength {
            _ = sleeve_announce_length(made)
            MHD_add_response_header(made, "Content-Length", String(length))
        } else if request?.isHTTP10 == true {
            _ = sleeve_answer_as_http10(made)
        }
        for field in response.headers where field.name != .contentLength {
            MHD_add_response_header(made, field.name.rawName, field.value)
        }
        return MHD_queue_response(handle, UInt32(response.status.code), made)
    }

    private func make(_ response: Response, _ handle: OpaquePointer) -> OpaquePointer? {
        switch response.body {
        case .bytes(let bytes) where response.announcedLength == nil:
            return bytes.withUnsafeBytes {
                // It copies the bytes.
                MHD_create_response_from_buffer(
                    $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .bytes(let bytes):
            return makeReader(count: sleeve_unknown_size, .unsized(bytes), handle)
        case .pieces(let count, _):
            return makeReader(count: count.map(UInt64.init) ?? sleeve_unknown_size, response.body, handle)
        case .stream(let stream, let count):
            let isOver = shared.withLock { shared in
                shared.stream = stream
                return shared.isOver
            }
            if isOver { stream.close() }
            return makeReader(count: count.map(UInt64.init) ?? sleeve_unknown_size, response.body, handle)
        }
    }

    private func makeReader(count: UInt64, _ body: Response.Body, _ handle: OpaquePointer) -> OpaquePointer? {
        let reader = Unmanaged.passRetained(BodyReader(body, connection, handle))
        return MHD_create_response_from_callback(
            count, 64 << 10,
            { context, position, buffer, most in BodyReader.from(context).read(Int(position), buffer, most) },
            reader.toOpaque(),
            { context in Unmanaged<BodyReader>.fromOpaque(context!).release() })
    }

    /// The response is sent, or the connection has ended.
    func end(isComplete: Bool) {
        request = nil
        connection.state.withLock { state in
            state.exchange = nil
            state.phase = .idle
            if isComplete { state.answered += 1 } else { state.lingers = true }
        }
        leave()
    }

    /// - Throws: `Refusal` if a name or a value is invalid.
    private static func fields(of handle: OpaquePointer) throws(RequestRules.Refusal) -> HTTPFields {
        final class Fields {
            var fields = HTTPFields()
            var isValid = true
        }
        let found = Fields()
        MHD_get_connection_values_n(
            handle, .HEADER_KIND,
            { context, _, name, nameLength, value, valueLength in
                let found = Unmanaged<Fields>.fromOpaque(context!).takeUnretainedValue()
                let name = String(decoding: UnsafeRawBufferPointer(start: name, count: nameLength), as: UTF8.self)
                let value = UnsafeRawBufferPointer(start: value, count: valueLength)
                if let name = HTTPField.Name(name), !value.contains(where: { $0 == 0 || $0 == 13 || $0 == 10 }) {
                    found.fields.append(HTTPField(name: name, value: String(decoding: value, as: UTF8.self)))
                } else {
                    found.isValid = false
                }
                return .YES
            }, Unmanaged.passUnretained(found).toOpaque())
        guard found.isValid else {
            throw .bad("a field has no name, or a CR in its value")
        }
        return found.fields
    }
}

extension Response {
    fileprivate var stream: BodyStream? {
        guard case .stream(let stream, _) = body else { return nil }
        return stream
    }
}

/// Reads a body for a connection.
private final class BodyReader {
    private let body: Response.Body
    private let connection: Connection
    private let handle: OpaquePointer

    init(_ body: Response.Body, _ connection: Connection, _ handle: OpaquePointer) {
        (self.body, self.connection, self.handle) = (body, connection, handle)
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> BodyReader {
        Unmanaged.fromOpaque(context!).takeUnretainedValue()
    }

    func read(_ position: Int, _ buffer: UnsafeMutablePointer<CChar>?, _ most: Int) -> Int {
        let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: most)
        var count = sleeve_end_with_error
        switch body {
        case .bytes: break
        case .pieces(let length, let read):
            guard let piece = try? read(position, length.map { max(0, min(most, $0 - position)) } ?? most) else {
                break
            }
            if piece.isEmpty, length == nil { count = sleeve_end_of_stream }
            guard !piece.isEmpty else { break }
            buffer.copyBytes(from: piece)
            count = piece.count
        case .stream(let stream, _): count = stream.read(into: buffer, for: handle)
        }
        if count > 0 { connection.state.withLock { $0.sent += count } }
        return count
    }
}
