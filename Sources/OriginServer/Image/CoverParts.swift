import NIOCore

/// A cover's JPEG in two parts: a prefix of its own, and a picture's tail that many covers share without copying it.
struct CoverParts: Sendable {
    /// From the frame header to the end.
    let tail: ByteBuffer
    /// All bytes.
    let length: Int
    private let label: Substring.UTF8View
    private let colors: Colors
    private let padding: Int

    /// How strong the two chroma components are: their quantisers. Pictures are encoded for 8 and 8; a decoder that reads
    /// other ones sees the same drawing in stronger or weaker blues and reds.
    struct Colors: Sendable {
        let blue: UInt8
        let red: UInt8

        init(_ hash: UInt64) {
            blue = UInt8(4 + hash % 10)
            red = UInt8(4 + (hash >> 8) % 10)
        }
    }

    /// What stands before the tail: SOI, APP0, a short comment, three DQT.
    static let usualPrefix = fixedPrefix + 26
    private static let fixedPrefix = 2 + 18 + 4 + 3 * 69

    /// - Parameters:
    ///   - label: who the cover is; it becomes the first comment, and makes the bytes unique.
    ///   - size: pad to this many bytes with more comments.
    init(label: String, colors: Colors, tail: ByteBuffer, size: Int) {
        self.label = label.prefix(200).utf8
        self.colors = colors
        self.tail = tail
        let natural = Self.fixedPrefix + self.label.count + tail.readableBytes
        // A comment has at least four bytes; one to three bytes too few are let be.
        padding = size - natural >= 4 ? size - natural : 0
        length = natural + padding
    }

    /// The file in one buffer.
    func joined() -> ByteBuffer {
        var file = ByteBuffer()
        file.reserveCapacity(length)
        writePrefix(to: &file)
        file.writeImmutableBuffer(tail)
        return file
    }

    func writePrefix(to file: inout ByteBuffer) {
        file.writeImmutableBuffer(Self.start)
        Self.writeComment(length: label.count, to: &file)
        file.writeBytes(label)
        writePadding(to: &file)
        file.writeImmutableBuffer(Self.luma)
        Self.writeQuantiser(1, colors.blue, to: &file)
        Self.writeQuantiser(2, colors.red, to: &file)
    }

    private func writePadding(to file: inout ByteBuffer) {
        var left = padding
        while left > 0 {
            // Never leave a rest too short to be a segment.
            let whole = left <= 65_537 ? left : min(65_537, left - 4)
            Self.writeComment(length: whole - 4, to: &file)
            file.writeRepeatingByte(0x20, count: whole - 4)
            left -= whole
        }
    }

    private static func writeComment(length: Int, to file: inout ByteBuffer) {
        file.writeInteger(0xFFFE as UInt16)
        file.writeInteger(UInt16(length + 2))
    }

    /// A DQT segment for chroma: DC, the five slopes (see `Picture`), the rest.
    private static func writeQuantiser(_ number: UInt8, _ strength: UInt8, to file: inout ByteBuffer) {
        file.writeInteger(0xFFDB_0043 as UInt32)
        file.writeInteger(number)
        file.writeInteger(strength)
        file.writeRepeatingByte(max(1, strength * 5 / 8), count: 5)
        file.writeRepeatingByte(strength, count: 58)
    }

    /// SOI, then APP0: JFIF 1.02, square pixels, no thumbnail.
    private static let start = ByteBuffer(
        bytes: [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 2, 0, 0, 1, 0, 1, 0, 0])

    /// The DQT segment for luma, in zigzag order: DC, the five slopes, then grain that grows coarser.
    private static let luma = ByteBuffer(
        bytes: [0xFF, 0xDB, 0, 67, 0, Mosaic.quantiser] + [5, 5, 5, 5, 5] + (6..<64 as Range<UInt8>).map { 5 + $0 / 6 })
}
