import Platform

/// The ASCII characters that structure JSON and CSV.
enum Byte {
    static let tab = UInt8(ascii: "\t")
    static let newline = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let comma = UInt8(ascii: ",")
    static let semicolon = UInt8(ascii: ";")
    static let colon = UInt8(ascii: ":")
    static let hash = UInt8(ascii: "#")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let zero = UInt8(ascii: "0")
    static let less = UInt8(ascii: "<")
    /// U+FEFF, with which some programs begin a file. In files that were joined it is anywhere.
    static let orderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Whether `byte` is a space, tab, line feed, vertical tab, form feed or carriage return.
    @inline(__always)
    static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }

    /// The byte as a message shows it.
    static func name(_ byte: UInt8) -> String {
        if byte == newline || byte == carriageReturn { return "the end of the line" }
        if byte >= 0x20 && byte < 0x7F { return "'\(Character(UnicodeScalar(byte)))'" }
        return "byte 0x\(Hexadecimal.text([byte]).uppercased())"
    }
}

extension UnsafeRawBufferPointer {
    /// The offset of the first `byte` at or after `start`; nil if there is none.
    @inline(__always)
    func firstOffset(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let baseAddress,
            let found = memchr(baseAddress + start, CInt(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - baseAddress
    }

    /// The same bytes without whitespace at either end.
    @inline(__always)
    var trimmed: UnsafeRawBufferPointer {
        var low = 0
        var high = count
        while low < high, Byte.isWhitespace(self[low]) { low += 1 }
        while high > low, Byte.isWhitespace(self[high - 1]) { high -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[low..<high])
    }

    /// The text of these bytes. Bytes that are not UTF-8 become U+FFFD.
    @inline(__always)
    var text: String { String(decoding: self, as: UTF8.self) }
}

extension String {
    /// The text as one line of a message: no control characters, at most 60 characters.
    package var inMessage: String {
        let safe = String(
            String.UnicodeScalarView(
                prefix(61).unicodeScalars.prefix(200).map { scalar in
                    scalar.value < 0x20 || (scalar.value >= 0x7F && scalar.value < 0xA0) ? " " : scalar
                }))
        return safe.count > 60 ? safe.prefix(60) + "…" : safe
    }

    /// The text without whitespace and invisible characters at either end: texts that were pasted from web pages, and files that were
    /// joined, have no-break spaces, zero-width characters and byte order marks there.
    package func trimmingWhitespace() -> String {
        guard let first = utf8.first, let last = utf8.last,
            first >= 0x80 || last >= 0x80 || Byte.isWhitespace(first) || Byte.isWhitespace(last)
        else { return self }
        let text = unicodeScalars.drop(while: \.isInvisible)
        let end = text.lastIndex { !$0.isInvisible }.map(text.index(after:)) ?? text.startIndex
        return String(text[..<end])
    }
}

extension Unicode.Scalar {
    /// Whether it is whitespace, or is drawn as nothing. A variation selector changes how the character before it is drawn.
    var isInvisible: Bool {
        properties.isWhitespace || properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector
    }
}
