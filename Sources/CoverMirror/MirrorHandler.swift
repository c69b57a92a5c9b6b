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
    /// Of the bodies of requests that are being received or forwarded.
    let requestBytes: ByteBudget
    let requests = InFlightCounter()

    /// - Throws: if the connection must be closed.
    func respond(to request: Request, on channel: any Channel, with writer: consuming ResponseWriter) async throws {
        requests.begin()
        defer { requests.end() }
        let head = request.head
        if let refusal = refusal(of: head) { return try await write(refusal, to: head, channel, writer) }
        let held = requestBytes.reservation()
        var body: [UInt8]?
        if head.headerFields.contains(.contentLength) || head.headerFields.contains(.transferEncoding) {
            // Neither NIO nor Hummingbird answers `Expect` (RFC 9110 section 10.1.1).
            if head.headerFields[.expect]?.lowercased() == "100-continue" {
                try await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            do throws(BodyRefusal) {
                body = try await collect(request.body, held)
            } catch {
                switch error {
                case .refused(let response): return try await write(response, to: head, channel, writer)
                case .unreadable(let error): throw error
                }
            }
        }
        // NIO drops the hyphen.
        let method = head.method.rawValue == "MSEARCH" ? HTTPRequest.Method("M-SEARCH")! : head.method
        let mirrorRequest = MirrorRequest(
            method: method, target: head.path ?? "", fields: head.headerFields, body: body)

        // 1xx responses are written as they arrive, before the final one.
        let (interims, continuation) = AsyncStream.makeStream(of: HTTPResponse.self)
        async let final = finalResponse(to: mirrorRequest, interims: continuation)
        for await interim in interims { try await writer.writeInformationalHead(interim) }
        try await write(final, to: head, channel, writer)
        withExtendedLifetime(held) {}
    }

    private func finalResponse(
        to request: MirrorRequest, interims: AsyncStream<HTTPResponse>.Continuation
    ) async -> MirrorResponse {
        defer { interims.finish() }
        return await mirror.response(to: request) { interims.yield($0) }
    }

    // MARK: Requests

    /// The response to a request whose body need not be read.
    private func refusal(of head: HTTPRequest) -> MirrorResponse? {
        let host = head.authority ?? ""
        guard hosts.contains(host) else {
            return .refusal(421, "this mirror is not known by that name; start it with --name to allow one")
        }
        let fields = head.headerFields
        if ![.get, .head, .options].contains(head.method),
            CrossSiteRequest.isFromOtherSite(fields) || CrossSiteRequest.hasForeignOrigin(fields, host: host)
        {
            return .refusal(403, "a page of another site must not change anything here")
        }
        if let length = fields[.contentLength].flatMap({ Int($0) }), length > maximumBodySize { return tooLong }
        return nil
    }

    private var tooLong: MirrorResponse {
        .refusal(413, "a mirror takes requests of at most \(maximumBodySize) bytes")
    }

    private enum BodyRefusal: Error {
        case refused(MirrorResponse)
        /// The client has gone, or what it sends is no HTTP.
        case unreadable(any Error)
    }

    private func collect(
        _ body: RequestBody, _ held: ByteBudget.Reservation
    ) async throws(BodyRefusal) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await chunk in body {
                guard bytes.count + chunk.readableBytes <= maximumBodySize else { throw BodyRefusal.refused(tooLong) }
                guard held.grow(by: chunk.readableBytes) else {
                    throw BodyRefusal.refused(.busy("the mirror receives too many requests"))
                }
                bytes += chunk.readableBytesView
            }
        } catch let refusal as BodyRefusal {
            throw refusal
        } catch {
            throw .unreadable(error)
        }
        return bytes
    }

    // MARK: Responses

    /// How much of a body is written at a time, in bytes: what a stalled client leaves unwritten, beside the body that is held for it.
    private static let sliceSize = 64 << 10

    /// - Throws: if the origin or the client ends the transfer early. The connection is closed then, so that the client does not take a
    ///   part for the whole.
    private func write(
        _ response: MirrorResponse, to request: HTTPRequest, _ channel: any Channel, _ writer: consuming ResponseWriter
    ) async throws {
        var head = response.head
        if requests.isStopping { head.headerFields[.connection] = "close" }
        if request.method == .head { return try await writer.write(response: head, body: ResponseBody()) }
        if let stream = response.stream { return try await write(stream, head, channel, writer) }
        var rest = response.body
        if rest.count <= Self.sliceSize {
            let body = rest.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: rest))
            return try await writer.write(response: head, body: body)
        }
        var bodyWriter = try await writer.writeHead(head)
        while !rest.isEmpty {
            try await bodyWriter.write(ByteBuffer(bytes: rest.prefix(Self.sliceSize)))
            rest = rest.dropFirst(Self.sliceSize)
            // The next write waits for room: the event loop has to know of this one.
            try await channel.eventLoop.submit {}.get()
        }
        try await bodyWriter.finish(nil)
        withExtendedLifetime(response.held) {}
    }

    private func write(
        _ body: StreamedBody, _ head: HTTPResponse, _ channel: any Channel, _ writer: consuming ResponseWriter
    ) async throws {
        do {
            var bodyWriter = try await writer.writeHead(head)
            while let chunk = try await body.next() {
                try await bodyWriter.write(ByteBuffer(bytes: chunk))
                try await channel.eventLoop.submit {}.get()
            }
            try await bodyWriter.finish(nil)
        } catch {
            body.cancel()
            throw error
        }
    }
}
