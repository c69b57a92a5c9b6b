/// The pictures of many albums, by their digests. One picture for unrelated albums is a service's placeholder, or a wrong match.
package struct RepeatedPictures: Sendable {
    /// A picture of albums of this number of artists is no cover.
    package static let minimumArtists = 3

    /// What speaks against such a picture.
    package static let reason = "albums of other artists have the same picture"

    private var artists: [String: Set<String>] = [:]

    package init() {}

    /// Adds an album's picture. Albums of one artist, and those of collective artists, may share one.
    /// - Parameter digest: the picture's SHA-256.
    /// - Returns: Whether the picture is now that of unrelated albums.
    @discardableResult
    package mutating func add(_ digest: String, of album: AlbumQuery) -> Bool {
        let artist = FoldedText(artist: album.artist)
        if !artist.isVarious, !artist.key.isEmpty { artists[digest, default: []].insert(artist.key) }
        return isRepeated(digest)
    }

    /// Whether the picture is that of unrelated albums.
    package func isRepeated(_ digest: String) -> Bool {
        artists[digest].map { $0.count >= Self.minimumArtists } ?? false
    }
}
