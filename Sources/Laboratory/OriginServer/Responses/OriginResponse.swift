import HTTPTypes
import NIOCore

/// A response that is decided but not sent.
struct OriginResponse: Sendable {
    var head: HTTPResponse
    var body: Body
    /// The delay before the first byte.
    var delay: Duration = .zero
    /// The response waits for `Origin.release()`.
    var isHeld = false

    enum Body: Sendable {
        case none
        /// Sends the bytes; nil sends them without a limit.
        case bytes(ByteBuffer, perSecond: Int?)
        /// Sends the bytes and closes the connection, even if `Content-Length` announces another length.
        case bytesThenClose(ByteBuffer)
        /// Sends the bytes and then filler until the client closes the connection.
        case endless(ByteBuffer, perSecond: Int?)
        /// Resets the connection (RST). Nothing is sent.
        case reset
        /// Closes the connection (FIN). Nothing is sent.
        case close
        /// Sends nothing and keeps the connection open.
        case never
    }

    init(_ status: Int, _ fields: HTTPFields = [:], _ body: Body = .none) {
        head = HTTPResponse(status: .init(code: status), headerFields: fields)
        self.body = body
    }

    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> OriginResponse {
        let bytes = ByteBuffer(string: text)
        return OriginResponse(
            status, [.contentType: type, .contentLength: String(bytes.readableBytes)], .bytes(bytes, perSecond: nil))
    }

    /// The response to HEAD. Faults that send nothing stay as they are.
    consuming func withoutBody() -> OriginResponse {
        switch body {
        case .bytes(let bytes, _), .bytesThenClose(let bytes), .endless(let bytes, _):
            // Without a length, NIO would frame a body.
            if head.headerFields[.contentLength] == nil {
                head.headerFields[.contentLength] = String(bytes.readableBytes)
            }
            body = .none
        case .none, .reset, .close, .never: break
        }
        return self
    }
}
