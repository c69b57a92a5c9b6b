/// The media type and pixel size that the first bytes of an image say.
///
/// It checks the signature and reads the header; it decodes nothing. The bytes are untrusted: every read is bounds-checked, and
/// the size is nil if the header is truncated or invalid, never a guess.
package struct ImageHeader: Equatable, Sendable {
    /// As registered with IANA, such as `image/jpeg`.
    package var mediaType: String
    /// As stored: a rotation in metadata is not applied. Nil if the header has no valid size, and for formats whose size is not read: JPEG XL,
    /// BMP, TIFF, SVG, and AVIF and HEIC with items of different sizes.
    package var size: PixelSize?
    /// A side is longer than any picture's.
    let isImpossible: Bool

    package var width: Int? { size?.width }
    package var height: Int? { size?.height }

    /// Recognises JPEG, PNG, GIF, WebP, AVIF, HEIC, JPEG XL, BMP, TIFF and SVG. Nil if the bytes are no image, or claim an impossible size:
    /// nothing that decodes pictures gets them.
    /// However long the body is, it looks at 64 KiB at most.
    /// - Parameter bytes: the whole body if possible: 64 KiB and more of metadata, which are passed unseen, can precede a JPEG's size.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let header = Self.recognized(ByteView(bytes)), !header.isImpossible else { return nil }
        self = header
    }

    /// What recognises a type looks at this many bytes, at most.
    package static let maximumBeginning = ByteView.maximumBeginning

    /// Whether a longer body that begins with these bytes may be an image.
    package static func mayBegin(with bytes: UnsafeRawBufferPointer) -> Bool {
        let view = ByteView(bytes)
        if let header = recognized(view) { return !header.isImpossible }
        // What identifies the image may come later: the properties of an AVIF, the root element of an SVG.
        return isISOMedia(view) || isMarkupWithoutRoot(view)
    }

    static func recognized(_ view: ByteView) -> ImageHeader? {
        switch view.byte(0) {
        case 0xFF?: jpeg(view) ?? jpegXL(view) ?? svgInUTF16(view)
        case 0x89?: png(view)
        case UInt8(ascii: "G")?: gif(view)
        case UInt8(ascii: "R")?: webP(view)
        case UInt8(ascii: "B")?: bmp(view)
        case UInt8(ascii: "I")?, UInt8(ascii: "M")?: tiff(view)
        case 0?: isoMedia(view) ?? jpegXLContainer(view) ?? svgInUTF16(view)
        default: svg(view) ?? svgInUTF16(view)
        }
    }

    /// - Parameters:
    ///   - width: in pixels; the size is unknown unless both are positive.
    ///   - height: in pixels.
    package init(_ mediaType: String, _ width: Int? = nil, _ height: Int? = nil) {
        self.mediaType = mediaType
        size = PixelSize(width, height)
        isImpossible = max(width ?? 0, height ?? 0) > PixelSize.maximumSide
    }
}

/// The width and the height of a picture, in pixels.
///
/// Headers, tags, rows and other programs claim any numbers. What is no plausible side is no size, so a product of two sides, or of a side
/// and a small factor, cannot overflow.
package struct PixelSize: Equatable, Sendable {
    /// The longest side: that of JPEG and GIF. No cover is so large.
    package static let maximumSide = 65_535

    package let width: Int
    package let height: Int

    /// Returns nil unless both sides are known and 1 to `maximumSide`.
    package init?(_ width: Int?, _ height: Int?) {
        guard let width, let height, (1...Self.maximumSide).contains(width), (1...Self.maximumSide).contains(height)
        else { return nil }
        (self.width, self.height) = (width, height)
    }

    package var pixelCount: Int { width * height }
}

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

/// AVIF and HEIC: brands of the AVIF specification section 8 and of ISO/IEC 23008-12 (HEIF) section 10.
extension ImageHeader {
    /// The size is that of all items: a file whose items differ, as it holds thumbnails, tiles or gain maps, has none here, for only the
    /// primary one counts.
    static func isoMedia(_ view: ByteView) -> ImageHeader? {
        guard let length = view.bigEndian(0, 4), view.has("ftyp", at: 4), let type = mediaType(view, length) else {
            return nil
        }
        // `meta` is a full box: version and flags precede its boxes.
        guard let meta = Boxes(view, in: 0..<view.count).first("meta").map({ Boxes(view, in: $0.dropFirst(4)) }),
            let properties = meta.first("iprp").map({ Boxes(view, in: $0) }),
            let container = properties.first("ipco").map({ Boxes(view, in: $0) })
        else { return nil }
        var common: ImageHeader?
        // `ispe` (ISO/IEC 23008-12 section 6.5.3): version and flags, width, height.
        for box in container where view.has("ispe", at: box.type) && box.contents.count >= 12 {
            let start = box.contents.lowerBound
            let header = ImageHeader(type, view.bigEndian(start + 4, 4), view.bigEndian(start + 8, 4))
            if header.isImpossible { return header }
            if let known = common, known != header { common = ImageHeader(type) } else { common = header }
        }
        return common ?? ImageHeader(type)
    }

