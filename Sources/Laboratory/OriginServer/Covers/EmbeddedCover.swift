import CStarterCovers

/// A starter album's cover in the sizes that are embedded in the binary.
struct EmbeddedCover: Sendable {
    /// The name in the URL, such as "low-tide".
    let slug: String
    /// JPEGs of 600, 320 and 200 pixels.
    let images: [[UInt8]]

    static let all = (0..<sleeve_cover_count).map { EmbeddedCover(sleeve_cover_at($0)) }

    /// A JPEG of 32 pixels.
    static let jpegIcon = bytes(of: sleeve_icon_jpeg())
    /// A PNG of 32 pixels.
    static let pngIcon = bytes(of: sleeve_icon_png())

    private init(_ cover: sleeve_cover) {
        slug = String(cString: cover.slug)
        images = [cover.pixels_600, cover.pixels_320, cover.pixels_200].map(Self.bytes)
    }

    private static func bytes(of image: sleeve_image) -> [UInt8] {
        Array(UnsafeBufferPointer(start: image.bytes, count: image.length))
    }

    /// The largest image that leaves room for a cover's comment in a file of `size` bytes, or the icon.
    func image(forFileOf size: Int) -> [UInt8] {
        images.first { $0.count + CoverImage.maximumCommentLength <= size } ?? Self.jpegIcon
    }
}

extension CoverImage {
    /// The JPEG of 600 pixels of a starter album; nil for an unknown slug.
    package static func starter(_ slug: String) -> [UInt8]? {
        EmbeddedCover.all.first { $0.slug == slug }.map { $0.images[0] }
    }
}
