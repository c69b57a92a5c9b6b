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

    fileprivate static let scheme = "sha256:"
}

extension SourceMemory.Record {
    /// The pictures without a service that a person has refused for the album.
    package func refusedPictures(of album: AlbumQuery) -> [SourceCandidate] {
        let refused = decisions.filter { !$0.value && $0.key.hasPrefix(SourceCandidate.scheme) }.keys.sorted()
        return refused.map {
            SourceCandidate(picture: String($0.dropFirst(SourceCandidate.scheme.utf8.count)), of: album)
                .judged(.refused)
        }
    }
}
