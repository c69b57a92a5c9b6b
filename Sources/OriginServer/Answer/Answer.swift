import HTTPTypes
import NIOCore

/// A response before it is sent: everything is decided, nothing is written.
struct Answer: Sendable {
    var head: HTTPResponse
    var body: Body
    /// Waited before the first byte.
    var delay: Duration = .zero
    /// Waits for `Origin.release()`.
    var isHeld = false

    enum Body: Sendable {
        case none
        /// At most so many bytes a second; nil: in one piece.
        case bytes(ByteBuffer, perSecond: Int?)
        /// The bytes, then the end of the connection, whatever `Content-Length` said.
        case cut(ByteBuffer)
        /// The bytes, then filler until the client goes away.
        case endless(ByteBuffer, perSecond: Int?)
        /// The connection is reset.
        case reset
        /// The connection closes.
        case close
        /// Nothing, for ever.
        case never
    }

    init(_ status: Int, _ fields: HTTPFields = [:], _ body: Body = .none) {
        head = HTTPResponse(status: .init(code: status), headerFields: fields)
        self.body = body
    }

    /// A line of text.
    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> Answer {
        let bytes = ByteBuffer(string: text)
        return Answer(
            status, [.contentType: type, .contentLength: String(bytes.readableBytes)], .bytes(bytes, perSecond: nil))
    }

    /// The same without a body, for HEAD. What is no body stays: silence and resets do not care about methods.
    consuming func withoutBody() -> Answer {
        switch body {
        case .bytes(let bytes, _), .cut(let bytes), .endless(let bytes, _):
            // Without a length NIO would frame a body there is not.
            if head.headerFields[.contentLength] == nil {
                head.headerFields[.contentLength] = String(bytes.readableBytes)
            }
            body = .none
        case .none, .reset, .close, .never: break
        }
        return self
    }
}
