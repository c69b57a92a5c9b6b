package import CoverSources

/// An album as scanned folders have it.
package struct ScannedAlbum: Sendable, Hashable {
    /// As written, without what says which disc it is.
    package var title = ""
    /// The main artist.
    package var artist = ""
    /// Other names that the album may be credited to.
    package var otherArtists: [String] = []
    /// Four digits; empty if it is unknown, or songs have different ones.
    package var year = ""
    /// The year of the first release, as `year`.
    package var originalYear = ""
    package var genre = ""
    /// MusicBrainz ids, in lower case; nil if songs have different ones, or another album has it, too.
    package var releaseID: String?
    package var releaseGroupID: String?
    /// As in `AlbumQuery`.
    package var trackCounts: Set<Int> = []
    package var lengths: [Int] = []
    /// Why sources cannot be asked for its cover; nil if they can.
    package var whyUnsearchable: String?
    /// In the order of their paths.
    package var places: [AlbumPlace] = []

    package init() {}

    /// - Parameter places: The parts of each of its places, in the order of their paths.
    init(_ places: [[AlbumPart]], by artist: MainArtist, doubtfulIDs: Set<String>) {
        let parts = places.flatMap(\.self)
        let credits = parts.flatMap(\.credits)
        /// The value that all songs have which have one.
        func only(_ value: (SongTags) -> String?) -> String? {
            AlbumPart.only(of: credits, value)
        }
        (self.artist, otherArtists) = (artist.name, artist.others)
        title = Folding.mostCommon(parts.map { ($0.title, $0.songs.count) })
        genre = Folding.mostCommon(credits.map { ($0.tags.genre, $0.count) })
        originalYear = only(\.originalYear) ?? ""
        let isDated = credits.contains { !$0.tags.year.isEmpty }
        year = isDated ? only(\.year) ?? "" : originalYear
        releaseID = only(\.releaseID).flatMap { doubtfulIDs.contains($0) ? nil : $0 }
        releaseGroupID = only(\.releaseGroupID).flatMap { doubtfulIDs.contains($0) ? nil : $0 }
        if parts.contains(where: \.isUnresolved) {
            whyUnsearchable = "different songs have the same number, and nothing tells to which albums they belong"
            return
        }
        let list = TrackList(places: places)
        // Services tell the number of all discs, which one of them alone does not know.
        (trackCounts, lengths) = (list.lacksDiscs ? [] : list.counts, list.lengths)
    }

    /// The number of tracks, of the place that has most.
    package var tracks: Int { places.map(\.tracks).max() ?? 0 }
    /// What is known of the album, as sources are asked for it and their answers are judged.
    package var facts: AlbumQuery {
        AlbumQuery(
            artist: artist, otherArtists: otherArtists, title: title, year: AlbumQuery.year(of: year),
            originalYear: AlbumQuery.year(of: originalYear), trackCounts: trackCounts, lengths: lengths,
            releaseID: releaseID, releaseGroupID: releaseGroupID)
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
    /// Whether a picture beside the audio files would be that of other albums, too: none is read or written there.
    package var isShared = false

    package init() {}

    init(_ parts: [AlbumPart]) {
        folders = Set(parts.lazy.map(\.folder)).sorted()
        tracks = parts.reduce(0) { $0 + $1.songs.count }
        namesDigest = parts.reduce(0) { digest, part in part.songs.reduce(digest) { $0 &+ UInt64($1.name) } }
        let pictures = parts.flatMap { part in part.songs.compactMap { part.tags[Int($0.tags)].picture } }
        (embedded, embeddedTracks) = (pictures.first, pictures.count)
        embeddedDiffers = pictures.contains { $0.digest != pictures[0].digest }
    }
}
