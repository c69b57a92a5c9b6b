import HTTPTypes
import HummingbirdCore
import NIOCore

/// Sends the responses that `ResponsePlanner` decides: it waits, writes and closes connections.
struct Responder: Sendable {
    private let context: OriginContext
    private let planner: ResponsePlanner

    init(_ context: OriginContext) {
        self.context = context
        planner = ResponsePlanner(context.options)
    }

    /// - Throws: if the response ends with the connection. Hummingbird then releases the connection.
    func respond(to request: Request, on connection: Connection, with writer: consuming ResponseWriter) async throws {
        let target = request.head.path ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if parts[0] == "/counts" { return try await send(counts, on: connection, with: writer) }
        let metrics = context.metrics
        let number = metrics.requestStarted(path: String(parts[0]))
        defer { metrics.requestEnded() }
        var response = try await response(to: request, path: parts[0], query: parts.dropFirst().first, number: number)
        if response.head.status == .partialContent { metrics.partialResponses.add(1) }
        if response.delay > .zero { try await connection.pause(response.delay) }
        if let bandwidth = context.bandwidth, case .bytes(let bytes, _) = response.body {
            try await connection.pause(bandwidth.reserve(bytes.readableBytes))
        }
        if response.isHeld { try await connection.wait(for: context.gate.opened) }
        response.head.headerFields.append(HTTPField(name: .date, value: CurrentDate.text))
        try await send(response, on: connection, with: writer)
    }

    private func response(
        to request: Request, path: Substring, query: Substring?, number: Int
    ) async throws -> OriginResponse {
        if let maximum = context.options.maximumInFlight, context.metrics.inFlight.value > maximum {
            context.metrics.rejected.add(1)
            return .text(429, "more than \(maximum) requests are in flight\n")
        }
        guard FakeRemote.handles(path) else {
            return planner.response(to: request.head, path: path, query: query, number: number)
        }
        let body = try await request.body.collect(upTo: FakeRemote.maximumBody)
        return context.remote.response(to: request.head, path: path, body: Array(body.readableBytesView))
    }

    /// The counters, for benchmarks.
    private var counts: OriginResponse {
        let metrics = context.metrics
        let (requests, rejected) = (metrics.requests.value, metrics.rejected.value)
        let counts =
            #"{"requests":\#(requests),"overruns":\#(rejected),"inFlight":\#(metrics.inFlight.value),"#
            + #""peakInFlight":\#(metrics.peakInFlight),"connections":\#(metrics.connections.value)}"#
        return .text(200, counts, type: "application/json")
    }

    private func send(
        _ response: OriginResponse, on connection: Connection, with writer: consuming ResponseWriter
    ) async throws {
        switch response.body {
        case .none:
            try await writer.write(response: response.head, body: ResponseBody())
        case .bytes(let bytes, perSecond: nil):
            try await writer.write(response: response.head, body: ResponseBody(byteBuffer: bytes))
        case .bytes(let bytes, let rate?):
            var body: any ResponseBodyWriter = try await writer.writeHead(response.head)
            try await ThrottledBody(bytesPerSecond: rate).write(bytes, to: &body, on: connection)
            try await body.finish(nil)
        case .bytesThenClose(let bytes):
            var body = try await writer.writeHead(response.head)
            try await body.write(bytes)
            try await connection.finish()
        case .endless(let bytes, let rate):
            var body: any ResponseBodyWriter = try await writer.writeHead(response.head)
            try await sendEndlessly(bytes, bytesPerSecond: rate, to: &body, on: connection)
        case .reset: try await connection.reset()
        case .close: try await connection.finish()
        case .never: try await connection.waitUntilClosed()
        }
    }

    private func sendEndlessly(
        _ bytes: ByteBuffer, bytesPerSecond: Int?, to body: inout any ResponseBodyWriter, on connection: Connection
    ) async throws {
        let throttle = bytesPerSecond.map { ThrottledBody(bytesPerSecond: $0) }
        var next = bytes
        while connection.channel.isActive {
            // A write returns when the socket has room, so a slow client costs no memory.
            if let throttle {
                try await throttle.write(next, to: &body, on: connection)
            } else {
                try await body.write(next)
            }
            next = Self.filler
            // A write may return without suspending. The event loop's thread must be free to serve other connections and
            // to notice that the client has closed this one, because writes to a closed channel appear to succeed.
            await Task.yield()
        }
        throw Connection.Closed()
    }

    private static let filler = ByteBuffer(repeating: 0x20, count: 65_536)
}
