/// What a scan keeps of a folder: its part of each album, and its cover.
package struct FolderContents: Sendable, Hashable, Codable {
    package var albums: [AlbumFragment] = []
    /// Audio files.
    package var files = 0
    /// Audio files without an album in their tags.
    package var untagged = 0
    /// The cover by the names that fit every album, for albums whose discs are in folders of this one.
    package var cover: CoverFile?
    package var problems: [MusicProblem] = []
    /// Whether the same files may be read otherwise by the next scan.
    package var isTransient = false

    package init() {}
}

/// The part of an album that is in one folder.
package struct AlbumFragment: Sendable, Hashable, Codable {
    package var title = ""
    package var artist = ""
    package var year = ""
    package var genre = ""
    package var releaseID: String?
    package var releaseGroupID: String?
    package var tracks = 0
    /// The embedded front cover of the first track that has one.
    package var embedded: EmbeddedPicture?
    /// Tracks with an embedded cover.
    package var embeddedTracks = 0
    /// Whether tracks have different embedded covers.
    package var embeddedDiffers = false
    /// The cover in the folder.
    package var cover: CoverFile?

    package init() {}
}