    /// Whether it begins as an AVIF or a HEIC does.
    static func isISOMedia(_ view: ByteView) -> Bool {
        guard let length = view.bigEndian(0, 4), view.has("ftyp", at: 4) else { return false }
        return mediaType(view, length) != nil
    }

    /// By the major brand first, then by the compatible ones. Nil for a video.
    private static func mediaType(_ view: ByteView, _ length: Int) -> String? {
        // The minor version separates the major brand from the compatible ones. No real list has more than 32.
        let brands = [8] + stride(from: 16, to: min(length, view.count, 16 + 4 * 32), by: 4)
        var isHEIF = false
        for brand in brands {
            if view.has("avif", at: brand) || view.has("avis", at: brand) { return "image/avif" }
            for name: StaticString in ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]
            where view.has(name, at: brand) {
                return "image/heic"
            }
            if view.has("mif1", at: brand) || view.has("msf1", at: brand) { isHEIF = true }
        }
        return isHEIF ? "image/heif" : nil
    }
}

/// Whether an image has several frames.
extension ImageHeader {
    /// Length of the beginning of a file that shows whether it is an animation, in bytes, unless it has more of metadata.
    package static let animationMark = 64 << 10

    /// Whether a PNG or a WebP says, before its first frame's data, that it is an animation: `acTL` (W3C PNG specification, third edition,
    /// section 11.3.6.1), and the flag of `VP8X` (RFC 9649 section 2.7). The decoders know one frame only.
    /// - Parameter bytes: the whole image, or its beginning.
    package static func isAnimated(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let view = ByteView(bytes)
        if view.has("RIFF", at: 0), view.has("WEBPVP8X", at: 8) { return view.byte(20).map { $0 & 2 != 0 } ?? false }
        guard view.bigEndian(0, 4) == 0x8950_4E47 else { return false }
        var offset = 8
        while !view.has("IDAT", at: offset + 4), let length = view.bigEndian(offset, 4) {
            if view.has("acTL", at: offset + 4) { return view.bigEndian(offset + 8, 4) ?? 0 > 1 }
            offset += 12 + length
        }
        return false
    }
}

extension ImageHeader {
    /// Names what bytes that are no image look like, for an error message: `an HTML page`, `JSON`, `XML`, `text`,
    /// `an empty body`, `compressed data (gzip)`, `a header that claims an impossible size` or `unknown data`.
    package static func describe(_ bytes: UnsafeRawBufferPointer) -> String {
        if recognized(ByteView(bytes))?.isImpossible == true { return "a header that claims an impossible size" }
        let view = ByteView(bytes).beginning
        let start = view.afterBlanks(view.bigEndian(0, 3) == 0xEFBBBF ? 3 : 0)
        guard let first = view.byte(start) else { return "an empty body" }
        // RFC 1952 section 2.3.1. Requests ask for no content encoding, and none is decoded.
        if view.bigEndian(0, 2) == 0x1F8B { return "compressed data (gzip)" }
        switch first {
        case Byte.less: return describeMarkup(view)
        case Byte.openBrace, Byte.openBracket: return isText(bytes) ? "JSON" : "unknown data"
        default: return isText(bytes) ? "text" : "unknown data"
        }
    }

    private static func describeMarkup(_ view: ByteView) -> String {
        let prologue = MarkupPrologue(view)
        if prologue.isHTML { return "an HTML page" }
        if let root = prologue.root {
            let tags: [StaticString] = ["html", "head", "body", "title", "script", "meta", "div", "p>", "h1", "center"]
            if tags.contains(where: { view.hasIgnoringCase($0, at: root + 1) }) { return "an HTML page" }
        }
        return isText(view.bytes) ? "XML" : "unknown data"
    }

    /// Whether the first 512 bytes have no control characters except white space.
    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.prefix(512).allSatisfy { byte in byte >= 0x20 ? byte != 0x7F : Byte.isBlank(byte) }
    }
}
