import CoverLibrary
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServerChannels

/// Between the wire and the mirror: a request comes in whole, its answer goes out.
struct MirrorFront: Sendable {
    let mirror: Mirror
    let hosts: AllowedHosts
    let largestBody: Int
    let underWay = UnderWay()

    /// - Throws: when the connection is to end.
    func respond(to request: Request, on channel: any Channel, with writer: consuming ResponseWriter) async throws {
        underWay.begin()
        defer { underWay.end() }
        try await respondCounted(to: request, on: channel, with: writer)
        if underWay.isEnding {
            // Once all that was written has left.
            try await channel.close(mode: .output).get()
            throw Ended()
        }
    }

    private func respondCounted(
        to request: Request, on channel: any Channel, with writer: consuming ResponseWriter
    ) async throws {
        let head = request.head
        guard let host = head.authority, hosts.contains(host) else {
            return try await refuse(
                head, 421, "this mirror is not known by that name; start it with --name to allow one", channel, writer)
        }
        var body: [UInt8]?
        if head.headerFields.contains(.contentLength) || head.headerFields.contains(.transferEncoding) {
            let tooLong = "a mirror takes requests of at most \(largestBody) bytes"
            if let length = head.headerFields[.contentLength].flatMap({ Int($0) }), length > largestBody {
                return try await refuse(head, 413, tooLong, channel, writer)
            }
            // Whoever asks first is told to go on only where the body may be taken (RFC 9110 §10.1.1); neither NIO nor
            // Hummingbird answers that by itself.
            if head.headerFields[.expect]?.lowercased() == "100-continue" {
                try await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            guard let bytes = try? await request.body.collect(upTo: largestBody) else {
                return try await refuse(head, 413, tooLong, channel, writer)
            }
            body = Array(bytes.readableBytesView)
        }
        // NIO leaves out the hyphen.
        let method = head.method.rawValue == "MSEARCH" ? HTTPRequest.Method("M-SEARCH")! : head.method
        let asked = MirrorRequest(method: method, target: head.path ?? "", fields: head.headerFields, body: body)

        // 1xx responses go out as they come, all of them before the final one.
        let (interims, told) = AsyncStream.makeStream(of: HTTPResponse.self)
        async let answering = answer(asked, telling: told)
        for await interim in interims { try await writer.writeInformationalHead(interim) }
        let answer = await answering

        if head.method == .head, !answer.head.headerFields.contains(.contentLength) {
            return try await end(answer.head, channel, writer)
        }
        if let passing = answer.passing { return try await pass(passing, answer.head, writer) }
        let bytes = answer.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        try await writer.write(response: answer.head, body: bytes)
    }

    /// - Throws: when either side breaks off, so that the connection ends and what has come is not taken for the whole.
    private func pass(_ body: PassingBody, _ head: HTTPResponse, _ writer: consuming ResponseWriter) async throws {
        do {
            var out = try await writer.writeHead(head)
            while let piece = try await body.next() { try await out.write(ByteBuffer(bytes: piece)) }
            try await out.finish(nil)
        } catch {
            body.abandon()
            throw error
        }
    }

    private func answer(
        _ request: MirrorRequest, telling told: AsyncStream<HTTPResponse>.Continuation
    ) async -> MirrorAnswer {
        defer { told.finish() }
        return await mirror.answer(request) { told.yield($0) }
    }

    /// An answer after which the connection ends, since the rest of the request is not read.
    private func refuse(
        _ request: HTTPRequest, _ status: Int, _ text: String, _ channel: any Channel,
        _ writer: consuming ResponseWriter
    ) async throws {
        let body = ByteBuffer(string: text + "\n")
        let head = HTTPResponse(
            status: .init(code: status),
            headerFields: [
                .contentType: "text/plain; charset=utf-8", .contentLength: String(body.readableBytes),
                .connection: "close",
            ])
        try await writer.write(
            response: head, body: request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: body))
        try await channel.close(mode: .output).get()
        throw Ended()
    }

    /// The length of what a GET would bring is not known. NIO would then end a body that HEAD does not have with a chunk of
    /// its own, which the next answer's reader would stumble on: so there is no next answer.
    private func end(
        _ head: HTTPResponse, _ channel: any Channel, _ writer: consuming ResponseWriter
    ) async throws {
        var head = head
        head.headerFields[.connection] = "close"
        _ = try await writer.writeHead(head)
        try await channel.close(mode: .output).get()
        throw Ended()
    }

    private struct Ended: Error {}
}
