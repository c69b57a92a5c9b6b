import CoverLibrary

/// An album in the result of a command, by the names of the library file. `album export` has its other fields, too.
struct AlbumResult: Encodable {
    private let id, title, artist, genre, year: String
    private let coverUrl: String?
    private let coverUrls: [String]?
    private let musicBrainzReleaseId, musicBrainzReleaseGroupId: String?

    init(_ album: Album) {
        (id, title, artist, genre, year) = (album.id, album.title, album.artist, album.genre, album.year)
        coverUrl = album.coverURL
        coverUrls = album.alternateCoverURLs.isEmpty ? nil : album.alternateCoverURLs
        musicBrainzReleaseId = album.musicBrainzReleaseID
        musicBrainzReleaseGroupId = album.musicBrainzReleaseGroupID
    }

    /// `artist: title (year)`
    var name: String { (artist.isEmpty ? "" : "\(artist): ") + title + (year.isEmpty ? "" : " (\(year))") }
}
