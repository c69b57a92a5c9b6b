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

/// Iterates over the boxes of ISO/IEC 14496-12 section 4.2 in a range of bytes. It ends at a box whose length is not valid, or when it has
/// looked at the headers of 8,192 boxes, which are `ByteView.maximumBeginning` bytes.
struct Boxes: Sequence, IteratorProtocol {
    struct Box {
        /// The offset of the four characters of the type.
        var type: Int
        /// Cut at the end of a truncated body.
        var contents: Range<Int>
    }

    private let view: ByteView
    private var rest: Range<Int>
    private var remaining = ByteView.maximumBeginning / 8

    init(_ view: ByteView, in range: Range<Int>) {
        self.view = view
        rest = range
    }

    /// The contents of the first box of a type.
    func first(_ type: StaticString) -> Range<Int>? { first(where: { view.has(type, at: $0.type) })?.contents }

    mutating func next() -> Box? {
        let offset = rest.lowerBound
        guard remaining > 0, offset < rest.upperBound, let size = view.bigEndian(offset, 4) else { return nil }
        remaining -= 1
        var header = 8
        var length = size
        if size == 0 {
            length = rest.count  // to the end
        } else if size == 1 {
            // A 64-bit length. No cover exceeds 4 GiB.
            guard view.bigEndian(offset + 8, 4) == 0, let long = view.bigEndian(offset + 12, 4) else { return nil }
            header = 16
            length = long
        }
        guard length >= header, offset + header <= rest.upperBound else { return nil }
        // The last box of a truncated body is cut at its end.
        let end = Swift.min(offset + length, rest.upperBound)
        rest = end..<rest.upperBound
        return Box(type: offset + 4, contents: offset + header..<end)
    }
}

/// Iterates over the segments of a JPEG before the first scan (ITU-T T.81 annex B): each has a marker and a length. Fill bytes and stray
/// bytes between them are skipped, as decoders do. It ends at a segment whose length is not valid, or when it has looked at
/// `ByteView.maximumBeginning` bytes. The contents of segments, which may be megabytes of metadata, are passed unseen.
package struct JPEGSegments: Sequence, IteratorProtocol {
    package struct Segment {
        package var marker: UInt8
        /// Without the length. The body may end before it.
        package var contents: Range<Int>
    }

    private let view: ByteView
    /// Of the marker that the iteration has ended at, at its end.
    private(set) var offset = 2
    /// The number of bytes that may still be looked at.
    private var rest = ByteView.maximumBeginning

    package init(_ view: ByteView) { self.view = view }

    package mutating func next() -> Segment? {
        while let start = UnsafeRawBufferPointer(rebasing: view.bytes.prefix(offset + rest))
            .firstOffset(of: 0xFF, from: offset), let marker = view.byte(start + 1)
        {
            rest = Swift.max(0, rest - (start - offset) - 4)
            offset = start
            switch marker {
            // Any number of fill bytes may precede a marker (B.1.1.2).
            case 0xFF: offset += 1
            // A byte FF of data (B.1.1.5), and markers that stand alone.
            case 0x00, 0x01, 0xD0...0xD8: offset += 2
            // The end, or a scan.
            case 0xD9, 0xDA: return nil
            default:
                guard let length = view.bigEndian(start + 2, 2), length >= 2 else { return nil }
                offset += 2 + length
                return Segment(marker: marker, contents: start + 4..<offset)
            }
        }
        return nil
    }
}

/// The first directory of a TIFF file (TIFF 6.0 section 2), in either byte order. Exif metadata are such a file.
package struct TIFFDirectory {
    private let view: ByteView
    private let isLittle: Bool
    /// Entries of 12 bytes. Truncated files have fewer.
    private let entries: StrideTo<Int>

    /// - Returns: nil if the bytes are no TIFF.
    package init?(_ view: ByteView) {
        isLittle = view.bigEndian(0, 4) == 0x4949_2A00
        guard isLittle || view.bigEndian(0, 4) == 0x4D4D_002A else { return nil }
        self.view = view
        let start = Self.number(view, isLittle, 4, 4) ?? view.count
        let count = Self.number(view, isLittle, start, 2) ?? 0
        entries = stride(from: start + 2, to: start + 2 + 12 * count, by: 12)
    }

    /// The value of a tag: a SHORT (3) or a LONG (4), stored in the entry itself. Nil if there is none.
    package func number(of tag: Int) -> Int? {
        for entry in entries {
            guard let found = Self.number(view, isLittle, entry, 2) else { return nil }
            guard found == tag, let type = Self.number(view, isLittle, entry + 2, 2) else { continue }
            return type == 3 || type == 4 ? Self.number(view, isLittle, entry + 8, type == 3 ? 2 : 4) : nil
        }
        return nil
    }

    private static func number(_ view: ByteView, _ isLittle: Bool, _ offset: Int, _ size: Int) -> Int? {
        isLittle ? view.littleEndian(offset, size) : view.bigEndian(offset, size)
    }
}
