import CCurl
package import HTTPTypes

/// The response fields that a private cache needs.
package enum ResponseFields {
    static let names: [HTTPField.Name] = [
        .contentType, .eTag, .lastModified, .cacheControl, .expires, .date, .age, .vary, .retryAfter,
    ]

    /// The longest value that is kept, in bytes: all that is stored of a response is below 16 KiB.
    private static let maximumLength = 1 << 10
    /// The values that stand for longer ones: a part of them might permit what the whole forbids. Other long fields count as missing.
    private static let cautious: [HTTPField.Name: String] = [.cacheControl: "no-store", .vary: "*"]

    /// Those among all fields of a response. Several lines of one field are joined with commas (RFC 9110 section 5.3).
    package static func cached(_ fields: HTTPFields) -> HTTPFields {
        var joined = HTTPFields()
        for name in names {
            let lines = fields[fields: name].map { $0.withUnsafeBytesOfValue { Array($0) } }
            if lines.isEmpty { continue }
            let value = Array(lines.joined(separator: Array(", ".utf8)))
            if value.count <= maximumLength {
                joined.append(HTTPField(name: name, value: value))
            } else if let value = cautious[name] {
                joined.append(HTTPField(name: name, value: value))
            }
        }
        return joined
    }
}

/// How much of a body arrived, as it was sent (before content codings were removed), and how its end is marked.
struct BodyExtent {
    /// Bytes that arrived.
    let received: Int
    /// As `ResponseHeads.announcedLength`.
    let announced: Int?
    /// The protocol shows that the body is complete. Otherwise it ended with the connection, or with an HTTP/2 stream: libcurl before
    /// 8.0 does not tell a stream that was reset without an error from one that ended. Nor does it tell a content coding that stops early, as
    /// of a file that was cut off before it was sent, from one that ends; what follows its end may be a second member (RFC 1952 section 2.2).
    let isEndMarked: Bool
    /// The `Content-Range` covers the complete representation, and all of it arrived (RFC 9110 section 14.4).
    let isWhole: Bool

    init(of easy: UnsafeMutableRawPointer, _ heads: ResponseHeads) {
        received = Int(clamping: easy.offset(CURLINFO_SIZE_DOWNLOAD_T))
        announced = heads.announcedLength
        let isFramed = heads.first(.transferEncoding)?.lowercased().hasSuffix("chunked") ?? (announced != nil)
        isEndMarked = isFramed && heads.first(.contentEncoding) == nil
        isWhole = heads.first(.contentRange)?.lowercased() == "bytes 0-\(received - 1)/\(received)"
    }
}
