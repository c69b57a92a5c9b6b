/// JPEG XL: a codestream (ISO/IEC 18181-1), or a container of boxes around one (ISO/IEC 18181-2).
extension ImageHeader {
    /// A codestream: the signature FF 0A, then the size header.
    static func jpegXL(_ view: ByteView) -> ImageHeader? {
        view.bigEndian(0, 2) == 0xFF0A ? jpegXLCodestream(view, 0) : nil
    }

    /// A container: a signature box, then boxes, of which `jxlc` holds the codestream, or several `jxlp` hold its parts.
    static func jpegXLContainer(_ view: ByteView) -> ImageHeader? {
        guard view.bigEndian(0, 4) == 12, view.has("JXL ", at: 4), view.bigEndian(8, 4) == 0x0D0A_870A else {
            return nil
        }
        let boxes = Boxes(view, in: 12..<view.count)
        // A 4-byte sequence number precedes the data of a part.
        let start = boxes.first("jxlc")?.lowerBound ?? boxes.first("jxlp").map { $0.lowerBound + 4 }
        guard let start, view.bigEndian(start, 2) == 0xFF0A else { return ImageHeader("image/jxl") }
        return jpegXLCodestream(view, start)
    }

    /// The size header (ISO/IEC 18181-1): the height, then the width, explicit or as a ratio to the height.
    private static func jpegXLCodestream(_ view: ByteView, _ offset: Int) -> ImageHeader {
        var bits = BitReader(view, at: offset + 2)
        let unknown = ImageHeader("image/jxl")
        guard let isSmall = bits.read(1) else { return unknown }
        func length() -> Int? {
            if isSmall == 1 { return bits.read(5).map { 8 * ($0 + 1) } }
            return bits.read(2).flatMap { bits.read([9, 13, 18, 30][$0]) }.map { $0 + 1 }
        }
        guard let height = length(), let ratio = bits.read(3) else { return unknown }
        if ratio == 0 { return ImageHeader("image/jxl", length(), height) }
        let (numerator, denominator) = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)][ratio - 1]
        return ImageHeader("image/jxl", height * numerator / denominator, height)
    }
}

/// Reads unsigned integers, least significant bit first.
private struct BitReader {
    private let view: ByteView
    /// In bits.
    private var offset: Int

    init(_ view: ByteView, at offset: Int) {
        self.view = view
        self.offset = 8 * offset
    }

    /// The next `count` bits; nil past the end.
    mutating func read(_ count: Int) -> Int? {
        var value = 0
        for bit in 0..<count {
            guard let byte = view.byte(offset / 8) else { return nil }
            value |= Int(byte >> (offset % 8) & 1) << bit
            offset += 1
        }
        return value
    }
}
