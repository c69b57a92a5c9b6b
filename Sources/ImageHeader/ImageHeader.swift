/// What the leading bytes of a cover say about it: that it is an image, of which type and size.
///
/// It judges the signature and reads the header; it does not decode. The bytes are not trusted: every read is checked
/// against their end, and a header that is cut off or makes no sense leaves the size unknown.
package struct ImageHeader: Equatable, Sendable {
    /// As registered with IANA: `image/jpeg`.
    package var mediaType: String
    /// In pixels, as stored (a rotation in the metadata is not applied); `nil` where the header does not say.
    package var width: Int?
    /// In pixels; `nil` exactly when `width` is.
    package var height: Int?

    /// Recognises JPEG, PNG, GIF, WebP, AVIF, HEIC, BMP, TIFF and SVG. `nil`: not an image. Give it the whole body where
    /// it is at hand: a JPEG's size may stand behind 64 KiB and more of metadata.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        let view = ByteView(bytes)
        let found: ImageHeader? =
            switch view.byte(0) {
            case 0xFF?: .jpeg(view)
            case 0x89?: .png(view)
            case UInt8(ascii: "G")?: .gif(view)
            case UInt8(ascii: "R")?: .webP(view)
            case UInt8(ascii: "B")?: .bmp(view)
            case UInt8(ascii: "I")?, UInt8(ascii: "M")?: .tiff(view)
            case 0?: .isoMedia(view)
            default: .svg(view)
            }
        guard let found else { return nil }
        self = found
    }

    /// A size of nothing is no size.
    init(_ mediaType: String, _ size: (width: Int, height: Int)? = nil) {
        self.mediaType = mediaType
        guard let size, size.width > 0 && size.height > 0 else { return }
        width = size.width
        height = size.height
    }
}
