import HTTPTypes

/// What is recorded of the heads of a transfer's responses: their length, which libcurl limits only from 8.3 on, and the statuses
/// of redirects, which libcurl does not keep.
struct ResponseHeads {
    private let limit: Int
    private var length = 0
    private var redirectStatuses: [Int] = []
    var isTooLarge: Bool { length > limit }

    /// Whether the last head is complete. libcurl accepts one that is cut off, against RFC 9112 section 8.
    private(set) var isComplete = true

    /// Whether the last line sets a cookie.
    private(set) var setsCookie = false

    init(limit: Int = 0) { self.limit = limit }

    /// Records a line of a head or a trailer. - Returns: false to end the transfer.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        length += line.count
        if isTooLarge { return false }
        setsCookie = Self.isSetCookie(line)
        // A status line, such as `HTTP/1.1 301 Moved`. A field name contains no slash (RFC 9110 section 5.6.2).
        if line.count > 9, line[4] == UInt8(ascii: "/"), line[0] == UInt8(ascii: "H") {
            isComplete = false
            recordStatus(line)
        } else if line.count <= 2 {
            isComplete = true
        }
        return true
    }

    private static func isSetCookie(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count > 10 && line[10] == UInt8(ascii: ":")
            && zip(line, "set-cookie".utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }

    private mutating func recordStatus(_ line: UnsafeRawBufferPointer) {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return }
        let code = line[(space + 1)...].prefix(3)
        guard code.first == UInt8(ascii: "3"), let status = Int(String(decoding: code, as: UTF8.self)) else { return }
        redirectStatuses.append(status)
    }

    /// The redirects that were followed, each with the fields that `ResponseFields` reads.
    func redirects(from easy: UnsafeMutableRawPointer) -> [HTTPResponse] {
        redirectStatuses.enumerated().map { number, status in
            HTTPResponse(status: .init(code: status), headerFields: ResponseFields.read(from: easy, request: number))
        }
    }
}
