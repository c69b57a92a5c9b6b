/// A picture that a service shows in place of a cover that it does not have. It is never written.
package enum Placeholder: Sendable, Hashable {
    /// Its URL has the form that the service gives such pictures.
    case url
    /// It has fewer pixels than any cover.
    case size
    /// All of its pixels have one colour.
    case color

    /// What speaks against it, as a clause about the picture.
    package var reason: String {
        switch self {
        case .url: "is a service's placeholder"
        case .size: "is too small for any cover"
        case .color: "has one colour only, as placeholders have"
        }
    }

    /// Parts of the URLs of placeholders: Deezer's without an image's hash or with the MD5 of nothing, Discogs' pixel.
    private static let urlParts = [
        "/images/cover//", "/images/artist//", "d41d8cd98f00b204e9800998ecf8427e", "/images/spacer.gif",
    ]
    /// Smaller pictures are spacers, in pixels.
    private static let minimumSide = 16

    /// Nil for a URL that a cover may have.
    package init?(url: String) {
        guard Self.urlParts.contains(where: url.contains) else { return nil }
        self = .url
    }

    /// Nil for a picture that may be a cover.
    /// - Parameters:
    ///   - width: in pixels; nil if it is not known.
    ///   - hasOneColour: nil if the picture was not decoded: only then can this be known.
    package init?(width: Int?, height: Int?, hasOneColour: Bool? = nil) {
        if [width, height].contains(where: { $0.map { $0 < Self.minimumSide } == true }) {
            self = .size
        } else if hasOneColour == true {
            self = .color
        } else {
            return nil
        }
    }
}
