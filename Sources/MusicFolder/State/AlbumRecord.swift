import AlbumLibrary

/// What is remembered of an album of the library: where it is, and which fields a scan has written.
package struct AlbumRecord: Sendable, Hashable {
    /// The album's id in the library.
    package var id: String
    /// Whether a scan has added it, rather than a person or a list.
    package var isAdded = false
    /// Whether the album may not be in the library yet: the process ended before the library was written.
    package var isPending = false
    package var written = WrittenFields()
    package var places: [AlbumPlace] = []

    package init(id: String) { self.id = id }
}

/// The values that a scan has last written into fields of an album; nil for fields that it has never written. A field that has another
/// value now was edited, and stays.
package struct WrittenFields: Sendable, Hashable, Codable {
    package var title: String?
    package var artist: String?
    package var year: String?
    package var genre: String?
    package var releaseID: String?
    package var releaseGroupID: String?
    /// Where a fill has found the cover.
    package var coverURL: String?

    package init() {}

    /// Writes the scanned fields into an album of the library: those that are empty, and those that have the value written before.
    /// - Returns: What is written now, and the album.
    func update(_ album: Album, with scanned: ScannedAlbum) -> (written: WrittenFields, album: Album) {
        var (written, album) = (self, album)
        func update(_ field: WritableKeyPath<WrittenFields, String?>, _ new: String, _ current: String) -> String {
            let isOwn = self[keyPath: field] == current || current.isEmpty && self[keyPath: field] == nil
            guard isOwn, !new.isEmpty else { return current }
            written[keyPath: field] = new
            return new
        }
        album.title = update(\.title, scanned.title, album.title)
        album.artist = update(\.artist, scanned.artist, album.artist)
        album.year = update(\.year, scanned.year, album.year)
        album.genre = update(\.genre, scanned.genre, album.genre)
        let releaseID = update(\.releaseID, scanned.releaseID ?? "", album.musicBrainzReleaseID ?? "")
        if releaseID != album.musicBrainzReleaseID ?? "" { album.musicBrainzReleaseID = releaseID }
        let groupID = update(\.releaseGroupID, scanned.releaseGroupID ?? "", album.musicBrainzReleaseGroupID ?? "")
        if groupID != album.musicBrainzReleaseGroupID ?? "" { album.musicBrainzReleaseGroupID = groupID }
        return (written, album)
    }

    /// Whether nothing of an album was edited since a scan added it.
    func isUnedited(_ album: Album) -> Bool {
        var expected = Album(
            id: album.id, title: title ?? "", artist: artist ?? "", genre: genre ?? "", coverURL: coverURL,
            year: year ?? "")
        expected.musicBrainzReleaseID = releaseID
        expected.musicBrainzReleaseGroupID = releaseGroupID
        return expected == album
    }
}
