/// Bounds-checked reads of bytes by offset: a read past the end gives nil.
package struct ByteView {
    package let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// The bytes that are looked at to recognise a type, at most: what a server sends must not decide how long that takes.
    static let maximumBeginning = 64 << 10
    var beginning: ByteView { ByteView(UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.maximumBeginning))) }

    package func byte(_ offset: Int) -> UInt8? {
        offset >= 0 && offset < bytes.count ? bytes[offset] : nil
    }

    /// The bytes from `offset` on; nil if they are fewer than `size`.
    package func part(_ offset: Int, _ size: Int) -> ByteView? {
        has(offset, size) ? ByteView(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + size])) : nil
    }

    /// An unsigned integer of `size` bytes, at most 4, most significant first.
    package func bigEndian(_ offset: Int, _ size: Int) -> Int? {
        guard has(offset, size) else { return nil }
        return bytes[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
    }

    /// An unsigned integer of `size` bytes, at most 4, least significant first.
    package func littleEndian(_ offset: Int, _ size: Int) -> Int? {
        guard has(offset, size) else { return nil }
        return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Whether this ASCII text is at an offset.
    package func has(_ text: StaticString, at offset: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard has(offset, length) else { return false }
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: length)
        return bytes[offset..<offset + length].elementsEqual(expected)
    }

    /// The same, ignoring case. - Parameter text: in lower case.
    func hasIgnoringCase(_ text: StaticString, at offset: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard has(offset, length) else { return false }
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: length)
        return zip(bytes[offset..<offset + length], expected).allSatisfy { found, letter in
            found == letter || (found >= 0x41 && found <= 0x5A && found + 0x20 == letter)
        }
    }

    /// The first offset of this ASCII text, from `offset` on.
    func offset(of text: StaticString, from offset: Int) -> Int? {
        let first = text.utf8Start.pointee
        var start = offset
        while let found = bytes.firstOffset(of: first, from: start) {
            if has(text, at: found) { return found }
            start = found + 1
        }
        return nil
    }

    /// The first offset of a byte that is no white space, from `offset` on; the end if there is none.
    func afterBlanks(_ offset: Int) -> Int {
        var offset = offset
        while let byte = byte(offset), Byte.isBlank(byte) { offset += 1 }
        return offset
    }

    // Offsets come from untrusted bytes, so a sum can overflow; a difference cannot.
    private func has(_ offset: Int, _ size: Int) -> Bool {
        offset >= 0 && offset <= bytes.count && size <= bytes.count - offset
    }
}

extension UnsafeRawBufferPointer {
    /// The first offset of `byte`, from `start` on.
    func firstOffset(of byte: UInt8, from start: Int) -> Int? {
        start < count ? self[start...].firstIndex(of: byte) : nil
    }
}

enum Byte {
    static let quote = UInt8(ascii: "\"")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let openBrace = UInt8(ascii: "{")
    static let less = UInt8(ascii: "<")

    /// Space, tab, line feed, vertical tab, form feed, carriage return.
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
