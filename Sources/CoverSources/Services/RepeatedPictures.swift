/// The pictures of many albums, by their digests. One picture for unrelated albums is a service's placeholder, or a wrong match.
package struct RepeatedPictures: Sendable {
    /// A picture of albums of this number of artists is no cover.
    package static let minimumArtists = 3

    private var artists: [String: Set<String>] = [:]
    private var numbers: [String: [Int]] = [:]
    private let known: Set<String>

    /// - Parameter known: Pictures that earlier runs have found to be repeated: `SourceMemory.repeatedPictures`.
    package init(known: Set<String> = []) { self.known = known }

    /// Adds an album's picture. Albums of one artist, and those of collective artists, may share one.
    /// - Parameters:
    ///   - digest: the picture's SHA-256.
    ///   - number: that of the album in this run, for `albums(with:)`.
    /// - Returns: Whether the picture is now that of unrelated albums.
    @discardableResult
    package mutating func add(_ digest: String, of album: AlbumQuery, number: Int? = nil) -> Bool {
        let artist = FoldedText(artist: album.artist)
        if !artist.isVarious, !artist.key.isEmpty { artists[digest, default: []].insert(artist.key) }
        if let number { numbers[digest, default: []].append(number) }
        return isRepeated(digest)
    }

    /// Whether the picture is that of unrelated albums.
    package func isRepeated(_ digest: String) -> Bool {
        known.contains(digest) || artists[digest].map { $0.count >= Self.minimumArtists } ?? false
    }

    /// The numbers of this run's albums with a picture: those whose cover is to be taken back when it turns out to be repeated.
    package func albums(with digest: String) -> [Int] { numbers[digest] ?? [] }
}
