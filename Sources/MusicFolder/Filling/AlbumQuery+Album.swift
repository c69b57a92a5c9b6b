package import AlbumLibrary
package import CoverSources

extension AlbumQuery {
    /// An album of the library, as sources are asked for it.
    /// - Parameter trackCount: The number of its tracks, if it is known.
    package init(_ album: Album, trackCount: Int? = nil) {
        self.init(
            artist: album.artist, title: album.title, year: Self.year(of: album.year), trackCount: trackCount,
            releaseID: album.musicBrainzReleaseID, releaseGroupID: album.musicBrainzReleaseGroupID)
    }

    /// An album of scanned folders, as sources are asked for it: the facts of the scan, with a person's edits in their place.
    package init(_ scanned: ScannedAlbum, edited album: Album) {
        let facts = scanned.facts
        let (isRenamed, isDated) = (album.artist != scanned.artist, album.year != scanned.year)
        func id(_ edited: String?, _ scanned: String?, _ known: String?) -> String? {
            edited == scanned ? known : edited
        }
        self.init(
            artist: isRenamed ? album.artist : facts.artist, otherArtists: isRenamed ? [] : facts.otherArtists,
            title: album.title != scanned.title ? album.title : facts.title,
            year: isDated ? Self.year(of: album.year) : facts.year, originalYear: isDated ? nil : facts.originalYear,
            trackCounts: facts.trackCounts, lengths: facts.lengths,
            releaseID: id(album.musicBrainzReleaseID, scanned.releaseID, facts.releaseID),
            releaseGroupID: id(album.musicBrainzReleaseGroupID, scanned.releaseGroupID, facts.releaseGroupID))
    }
}
