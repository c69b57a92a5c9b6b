import CCurl
package import HTTPTypes
import Platform

/// Parses the heads of a transfer's responses, which libcurl delivers line by line: 1xx responses, then the final response.
/// Trailers are only counted.
struct ResponseHeads {
    /// The fields of the last head, a field for each line.
    private(set) var fields = HTTPFields()
    /// Whether the last head is complete. libcurl accepts one that is cut off, against RFC 9112 section 8.
    private(set) var isComplete = true
    /// Whether the last line sets a cookie.
    private(set) var setsCookie = false
    /// Whether the connection ends after the response (RFC 9112 section 9.6).
    private(set) var closes = false
    /// libcurl limits the length of heads only from 8.3 on, and the number of their lines from 8.6 on.
    var isTooLarge: Bool { length > limit || lines > Self.maximumLines }

    /// Of all heads together, trailers included.
    static let maximumLines = 5_000
    private let limit: Int
    private var length = 0
    private var lines = 0
    /// The last field, unless it is not kept. It is complete when no folded line follows.
    private var last: (name: HTTPField.Name, value: [UInt8])?

    /// - Parameter limit: of all heads together, in bytes.
    init(limit: Int = 0) { self.limit = limit }

    // MARK: Parsing

    /// Counts a line of a head or a trailer. - Returns: false to end the transfer.
    mutating func count(_ line: UnsafeRawBufferPointer) -> Bool {
        length += line.count
        lines += 1
        return !isTooLarge
    }

    /// Reads a line of a head. - Returns: false to end the transfer.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        guard count(line) else { return false }
        setsCookie = false
        var bytes = line[...]
        while let last = bytes.last, last == 10 || last == 13 || Self.isBlank(last) { bytes.removeLast() }
        if bytes.starts(with: "HTTP/".utf8) {
            (fields, isComplete, last, closes) = ([:], false, nil, false)
        } else if bytes.isEmpty {
            keepLast()
            isComplete = true
        } else if !isComplete {
            add(bytes)
        }
        return true
    }

    private mutating func add(_ line: Slice<UnsafeRawBufferPointer>) {
        if let first = line.first, Self.isBlank(first) {
            // Obsolete line folding (RFC 9112 section 5.2).
            last?.value += [UInt8(ascii: " ")] + line.drop(while: Self.isBlank)
            return
        }
        keepLast()
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = line[..<colon]
        setsCookie = Self.isName(name, .setCookie)
        if Self.isName(name, .connection) || Self.isName(name, Self.proxyConnection) {
            let value = line[line.index(after: colon)...]
            closes = closes || value.indices.contains { Self.is(value[$0...].prefix(5), "close") }
        }
        guard let kept = Self.names[name.count]?.first(where: { Self.isName(name, $0) }) else { return }
        last = (kept, Array(line[line.index(after: colon)...].drop(while: Self.isBlank)))
    }

    private mutating func keepLast() {
        if let last { fields.append(HTTPField(name: last.name, lenientValue: last.value)) }
        last = nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    private static func isName(_ bytes: Slice<UnsafeRawBufferPointer>, _ name: HTTPField.Name) -> Bool {
        `is`(bytes, name.canonicalName)
    }

    /// - Parameter text: in lower case.
    private static func `is`(_ bytes: Slice<UnsafeRawBufferPointer>, _ text: String) -> Bool {
        bytes.count == text.utf8.count
            && zip(bytes, text.utf8).allSatisfy { $0 == $1 || (0x41...0x5A).contains($0) && $0 | 0x20 == $1 }
    }

    // MARK: The fields

    private static let proxyConnection = HTTPField.Name("Proxy-Connection")!

    /// The names of the fields of a cover that are kept, by their lengths: a response has many others.
    private static let names = Dictionary(
        grouping: ResponseFields.names
            + [.contentLength, .contentRange, .contentEncoding, .transferEncoding, .location],
        by: { $0.canonicalName.utf8.count })

    /// The first line of a field.
    func first(_ name: HTTPField.Name) -> String? { fields[fields: name].first?.value }

    /// The value of `Location`, as the server wrote it. Bytes are percent-encoded if they are not UTF-8.
    var location: String? {
        guard let bytes = fields[fields: .location].first?.withUnsafeBytesOfValue({ Array($0) }), !bytes.isEmpty else {
            return nil
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(decoding: bytes.flatMap { $0 < 0x80 ? [$0] : PercentEncoding.encoded($0) }, as: UTF8.self)
    }

    /// The `Content-Length`, unless a transfer coding overrides it (RFC 9112 section 6.3); nil if there is none. A number that is too large for
    /// an `Int` is the largest.
    var announcedLength: Int? {
        guard first(.transferEncoding) == nil, let text = first(.contentLength) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        return digits.isEmpty ? nil : Int(digits) ?? .max
    }

    /// Whether the body's length is unclear (RFC 9112 section 6.3): a `Content-Length` is no number, or two differ. libcurl takes what a number
    /// begins with, and the first of several in a line.
    var hasInvalidLength: Bool {
        let lines = fields[values: .contentLength]
        if lines.count <= 1, lines.allSatisfy(Self.isNumber) { return false }
        let lengths = lines.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map { length in
            let words = length.split { $0 == " " || $0 == "\t" }
            return words.count == 1 ? String(words[0]) : ""
        }
        return !lengths.allSatisfy { !$0.isEmpty && Self.isNumber($0) }
            || Set(lengths.map { $0.drop { $0 == "0" } }).count > 1
    }

    private static func isNumber(_ text: String) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

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
