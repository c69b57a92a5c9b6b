import Synchronization

/// An album with its names as they are compared. Folding takes most of the time of a comparison, so that it is done once for each album.
struct FoldedAlbum: Sendable {
    let album: AlbumQuery
    /// The main artist, then the other names.
    let artists: [ArtistName]
    /// With an artist's name in it.
    let title: FoldedText

    init(_ album: AlbumQuery) {
        self.album = album
        artists = ([album.artist] + album.otherArtists).map { ArtistName($0) }
        title = FoldedText(FoldedText.spaced(album.title), year: album.year)
    }
}

/// An album that is wanted, beside those that sources describe, each of which is compared with it once.
final class AlbumComparison: Sendable {
    let query: AlbumQuery
    private let folded: FoldedAlbum
    private let known = Mutex<[AlbumQuery: Evidence]>([:])

    init(_ query: AlbumQuery) { (self.query, folded) = (query, FoldedAlbum(query)) }

    func evidence(_ candidate: AlbumQuery) -> Evidence {
        known.withLock { known in
            if let evidence = known[candidate] { return evidence }
            let evidence = Evidence(folded, FoldedAlbum(candidate))
            known[candidate] = evidence
            return evidence
        }
    }
}
