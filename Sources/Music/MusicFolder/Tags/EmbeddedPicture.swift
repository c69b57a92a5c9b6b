/// A picture in the tags of an audio file.
package struct EmbeddedPicture: Sendable, Hashable, Codable {
    /// The types of a front cover, and of a picture of which nothing is said, in ID3v2 (2.3, section 4.15) and FLAC (RFC 9639, section 8.8).
    package static let (frontCover, other) = (3, 0)

    package var type: Int
    /// By the picture's first bytes, such as `image/jpeg`; nil if it is no image that is known.
    package var mediaType: String?
    /// In pixels; nil if the header does not say.
    package var width: Int?
    package var height: Int?
    package var byteCount: Int
    /// SHA-256, 64 hexadecimal digits.
    package var digest: String

    /// Pixels on the shorter side below which a picture is a witness rather than the cover.
    private static let smallSide = 500

    /// Whether it is taken only if no service has a certain cover: it is small, or wider than 4:3, as the pictures of films are and no cover is.
    var isLastResort: Bool {
        guard let width, let height else { return false }
        return min(width, height) < Self.smallSide || width * 3 > height * 4
    }
}
