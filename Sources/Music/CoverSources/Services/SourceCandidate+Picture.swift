extension SourceName { static let picture = SourceName(rawValue: "picture") }

/// Pictures that no service has offered: of the tags, or at an address that a person or a list gave. They are known by their digests, and
/// decisions about them stand beside those about other covers.
extension SourceCandidate {
    /// - Parameter digest: the picture's SHA-256.
    package init(picture digest: String, of album: AlbumQuery) {
        self.init(
            source: .picture, album: AlbumQuery(artist: album.artist, title: album.title),
            pictures: [Self.url(ofPicture: digest)])
    }

    /// Why such a picture is not written.
    package static let refusal = "you refused its picture; `sleeve fill allow` lets it be written again"

    static func url(ofPicture digest: String) -> String { scheme + digest }

    static let scheme = "sha256:"
}
