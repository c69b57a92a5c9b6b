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
