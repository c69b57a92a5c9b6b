package import CoverSources
import Platform

/// An album as scanned folders have it.
package struct ScannedAlbum: Sendable, Hashable {
    /// What is known of the album, as sources are asked for it and their answers are judged. The title is without what says which disc it is, the
    /// artist the main one. A year or an id is missing if songs have different ones, an id also if another album has it.
    package var facts = AlbumQuery(artist: "", title: "")
    package var genre = ""
    /// Why sources cannot be asked for its cover; nil if they can.
    package var whyUnsearchable: String?
    /// In the order of their paths.
    package var places: [AlbumPlace] = []
    /// The album tags of its songs, as written, by the hashes of their files' names, in each folder.
    package var songs: [BytePath: [UInt32: String]] = [:]

    package init() {}

    package var title: String { facts.title }
    package var artist: String { facts.artist }

    /// The titles after which a cover may be named: as the songs' tags have them, and without what says which disc it is.
    package var titles: Set<String> { songs.values.reduce(into: [title]) { $0.formUnion($1.values) } }

    /// - Parameter places: The parts of each of its places, in the order of their paths.
    init(_ places: [[AlbumPart]], by artist: MainArtist, doubtfulIDs: Set<String>) {
        let parts = places.flatMap(\.self)
        let credits = parts.flatMap(\.credits)
        /// The value that all songs have which have one.
        func only(_ value: (SongTags) -> String?) -> String? { AlbumPart.only(of: credits, value) }
        func id(_ value: (SongTags) -> String?) -> String? {
            only(value).flatMap { doubtfulIDs.contains($0) ? nil : $0 }
        }
        let isUnresolved = parts.contains(where: \.isUnresolved)
        if isUnresolved {
            whyUnsearchable = "different songs have the same number, and nothing tells to which albums they belong"
        }
        let list = isUnresolved ? TrackList([]) : TrackList(places: places)
        let isDated = credits.contains { !$0.tags.year.isEmpty }
        let (year, originalYear) = (AlbumQuery.year(of: only(\.year)), AlbumQuery.year(of: only(\.originalYear)))
        facts = AlbumQuery(
            artist: artist.name, otherArtists: artist.others,
            title: Folding.mostCommon(parts.map { ($0.title, $0.songs.count) }), year: isDated ? year : originalYear,
            // Services tell the number of all discs, which one of them alone does not know.
            originalYear: originalYear, trackCounts: list.lacksDiscs ? [] : list.counts, lengths: list.lengths,
            releaseID: id(\.releaseID), releaseGroupID: id(\.releaseGroupID))
        genre = Folding.mostCommon(credits.map { ($0.tags.genre, $0.count) })
        for part in parts {
            for song in part.songs { songs[part.folder, default: [:]][song.name] = part.tags[Int(song.tags)].album }
        }
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
    /// Equal for the same lengths of songs, to the millisecond.
    package var lengthsDigest: UInt64?
    /// The cover file at the level of the audio, else in the folder that contains the discs' folders; nil if a disc's folder has none.
    package var cover: CoverFile?
    /// That and the covers of further folders.
    package var covers: [CoverFile] = []
    /// The embedded front cover of the first track that has one.
    package var embedded: EmbeddedPicture?
    package var embeddedTracks = 0
    /// Whether tracks have different ones, or one that a fill wrote: those say nothing of the album.
    package var embeddedDiffers = false
    /// Whether a picture beside the audio files would be that of other albums, too: none is read or written there.
    package var isShared = false

    /// Those of its songs, and those of its cover.
    package var allFolders: [BytePath] { folders + coverFolders }

    package init() {}

    init(_ parts: [AlbumPart], _ sleeves: SleevesPictures) {
        folders = Set(parts.lazy.map(\.folder)).sorted()
        tracks = parts.reduce(0) { $0 + $1.songs.count }
        let songs = parts.flatMap(\.songs)
        namesDigest = songs.reduce(0) { $0 &+ UInt64($1.name) }
        lengthsDigest = songs.reduce(0) { digest, song in
            withUnsafeBytes(of: song.length) { digest &+ FNV1a.hash($0) }
        }
        let pictures = parts.flatMap { part in part.songs.compactMap { part.tags[Int($0.tags)].picture } }
        (embedded, embeddedTracks) = (pictures.first, pictures.count)
        embeddedDiffers = pictures.contains { $0.digest != pictures[0].digest || sleeves.inTags.contains($0.digest) }
    }
}
