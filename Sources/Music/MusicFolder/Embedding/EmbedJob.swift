/// An album in a place, whose cover goes into the tags of its files.
package struct EmbedJob: Sendable {
    /// The id of the album in the library.
    package var album: String
    package var title: String
    /// After which its cover may be named.
    package var titles: Set<String>
    /// As in `ScannedAlbum`: two albums of a folder may have one title.
    package var songs: [BytePath: [UInt32: String]]
    /// Other folders in which the cover may be: the one that contains the discs' folders.
    package var coverFolders: [BytePath]
    /// The numbers of cover files that are not certain for the album any more.
    package var outdated: Set<Int64> = []
    /// A cover that is for the tags alone, as the folders have other albums, too.
    package var cover: FillPicture?

    /// The jobs of scanned albums: places with files that have no picture, or one that an accepted cover may replace. A cover in a folder of
    /// several albums is none of theirs.
    /// - Parameters:
    ///   - albums: With their ids in the library, and the covers that were found for their tags.
    ///   - embedded: The digests of the pictures that fills have written into tags.
    ///   - outdated: The cover files that go into no tags, by their numbers.
    package static func jobs(
        _ albums: [(scanned: ScannedAlbum, id: String, cover: FillPicture?)], replacing embedded: Set<String>,
        outdated: Set<Int64> = []
    ) -> [EmbedJob] {
        albums.flatMap { album, id, cover in
            album.places.filter { place in
                (place.embeddedTracks < place.tracks || place.embedded.map { embedded.contains($0.digest) } == true)
                    && (!place.isShared || cover != nil)
            }.map { place in
                EmbedJob(
                    album: id, title: album.title, titles: album.titles,
                    songs: album.songs.filter { place.folders.contains($0.key) },
                    coverFolders: place.coverFolders, outdated: outdated, cover: place.isShared ? cover : nil)
            }
        }
    }
}

/// What became of a file or a folder when covers were embedded.
package enum EmbedEvent: Sendable, Hashable {
    /// - Parameter bytes: Of the file.
    case embedded(BytePath, bytes: Int)
    /// The file stays as it is.
    case left(BytePath, reason: String)
    /// Covers are not written into files of this format, which is named as in messages.
    case otherFormat(BytePath, format: String)
    /// No file of the folder can be written.
    case unwritable(folder: BytePath, reason: String)
    /// The cover, or that of one file, may not be written.
    case refused(BytePath, Objection)
}

/// The counts of embedding.
package struct EmbedSummary: Sendable, Hashable {
    /// Files whose tags got a cover.
    package var embedded = 0
    /// Bytes of these files.
    package var bytes = 0
    /// Files, and folders, that could not be written.
    package var failed = 0
    /// Files without a picture into whose format none is written, by the name of the format.
    package var otherFormats: [String: Int] = [:]

    package init() {}

    package mutating func add(_ event: EmbedEvent) {
        switch event {
        case .embedded(_, let bytes):
            embedded += 1
            self.bytes += bytes
        case .left, .unwritable: failed += 1
        case .otherFormat(_, let format): otherFormats[format, default: 0] += 1
        case .refused: break
        }
    }
}
