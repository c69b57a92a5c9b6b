import CCurl
import HTTPTypes

/// How much of a body arrived, as it was sent (before content codings were removed), and how its end is marked.
struct BodyExtent {
    /// Bytes that arrived.
    let received: Int
    /// The `Content-Length`, unless a transfer coding overrides it (RFC 9112 section 6.3); nil if there is none.
    let announced: Int?
    /// The protocol shows that the body is complete. Otherwise it ended with the connection, or with an HTTP/2 stream: libcurl before
    /// 8.0 does not tell a stream that was reset without an error from one that ended.
    let isEndMarked: Bool
    /// The `Content-Range` covers the complete representation, and all of it arrived (RFC 9110 section 14.4).
    let isWhole: Bool

    /// Whether a response with this status to a GET has a body, of the length in its `Content-Length` (RFC 9110 section 6.4.1).
    func hasBody(_ status: HTTPResponse.Status) -> Bool { status != .noContent && status != .notModified }

    init(of easy: UnsafeMutableRawPointer) {
        received = Int(clamping: easy.offset(CURLINFO_SIZE_DOWNLOAD_T))
        let coding = ResponseFields.value("Transfer-Encoding", of: easy)
        announced = coding == nil ? ResponseFields.value("Content-Length", of: easy).flatMap { Int($0) } : nil
        isEndMarked = coding?.lowercased().hasSuffix("chunked") ?? (announced != nil)
        isWhole = ResponseFields.value("Content-Range", of: easy)?.lowercased() == "bytes 0-\(received - 1)/\(received)"
    }
}
