import CoverSources

/// A place of an album, with the cover files that an audit looks at.
package struct AuditedPlace: Sendable, Hashable {
    package var artist: String
    package var title: String
    package var year: Int?
    package var place: AlbumPlace
    /// The cover that stands for the album, and those of its further discs.
    package var covers: [BytePath] = []
    /// Folders of the album that lack a cover file.
    package var lacking: [BytePath] = []

    package init(artist: String, title: String, place: AlbumPlace) {
        (self.artist, self.title, self.place) = (artist, title, place)
        if let cover = place.cover { covers = [cover.path] } else { lacking = place.coverFolders }
    }

    /// The places of albums.
    /// - Parameter folders: What the scan has found in the folders.
    package static func all(of albums: [ScannedAlbum], in folders: [BytePath: FolderContents]) -> [AuditedPlace] {
        albums.flatMap { album in
            album.places.map { place in
                var audited = AuditedPlace(artist: album.artist, title: album.title, place: place)
                audited.year = album.facts.year
                audited.addDiscs(folders)
                return audited
            }
        }
    }

    /// Adds the covers of discs in folders of their own. A folder that contains other albums may have theirs.
    private mutating func addDiscs(_ folders: [BytePath: FolderContents]) {
        if place.isShared { return }
        for folder in place.folders {
            for cover in (folders[folder]?.covers ?? []).map(\.path) where !covers.contains(cover) {
                covers.append(cover)
            }
        }
        let covered = Set(covers.lazy.compactMap(\.parent))
        if !covers.isEmpty { lacking.removeAll(where: covered.contains) }
    }
}
