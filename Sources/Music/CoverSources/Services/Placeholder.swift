/// Pictures that services show in place of a cover that they do not have. They are never written. Why one is such a picture is told as a clause
/// about it.
package enum Placeholder {
    /// Parts of the URLs of placeholders: Deezer's without an image's hash or with the MD5 of nothing, Discogs' pixel.
    private static let urlParts = [
        "/images/cover//", "/images/artist//", "d41d8cd98f00b204e9800998ecf8427e", "/images/spacer.gif",
    ]
    /// Smaller pictures are spacers, in pixels.
    private static let minimumSide = 16

    /// Whether a URL has the form that a service gives such pictures.
    static func isAt(_ url: String) -> Bool { urlParts.contains(where: url.contains) }

    /// Nil for a picture that may be a cover.
    /// - Parameters:
    ///   - width: in pixels; nil if it is not known.
    ///   - hasOneColour: Only known of a picture that was decoded.
    package static func reason(width: Int?, height: Int?, hasOneColour: Bool = false) -> String? {
        let isSpacer = [width, height].compactMap(\.self).contains { $0 < minimumSide }
        if isSpacer { return "is too small for any cover" }
        return hasOneColour ? "has one colour only, as placeholders have" : nil
    }
}
