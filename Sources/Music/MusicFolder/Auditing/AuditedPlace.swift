import CoverSources

/// A place of an album, with the cover files that an audit looks at.
package struct AuditedPlace: Sendable, Hashable {
    package var artist: String
    package var title: String
    package var year: Int?
    package var place: AlbumPlace
    /// The cover that stands for the album, and those of its further discs.
    package var covers: [BytePath] = []
    /// Those that fills wrote for other tags, and that are not certain for today's.
    package var outdated: Set<BytePath> = []
    /// Folders of the album that lack a cover file.
    package var lacking: [BytePath] = []

    package init(artist: String, title: String, place: AlbumPlace) {
        (self.artist, self.title, self.place) = (artist, title, place)
        covers = place.covers.map(\.path)
        let covered = Set(covers.lazy.compactMap(\.parent))
        lacking = place.cover == nil ? place.coverFolders.filter { !covered.contains($0) } : []
    }

    /// The places of albums.
    /// - Parameter outdated: The cover files that are.
    package static func all(of albums: [ScannedAlbum], outdated: Set<BytePath> = []) -> [AuditedPlace] {
        albums.flatMap { album in
            album.places.map { place in
                var audited = AuditedPlace(artist: album.artist, title: album.title, place: place)
                (audited.year, audited.outdated) = (album.facts.year, outdated.intersection(audited.covers))
                return audited
            }
        }
    }
}
