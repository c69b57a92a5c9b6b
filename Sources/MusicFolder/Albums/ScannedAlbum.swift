package import CoverSources

/// An album as scanned folders have it.
package struct ScannedAlbum: Sendable, Hashable {
    package var title = ""
    package var artist = ""
    /// Four digits, or empty.
    package var year = ""
    package var genre = ""
    /// MusicBrainz ids, in lower case.
    package var releaseID: String?
    package var releaseGroupID: String?
    /// In the order of their paths.
    package var places: [AlbumPlace] = []

    package init() {}

    /// The number of tracks, of the place that has most.
    package var tracks: Int { places.map(\.tracks).max() ?? 0 }
    /// What is known of the album, as sources are asked for it and their answers are judged.
    package var facts: AlbumQuery {
        AlbumQuery(
            artist: artist, title: title, year: AlbumQuery.year(of: year), trackCount: tracks, releaseID: releaseID,
            releaseGroupID: releaseGroupID)
    }
    /// Whether a picture beside the audio is the cover, in every place.
    package var hasCover: Bool { places.allSatisfy { $0.cover?.mediaType != nil } }
    package var hasEmbeddedCover: Bool { places.contains { $0.embedded != nil } }
}

/// Where an album is: a folder, or the folders of its discs.
package struct AlbumPlace: Sendable, Hashable, Codable {
    /// The folders that contain its audio files, in the order of their paths.
    package var folders: [BytePath] = []
    /// The folders that a file with its cover belongs into: the one that contains the discs' folders, else `folders`.
    package var coverFolders: [BytePath] = []
    package var tracks = 0
    /// Equal for the same names of audio files; nil for places of earlier versions.
    package var namesDigest: UInt64?
    /// The cover file at the level of the audio, else in the folder that contains the discs' folders; nil if a disc's folder has none.
    package var cover: CoverFile?
    /// The embedded front cover of the first track that has one.
    package var embedded: EmbeddedPicture?
    package var embeddedTracks = 0
    package var embeddedDiffers = false
    /// Whether the folders contain tracks of other albums.
    package var isShared = false

    package init() {}
}
