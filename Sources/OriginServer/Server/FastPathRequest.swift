import NIOCore

/// A request that `FastPathHandler` answers: `GET /covers/N.jpg HTTP/1.1`, optionally with `?delay=MS`, and with only
/// those header fields that do not affect the response.
struct FastPathRequest: Equatable {
    let number: Int
    /// In milliseconds; nil is the origin's default.
    var delay: Int?

    /// Removes one request from the front of `buffer`. Returns nil and leaves the buffer as it is if it does not start
    /// with a complete request of this form.
    init?(consuming buffer: inout ByteBuffer) {
        let parsed = buffer.withUnsafeReadableBytes { bytes -> (request: Self, length: Int)? in
            var scanner = Scanner(bytes: bytes)
            return Self(&scanner).map { ($0, scanner.offset) }
        }
        guard let parsed else { return nil }
        self = parsed.request
        buffer.moveReaderIndex(forwardBy: parsed.length)
    }

    private init?(_ scanner: inout Scanner) {
        // Eighteen digits fit into an Int.
        guard scanner.skip("GET /covers/"), let number = scanner.number(maximumDigits: 18), scanner.skip(".jpg")
        else { return nil }
        self.number = number
        if scanner.skip("?delay=") {
            // Seven digits are less than `ResponseOptions.maximumDelay`.
            guard let delay = scanner.number(maximumDigits: 7) else { return nil }
            self.delay = delay
        }
        guard scanner.skip(" HTTP/1.1\r\n") else { return nil }
        while !scanner.skip("\r\n") {
            guard scanner.skipIgnoredField() else { return nil }
        }
    }
}

private struct Scanner {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    /// The start of the lines that are skipped, in lower case.
    private static let ignoredFields: [StaticString] = [
        "host:", "user-agent:", "accept:", "accept-encoding:", "accept-language:",
    ]

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func skip(_ text: StaticString) -> Bool {
        guard matches(text, where: { $0 == $1 }) else { return false }
        offset += text.utf8CodeUnitCount
        return true
    }

    /// Reads a decimal number without leading zeros.
    mutating func number(maximumDigits: Int) -> Int? {
        let digits = bytes[offset...].prefix(maximumDigits).prefix { (0x30...0x39).contains($0) }
        guard let first = digits.first, first != 0x30 || digits.count == 1 else { return nil }
        offset += digits.count
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Skips the line of a field that does not affect the response. Returns false if the line is another field's, is
    /// incomplete or does not end with CRLF.
    mutating func skipIgnoredField() -> Bool {
        let isIgnored = Self.ignoredFields.contains { name in
            matches(name) { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
        }
        guard isIgnored, let end = bytes[offset...].firstIndex(where: { $0 == 0x0D || $0 == 0x0A }) else {
            return false
        }
        offset = end
        return skip("\r\n")
    }

    private func matches(_ text: StaticString, where areEqual: (UInt8, UInt8) -> Bool) -> Bool {
        text.withUTF8Buffer { bytes[offset...].starts(with: $0, by: areEqual) }
    }
}
