/// Formats whose size is at a fixed offset, or behind a chain of segments; and BMP, TIFF and JPEG XL, whose size is not read.
extension ImageHeader {
    /// JPEG: ITU-T T.81 (ISO/IEC 10918-1) annex B. The start of frame (SOF, B.2.2) has the height and the width.
    static func jpeg(_ view: ByteView) -> ImageHeader? {
        guard view.bigEndian(0, 3) == 0xFFD8FF else { return nil }
        // DHT, JPG and DAC are no frames.
        let frame = JPEGSegments(view).first { 0xC0...0xCF ~= $0.marker && ![0xC4, 0xC8, 0xCC].contains($0.marker) }
        guard let start = frame?.contents.lowerBound else { return ImageHeader("image/jpeg") }
        return ImageHeader("image/jpeg", view.bigEndian(start + 3, 2), view.bigEndian(start + 1, 2))
    }

    static func tiff(_ view: ByteView) -> ImageHeader? { TIFFDirectory(view).map { _ in ImageHeader("image/tiff") } }

    /// PNG: W3C PNG specification (ISO/IEC 15948) sections 5.2 and 11.2.1. IHDR is always the first chunk.
    static func png(_ view: ByteView) -> ImageHeader? {
        guard view.bigEndian(0, 4) == 0x8950_4E47, view.bigEndian(4, 4) == 0x0D0A_1A0A else { return nil }
        guard view.has("IHDR", at: 12) else { return ImageHeader("image/png") }
        return ImageHeader("image/png", view.bigEndian(16, 4), view.bigEndian(20, 4))
    }

    /// GIF: CompuServe's GIF89a specification, sections 17 (header) and 18 (logical screen descriptor).
    static func gif(_ view: ByteView) -> ImageHeader? {
        guard view.has("GIF87a", at: 0) || view.has("GIF89a", at: 0) else { return nil }
        return ImageHeader("image/gif", view.littleEndian(6, 2), view.littleEndian(8, 2))
    }

    /// WebP: RFC 9649 sections 2.3 to 2.7 (containers) and 3.4 (lossless header); RFC 6386 section 9.1 (lossy header).
    static func webP(_ view: ByteView) -> ImageHeader? {
        guard view.has("RIFF", at: 0), view.has("WEBP", at: 8) else { return nil }
        let data = 20
        if view.has("VP8X", at: 12) {
            let width = view.littleEndian(data + 4, 3), height = view.littleEndian(data + 7, 3)
            return ImageHeader("image/webp", width.map { $0 + 1 }, height.map { $0 + 1 })
        }
        if view.has("VP8L", at: 12), view.byte(data) == 0x2F, let bits = view.littleEndian(data + 1, 4) {
            // 14 bits of width - 1 and 14 of height - 1.
            return ImageHeader("image/webp", bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        }
        // A frame tag of 3 bytes and a start code of 3 precede 14 bits each, with 2 bits of scaling above.
        guard view.has("VP8 ", at: 12), view.bigEndian(data + 3, 3) == 0x9D012A,
            let width = view.littleEndian(data + 6, 2), let height = view.littleEndian(data + 8, 2)
        else { return ImageHeader("image/webp") }
        return ImageHeader("image/webp", width & 0x3FFF, height & 0x3FFF)
    }

    /// BMP: Microsoft's BITMAPFILEHEADER, then BITMAPCOREHEADER (12 bytes) or a later one, which begins with its length.
    static func bmp(_ view: ByteView) -> ImageHeader? {
        // "BM" also begins texts, so the length of the second header is checked as part of the signature.
        guard view.has("BM", at: 0), let length = view.littleEndian(14, 4),
            [12, 16, 40, 52, 56, 64, 108, 124].contains(length)
        else { return nil }
        return ImageHeader("image/bmp")
    }

    /// JPEG XL: a codestream (ISO/IEC 18181-1).
    static func jpegXL(_ view: ByteView) -> ImageHeader? {
        view.bigEndian(0, 2) == 0xFF0A ? ImageHeader("image/jxl") : nil
    }

    /// JPEG XL in a container, which begins with a signature box (ISO/IEC 18181-2).
    static func jpegXLContainer(_ view: ByteView) -> ImageHeader? {
        guard view.bigEndian(0, 4) == 12, view.has("JXL ", at: 4), view.bigEndian(8, 4) == 0x0D0A_870A else {
            return nil
        }
        return ImageHeader("image/jxl")
    }
}
