#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The bytes the formats are made of.
package enum Byte {
    package static let tab = UInt8(ascii: "\t")
    package static let newline = UInt8(ascii: "\n")
    package static let carriageReturn = UInt8(ascii: "\r")
    package static let quote = UInt8(ascii: "\"")
    package static let backslash = UInt8(ascii: "\\")
    package static let comma = UInt8(ascii: ",")
    package static let semicolon = UInt8(ascii: ";")
    package static let colon = UInt8(ascii: ":")
    package static let hash = UInt8(ascii: "#")
    package static let openBracket = UInt8(ascii: "[")
    package static let closeBracket = UInt8(ascii: "]")
    package static let openBrace = UInt8(ascii: "{")
    package static let closeBrace = UInt8(ascii: "}")
    package static let zero = UInt8(ascii: "0")
    package static let less = UInt8(ascii: "<")

    /// Space, tab, line feed, vertical tab, form feed, carriage return.
    @inline(__always)
    package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }

    /// As a message shows it.
    package static func name(_ byte: UInt8) -> String {
        if byte == newline || byte == carriageReturn { return "the end of the line" }
        if byte >= 0x20 && byte < 0x7F { return "'\(Character(UnicodeScalar(byte)))'" }
        let hex = String(byte, radix: 16, uppercase: true)
        return "byte 0x\(hex.count < 2 ? "0" : "")\(hex)"
    }
}

extension UnsafeRawBufferPointer {
    /// Where `byte` is, from `start` on; `nil` when it is not there.
    @inline(__always)
    package func firstOffset(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let baseAddress,
            let found = memchr(baseAddress + start, CInt(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - baseAddress
    }

    /// The same bytes without blanks at either end.
    @inline(__always)
    package var trimmed: UnsafeRawBufferPointer {
        var low = 0
        var high = count
        while low < high, Byte.isBlank(self[low]) { low += 1 }
        while high > low, Byte.isBlank(self[high - 1]) { high -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[low..<high])
    }

    /// The text of these bytes; what is not UTF-8 becomes U+FFFD.
    @inline(__always)
    package var text: String { String(decoding: self, as: UTF8.self) }
}

extension String {
    /// Fit for one line of a message: no control characters, no more than 60 characters.
    package var inMessage: String {
        let safe = String(
            String.UnicodeScalarView(
                prefix(61).unicodeScalars.prefix(200).map { scalar in
                    scalar.value < 0x20 || (scalar.value >= 0x7F && scalar.value < 0xA0) ? " " : scalar
                }))
        return safe.count > 60 ? safe.prefix(60) + "…" : safe
    }
}

extension String {
    /// Without ASCII blanks at either end.
    package func trimmingBlanks() -> String {
        guard let first = utf8.first, let last = utf8.last, Byte.isBlank(first) || Byte.isBlank(last) else {
            return self
        }
        let text = utf8.drop(while: Byte.isBlank)
        let end = text.lastIndex { !Byte.isBlank($0) }.map(text.index(after:)) ?? text.startIndex
        return String(text[..<end]) ?? self
    }
}
