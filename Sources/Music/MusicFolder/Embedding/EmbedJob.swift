/// An album in a place, whose cover goes into the tags of its files.
package struct EmbedJob: Sendable, Hashable {
    package var title: String
    /// After which its cover may be named.
    package var titles: Set<String>
    /// As in `ScannedAlbum`: two albums of a folder may have one title.
    package var songs: [BytePath: [UInt32: String]]
    /// Other folders in which the cover may be: the one that contains the discs' folders.
    package var coverFolders: [BytePath]
    /// The file of a cover that is for the tags alone, as the folders have other albums, too.
    package var cover: BytePath?

    /// The jobs of scanned albums: places with files that have no picture. A cover in a folder of several albums is none of theirs.
    /// - Parameter covers: Of each album, the file of a cover that was found for its tags.
    package static func jobs(_ albums: [(scanned: ScannedAlbum, cover: BytePath?)]) -> [EmbedJob] {
        albums.flatMap { album, cover in
            album.places.filter { $0.embeddedTracks < $0.tracks && (!$0.isShared || cover != nil) }.map { place in
                EmbedJob(
                    title: album.title, titles: album.titles,
                    songs: album.songs.filter { place.folders.contains($0.key) },
                    coverFolders: place.coverFolders, cover: place.isShared ? cover : nil)
            }
        }
    }
}

/// What became of a file or a folder when covers were embedded, or taken back.
package enum EmbedEvent: Sendable, Hashable {
    /// - Parameter bytes: Of the file.
    case embedded(BytePath, bytes: Int)
    /// The file stays as it is.
    case left(BytePath, reason: String)
    /// Covers are not written into files of this format, which is named as in messages.
    case otherFormat(BytePath, format: String)
    /// No file of the folder can be written.
    case unwritable(folder: BytePath, reason: String)
    /// The cover that a fill had embedded is gone from the file.
    case removed(BytePath)
    /// The file has another picture or other audio by now, and stays as it is.
    case kept(BytePath)
    /// The file is gone.
    case gone(BytePath)
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
    package var removed = 0
    package var kept = 0

    package init() {}

    package mutating func add(_ event: EmbedEvent) {
        switch event {
        case .embedded(_, let bytes):
            embedded += 1
            self.bytes += bytes
        case .left, .unwritable: failed += 1
        case .otherFormat(_, let format): otherFormats[format, default: 0] += 1
        case .removed: removed += 1
        case .kept, .gone: kept += 1
        }
    }
}
