package import HTTPTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One line of the text in which a cache entry stores the fields of its response: `name: value`.
package struct FieldLine {
    package let name: Bytes
    /// To the byte as it was received, but for a value that is no UTF-8 (`String.append(fieldLine:)`).
    package let value: Bytes

    /// Removes the first line with a colon from `lines`. Nil if there is none.
    package init?(_ lines: inout Bytes) {
        while !lines.isEmpty {
            let line = lines.removePrefix(before: UInt8(ascii: "\n"))
            guard let colon = line.offset(of: UInt8(ascii: ":")) else { continue }
            name = line[to: colon]
            value = line[from: min(colon + 2, line.count)]
            return
        }
        return nil
    }

    /// The private-use scalars that stand for the bytes 0x80 to 0xFF of a value that is no UTF-8.
    static let rawBytes: ClosedRange<UInt32> = 0xEF80...0xEFFF

    static func scalar(of byte: UInt8) -> Unicode.Scalar {
        byte < 0x80 ? Unicode.Scalar(byte) : Unicode.Scalar(0xEF00 | UInt32(byte)) ?? "?"
    }

    /// The field with the value as it was received.
    func field(_ name: HTTPField.Name) -> HTTPField {
        // The first byte of these scalars in UTF-8.
        guard value.contains(0xEE) else { return HTTPField(name: name, value: value) }
        let scalars = value.string.unicodeScalars
        guard scalars.contains(where: { Self.rawBytes.contains($0.value) }) else {
            return HTTPField(name: name, value: value)
        }
        return HTTPField(name: name, value: scalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }
}

extension String {
    /// Appends the line of a field. The text is UTF-8, and a value need not be (RFC 9110 section 5.5): in a value that is not, or
    /// that holds a scalar of `FieldLine.rawBytes`, each byte from 0x80 on is the scalar 0xEF00 + byte.
    mutating func append(fieldLine field: HTTPField) {
        append(field.name.canonicalName)
        append(": ")
        field.withUnsafeBytesOfValue { bytes in
            let text =
                bytes.allSatisfy { $0 < 0x80 }
                ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
            if let text, !text.unicodeScalars.contains(where: { FieldLine.rawBytes.contains($0.value) }) {
                append(text)
            } else {
                for byte in bytes { unicodeScalars.append(FieldLine.scalar(of: byte)) }
            }
        }
        append("\n")
    }
}

extension HTTPFields {
    /// The fields among the lines of an entry. Lines that are no fields are ignored.
    package init(fieldLines text: String) {
        self.init()
        text.withBytes { lines in
            var rest = lines
            while let line = FieldLine(&rest) {
                guard let name = HTTPField.Name(line.name.string) else { continue }
                append(line.field(name))
            }
        }
    }
}

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
