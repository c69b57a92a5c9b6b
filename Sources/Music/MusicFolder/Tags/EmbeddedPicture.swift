/// A picture in the tags of an audio file.
package struct EmbeddedPicture: Sendable, Hashable, Codable {
    /// The type of a front cover in ID3v2 and FLAC.
    package static let frontCover = 3

    package var type: Int
    /// By the picture's first bytes, such as `image/jpeg`; nil if it is no image that is known.
    package var mediaType: String?
    /// In pixels; nil if the header does not say.
    package var width: Int?
    package var height: Int?
    package var byteCount: Int
    /// SHA-256, 64 hexadecimal digits.
    package var digest: String
}
