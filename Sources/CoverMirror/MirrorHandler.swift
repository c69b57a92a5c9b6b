import HTTPTypes
import HummingbirdCore
import NIOCore
import ServerChannels

/// Reads a client's request, and writes the mirror's response.
struct MirrorHandler: Sendable {
    let mirror: Mirror
    let hosts: AllowedHosts
    /// The largest request body, in bytes.
    let maximumBodySize: Int
    let clients: StalledClients
    let requests = InFlightCounter()

    /// - Throws: if the connection must be closed.
    func respond(to request: Request, on channel: any Channel, with writer: consuming ResponseWriter) async throws {
        requests.begin()
        defer { requests.end() }
        try await respondCounted(to: request, on: channel, with: writer)
        if requests.isStopping { try await close(channel) }
    }

    private func respondCounted(
        to request: Request, on channel: any Channel, with writer: consuming ResponseWriter
    ) async throws {
        let head = request.head
        // RFC 9112 section 3.2.
        guard let host = head.authority else {
            return try await refuse(head, 400, "a request must have a Host field", channel, writer)
        }
        guard hosts.contains(host) else {
            return try await refuse(
                head, 421, "this mirror is not known by that name; start it with --name to allow one", channel, writer)
        }
        var body: [UInt8]?
        if head.headerFields.contains(.contentLength) || head.headerFields.contains(.transferEncoding) {
            let tooLong = "a mirror takes requests of at most \(maximumBodySize) bytes"
            if let length = head.headerFields[.contentLength].flatMap({ Int($0) }), length > maximumBodySize {
                return try await refuse(head, 413, tooLong, channel, writer)
            }
            // Neither NIO nor Hummingbird answers `Expect` (RFC 9110 section 10.1.1).
            if head.headerFields[.expect]?.lowercased() == "100-continue" {
                try await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            guard let bytes = try? await request.body.collect(upTo: maximumBodySize) else {
                return try await refuse(head, 413, tooLong, channel, writer)
            }
            body = Array(bytes.readableBytesView)
        }
        // NIO drops the hyphen.
        let method = head.method.rawValue == "MSEARCH" ? HTTPRequest.Method("M-SEARCH")! : head.method
        let mirrorRequest = MirrorRequest(
            method: method, target: head.path ?? "", fields: head.headerFields, body: body)

        // 1xx responses are written as they arrive, before the final one.
        let (interims, continuation) = AsyncStream.makeStream(of: HTTPResponse.self)
        async let final = finalResponse(to: mirrorRequest, interims: continuation)
        for await interim in interims { try await writer.writeInformationalHead(interim) }
        let response = await final

        if head.method == .head, !response.head.headerFields.contains(.contentLength) {
            return try await writeHeadOnly(response.head, channel, writer)
        }
        if let stream = response.stream { return try await write(stream, response.head, channel, writer) }
        try await writer.write(response: response.head, body: Self.body(ByteBuffer(bytes: response.body)))
    }

    private func finalResponse(
        to request: MirrorRequest, interims: AsyncStream<HTTPResponse>.Continuation
    ) async -> MirrorResponse {
        defer { interims.finish() }
        return await mirror.response(to: request) { interims.yield($0) }
    }

    /// What the kernel holds of a streamed body for a client that has no room for it, in bytes. With its default of some mebibytes,
    /// one that reads 40 KB a second would seem to take nothing for a minute.
    private static let maximumUnsent = 64 << 10
    #if os(Linux)
        private static let unsentOption = NIOBSDSocket.Option(rawValue: 25)  // TCP_NOTSENT_LOWAT
    #else
        private static let unsentOption = NIOBSDSocket.Option(rawValue: 0x201)  // TCP_NOTSENT_LOWAT
    #endif

    /// - Throws: if the origin or the client ends the transfer early, or the client takes nothing. The connection is closed then, so
    ///   that the client does not take a part for the whole.
    private func write(
        _ body: StreamedBody, _ head: HTTPResponse, _ channel: any Channel, _ writer: consuming ResponseWriter
    ) async throws {
        // A system without the option takes slow clients for stalled ones.
        try? await channel.setOption(.tcpOption(Self.unsentOption), value: Self.maximumUnsent).get()
        do {
            var bodyWriter = try await writer.writeHead(head)
            while let chunk = try await body.next() {
                try await clients.watch {
                    body.cancel()
                    channel.close(promise: nil)
                } writing: {
                    try await bodyWriter.write(ByteBuffer(bytes: chunk))
                }
            }
            try await bodyWriter.finish(nil)
        } catch {
            body.cancel()
            throw error
        }
    }

    /// Refuses a request without reading the rest of it, and closes the connection.
    private func refuse(
        _ request: HTTPRequest, _ status: Int, _ text: String, _ channel: any Channel,
        _ writer: consuming ResponseWriter
    ) async throws {
        var response = MirrorResponse.generated(status, text)
        response.head.headerFields[.connection] = "close"
        let body = request.method == .head ? ResponseBody() : Self.body(ByteBuffer(bytes: response.body))
        try await writer.write(response: response.head, body: body)
        try await close(channel)
    }

    /// Answers a HEAD without a known length, and closes the connection: NIO would write a chunked body, which the client would take
    /// for the next response.
    private func writeHeadOnly(
        _ head: HTTPResponse, _ channel: any Channel, _ writer: consuming ResponseWriter
    ) async throws {
        var head = head
        head.headerFields[.connection] = "close"
        _ = try await writer.writeHead(head)
        try await close(channel)
    }

    private static func body(_ bytes: ByteBuffer) -> ResponseBody {
        bytes.readableBytes == 0 ? ResponseBody() : ResponseBody(byteBuffer: bytes)
    }

    /// Closes the connection after all that was written has been sent.
    private func close(_ channel: any Channel) async throws {
        try await channel.close(mode: .output).get()
        throw ConnectionClosed()
    }

    private struct ConnectionClosed: Error {}
}
