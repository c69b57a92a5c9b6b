/// The extensions of pictures' files.
package enum PictureType {
    private static let extensions: [(mediaType: String, names: [String])] = [
        ("image/jpeg", ["jpg", "jpeg"]), ("image/png", ["png"]), ("image/webp", ["webp"]), ("image/gif", ["gif"]),
        ("image/avif", ["avif"]), ("image/jxl", ["jxl"]), ("image/bmp", ["bmp"]), ("image/tiff", ["tif", "tiff"]),
        ("image/heic", ["heic"]), ("image/heif", ["heif"]), ("image/svg+xml", ["svg"]),
    ]

    /// The extension of a media type such as `image/jpeg`, without a dot.
    package static func fileExtension(_ mediaType: String) -> String {
        extensions.first { $0.mediaType == mediaType }?.names[0] ?? "img"
    }

    /// The media type of an extension in lower case; nil if it is no picture's.
    package static func mediaType(extension name: String) -> String? {
        extensions.first { $0.names.contains(name) }?.mediaType
    }
}
