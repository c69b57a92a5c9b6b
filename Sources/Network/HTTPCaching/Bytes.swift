#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The UTF-8 bytes of a string, valid inside `withBytes` only. A refresh parses the fields of every cached entry, so parsers read
/// bytes in place instead of allocating substrings.
package typealias Bytes = UnsafeBufferPointer<UInt8>

extension UnsafeBufferPointer<UInt8> {
    /// Compares ASCII letters without regard to case.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where Self.lowercased(self[index]) != Self.lowercased(text.utf8Start[index]) {
            return false
        }
        return true
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Optional white space (RFC 9110 section 5.6.3).
    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Removes and returns the part before the first `separator`, and removes the separator. All bytes if there is none.
    mutating func removePrefix(before separator: UInt8) -> Bytes {
        let end = offset(of: separator) ?? count
        defer { self = self[from: Swift.min(end + 1, count)] }
        return self[to: end]
    }

    /// The first offset of `byte`.
    func offset(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let found = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(start).distance(to: found)
    }

    subscript(from start: Int) -> Bytes { Bytes(rebasing: self[start...]) }
    subscript(to end: Int) -> Bytes { Bytes(rebasing: self[..<end]) }

    /// Without white space at either end.
    var trimmed: Bytes { self[from: firstIndex { !Self.isBlank($0) } ?? count].trimmedAtEnd }
    var trimmedAtEnd: Bytes { self[to: (lastIndex { !Self.isBlank($0) } ?? -1) + 1] }

    package var string: String { String(decoding: self, as: UTF8.self) }
}

extension String {
    package func withBytes<Result>(_ body: (Bytes) throws -> Result) rethrows -> Result {
        var text = self
        return try text.withUTF8(body)
    }
}
