package import AlbumLibrary
import CoverSources

/// An album that lacks a cover file, and where the file goes.
package struct FillJob: Sendable {
    /// A folder that gets a cover file.
    package struct Target: Sendable, Hashable {
        package var folder: BytePath
        /// A folder of the album's audio files, whose owner and permissions the cover gets.
        package var audioFolder: BytePath
        /// The file of an earlier fill that a larger cover may replace.
        package var former: WrittenFile?
    }

    package var album: Album
    package var trackCount: Int
    package var targets: [Target] = []

    /// What sources are asked for.
    var query: AlbumQuery { AlbumQuery(album, trackCount: trackCount) }

    /// The album's own cover URLs, in the order of trying.
    package var ownURLs: [String] { [album.coverURL].compactMap { $0 } + album.alternateCoverURLs }
}
