import HTTPTypes

/// What passes of the heads of a transfer's responses: counted, so that a server cannot have us gather fields without end
/// (libcurl does so by itself from 8.3 on), and looked into as far as libcurl keeps nothing of earlier responses: their status.
struct ResponseHeads {
    private let limit: Int
    private var length = 0
    /// Statuses of 3xx, in order.
    private var redirections: [Int] = []
    var isTooLarge: Bool { length > limit }

    /// Whether the last head came to its end. libcurl is content with one that was cut off (RFC 9112 section 8 is not).
    private(set) var isWhole = true

    init(limit: Int = 0) { self.limit = limit }

    /// Takes a line, or a trailer's. False stops the transfer.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        length += line.count
        if isTooLarge { return false }
        // A status line is `HTTP/1.1 301 Moved`; no field's name has a slash in it (RFC 9110 section 5.6.2).
        if line.count > 9, line[4] == UInt8(ascii: "/"), line[0] == UInt8(ascii: "H") {
            isWhole = false
            note(line)
        } else if line.count <= 2 {
            isWhole = true
        }
        return true
    }

    private mutating func note(_ line: UnsafeRawBufferPointer) {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return }
        let code = line[(space + 1)...].prefix(3)
        guard code.first == UInt8(ascii: "3") else { return }
        redirections += Int(String(decoding: code, as: UTF8.self)).map { [$0] } ?? []
    }

    /// The responses that were followed, with the fields that are kept of any; none when they cannot be told apart.
    func redirects(from easy: UnsafeMutableRawPointer) -> [HTTPResponse] {
        redirections.enumerated().map { number, status in
            HTTPResponse(status: .init(code: status), headerFields: ResponseFields.read(from: easy, request: number))
        }
    }
}
