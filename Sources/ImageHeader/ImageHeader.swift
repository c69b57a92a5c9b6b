/// The media type and pixel size that the first bytes of an image say.
///
/// It checks the signature and reads the header; it decodes nothing. The bytes are untrusted: every read is bounds-checked, and
/// the size is nil if the header is truncated or invalid.
package struct ImageHeader: Equatable, Sendable {
    /// As registered with IANA, such as `image/jpeg`.
    package var mediaType: String
    /// In pixels, as stored: a rotation in Exif metadata is not applied. Nil if the header has no valid size.
    package var width: Int?
    /// In pixels. Nil exactly if `width` is nil.
    package var height: Int?

    /// Recognises JPEG, PNG, GIF, WebP, AVIF, HEIC, JPEG XL, BMP, TIFF and SVG. Nil if the bytes are no image.
    /// - Parameter bytes: the whole body if possible: 64 KiB and more of metadata can precede a JPEG's size.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        let view = ByteView(bytes)
        let header: ImageHeader? =
            switch view.byte(0) {
            case 0xFF?: .jpeg(view) ?? .jpegXL(view) ?? .svgInUTF16(view)
            case 0x89?: .png(view)
            case UInt8(ascii: "G")?: .gif(view)
            case UInt8(ascii: "R")?: .webP(view)
            case UInt8(ascii: "B")?: .bmp(view)
            case UInt8(ascii: "I")?, UInt8(ascii: "M")?: .tiff(view)
            case 0?: .isoMedia(view) ?? .jpegXLContainer(view) ?? .svgInUTF16(view)
            default: .svg(view) ?? .svgInUTF16(view)
            }
        guard let header else { return nil }
        self = header
    }

    /// - Parameters:
    ///   - width: in pixels; the size is unknown unless both are positive.
    ///   - height: in pixels.
    init(_ mediaType: String, _ width: Int? = nil, _ height: Int? = nil) {
        self.mediaType = mediaType
        guard let width, let height, width > 0, height > 0 else { return }
        self.width = width
        self.height = height
    }
}
