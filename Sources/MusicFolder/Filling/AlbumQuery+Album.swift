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
}
