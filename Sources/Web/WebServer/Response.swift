package import HTTPTypes

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
