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
        let (facts, year) = (scanned.facts, Self.year(of: album.year))
        self.init(
            artist: album.artist, otherArtists: album.artist == facts.artist ? facts.otherArtists : [],
            title: album.title, year: year, originalYear: year == facts.year ? facts.originalYear : nil,
            trackCounts: facts.trackCounts, lengths: facts.lengths, releaseID: album.musicBrainzReleaseID,
            releaseGroupID: album.musicBrainzReleaseGroupID)
        if album.title == facts.title, album.artist == facts.artist { setLengths = facts.setLengths }
    }
}
