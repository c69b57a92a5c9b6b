extension SourceName { package static let picture = SourceName(rawValue: "picture") }

/// Pictures that no service has offered: of the tags, or at an address that a person or a list gave. They are known by their digests, and
/// decisions about them stand beside those about other covers.
extension SourceCandidate {
    /// - Parameter digest: the picture's SHA-256.
    package init(picture digest: String, of album: AlbumQuery) {
        self.init(
            source: .picture, album: AlbumQuery(artist: album.artist, title: album.title),
            pictures: [Self.scheme + digest])
    }

    /// Why such a picture is not written.
    package static let refusal = "you refused its picture; `sleeve fill allow` lets it be written again"

    /// Of a picture without a service.
    var digest: String? {
        pictures.first.flatMap { $0.hasPrefix(Self.scheme) ? String($0.dropFirst(Self.scheme.count)) : nil }
    }

    private static let scheme = "sha256:"
}
