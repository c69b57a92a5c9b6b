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
    /// - Parameter bytes: the whole body if possible: 64 KiB and more of metadata can precede a JPEG's size.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let header = Self.recognized(ByteView(bytes)), !header.isImpossible else { return nil }
        self = header
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

/// Whether an image's bytes reach the end that its format marks.
extension ImageHeader {
    /// False if a JPEG, PNG, GIF or WebP is cut off. A transfer can be complete and its image not: a server may hold a part of a file.
    /// True for other formats, and if bytes follow the end.
    /// - Parameter bytes: the whole body.
    package static func isComplete(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let view = ByteView(bytes)
        if view.bigEndian(0, 3) == 0xFFD8FF { return hasJPEGEnd(view) }
        // IEND is the last chunk (W3C PNG specification, section 5.6): its length, its type, and a checksum.
        if view.bigEndian(0, 4) == 0x8950_4E47 {
            return view.has("IEND", at: view.count - 8) || view.offset(of: "IEND", from: 8) != nil
        }
        if view.has("GIF8", at: 0) { return hasGIFTrailer(view) }
        // The length of the file follows, without the first 8 bytes (RFC 9649 section 2.4).
        if view.has("RIFF", at: 0), view.has("WEBP", at: 8), let length = view.littleEndian(4, 4) {
            return length <= view.count - 8
        }
        return true
    }

    /// ITU-T T.81 annex B: the end of image (EOI) follows the last scan. The segments before the first scan may hold a thumbnail with an
    /// own end. In a scan, FF is followed by 00 or by a marker.
    private static func hasJPEGEnd(_ view: ByteView) -> Bool {
        var segments = JPEGSegments(view)
        while segments.next() != nil {}
        // Nearly every file ends with it. Others have some bytes more, or another image.
        var end = view.count - 2
        while end >= segments.offset {
            if view.bigEndian(end, 2) == 0xFFD9 { return true }
            end -= 1
        }
        return false
    }

    /// GIF89a specification, sections 17 to 27: blocks, each with its sub-blocks, up to the trailer.
    private static func hasGIFTrailer(_ view: ByteView) -> Bool {
        func colors(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        guard let flags = view.byte(10) else { return false }
        var offset = 13 + colors(flags)
        while let block = view.byte(offset) {
            switch block {
            case 0x3B: return true
            case 0x21: offset += 2  // an extension and its label
            case 0x2C:
                guard let flags = view.byte(offset + 9) else { return false }
                offset += 11 + colors(flags)
            default: return true  // no block of GIF89a: what it means is unknown
            }
            while let length = view.byte(offset), length > 0 { offset += 1 + Int(length) }
            offset += 1
        }
        return false
    }
}
