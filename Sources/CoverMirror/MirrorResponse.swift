import CurlHTTP
import HTTPCaching
package import HTTPTypes
import Platform
import ServerChannels
import Synchronization

/// A mirror's response to a client.
package struct MirrorResponse: Sendable {
    package var head: HTTPResponse
    /// Empty for HEAD, whatever `Content-Length` says.
    package var body: ArraySlice<UInt8>
    /// Replaces `body` if that is too large to store.
    package var stream: StreamedBody?
    /// Holds the memory of `body` until the response is written.
    var held: ByteBudget.Reservation?

    init(status: Int, fields: HTTPFields, body: ArraySlice<UInt8> = [], stream: StreamedBody? = nil) {
        head = HTTPResponse(status: .init(code: status), headerFields: fields)
        self.body = body
        self.stream = stream
    }

    /// A response of the mirror itself, with one line of text.
    static func generated(_ status: Int, _ text: String, _ cacheStatus: CacheStatus? = nil) -> MirrorResponse {
        let body = Array((Redaction.redact(text) + "\n").utf8)
        var fields: HTTPFields = [
            .contentType: "text/plain; charset=utf-8", .contentLength: String(body.count), .cacheControl: "no-store",
            .date: HTTPDate.text(WallClock.milliseconds() / 1_000),
        ]
        if let cacheStatus { fields[.cacheStatus] = cacheStatus.text }
        return MirrorResponse(status: status, fields: fields, body: body[...])
    }

    /// Refuses a request of which no more is read.
    static func refusal(_ status: Int, _ text: String) -> MirrorResponse {
        var response = generated(status, text)
        response.head.headerFields[.connection] = "close"
        return response
    }

    /// Refuses a request because memory or descriptors are used up.
    static func busy(_ text: String) -> MirrorResponse {
        var response = refusal(503, "\(text); try again later")
        response.head.headerFields[.retryAfter] = "5"
        return response
    }

    /// Each cache appends a member to `Cache-Status` (RFC 9211 section 2).
    func with(_ status: CacheStatus, holding held: ByteBudget.Reservation? = nil) -> MirrorResponse {
        var response = self
        if let held { response.held = held }
        response.head.headerFields.append(HTTPField(name: .cacheStatus, value: status.text))
        return response
    }
}

/// A body that one reader receives chunk by chunk, without being stored.
package final class StreamedBody: Sendable {
    private let stream: ResponseStream
    private let length = Atomic(0)
    private let didComplete: @Sendable (Int) -> Void
    private let didEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - didComplete: called with the body's length in bytes if all of it was received.
    ///   - didEnd: called when the object is released, complete or not.
    init(stream: ResponseStream, didComplete: @escaping @Sendable (Int) -> Void, didEnd: @escaping @Sendable () -> Void)
    {
        self.stream = stream
        self.didComplete = didComplete
        self.didEnd = didEnd
    }

    deinit {
        stream.cancel()
        didEnd()
    }

    /// The next chunk. Nil at the end. - Throws: `TransferError` if the origin's response is incomplete.
    package func next() async throws -> [UInt8]? {
        let chunk = try await stream.next()
        if let chunk {
            length.wrappingAdd(chunk.count, ordering: .relaxed)
        } else {
            didComplete(length.load(ordering: .relaxed))
        }
        return chunk
    }

    /// Cancels the transfer.
    package func cancel() { stream.cancel() }
}

extension HTTPField.Name {
    static let pragma = Self("Pragma")!
    static let cacheStatus = Self("Cache-Status")!
}
