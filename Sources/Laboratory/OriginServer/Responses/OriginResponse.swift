import HTTPTypes

/// A response that is decided but not sent.
struct OriginResponse: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: Body
    /// The body is sent without a length.
    var isChunked = false
    /// The delay before the first byte.
    var delay: Duration = .zero
    /// The response waits for `Origin.release()`.
    var isHeld = false

    enum Body: Sendable {
        case none
        /// Sends the bytes; nil sends them without a limit.
        case bytes([UInt8], perSecond: Int?)
        /// Sends the bytes and closes the connection, whatever length `Content-Length` announces.
        case bytesThenClose([UInt8])
        /// Sends the bytes and then filler until the client closes the connection.
        case endless([UInt8], perSecond: Int?)
        /// Resets the connection (RST). Nothing is sent.
        case reset
        /// Closes the connection (FIN). Nothing is sent.
        case close
        /// Sends nothing and keeps the connection open.
        case never
    }

    init(_ status: Int, _ headers: HTTPFields = [:], _ body: Body = .none) {
        self.status = .init(code: status)
        self.headers = headers
        self.body = body
    }

    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> OriginResponse {
        OriginResponse(status, [.contentType: type], .bytes(Array(text.utf8), perSecond: nil))
    }

    /// The response to HEAD: the server sends no body, but its length. Faults that send nothing stay as they are.
    consuming func withoutBody() -> OriginResponse {
        switch body {
        case .bytes(let bytes, _), .bytesThenClose(let bytes), .endless(let bytes, _):
            body = .bytes(bytes, perSecond: nil)
        case .none, .reset, .close, .never: break
        }
        isChunked = false
        return self
    }
}
