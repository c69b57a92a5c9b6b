/// An album in a place, whose cover goes into the tags of its files.
package struct EmbedJob: Sendable, Hashable {
    package var title: String
    /// Folders with audio files.
    package var folders: [BytePath]
    /// Other folders in which the cover may be: the one that contains the discs' folders.
    package var coverFolders: [BytePath]

    /// Whether a file with this album tag is one of the album's: its title, or that of one of its discs.
    func contains(_ tag: String) -> Bool {
        [tag, DiscName(tag)?.title].contains { $0.map { Folding.key($0) == Folding.key(title) } ?? false }
    }

    /// The jobs of scanned albums: places with files that have no picture. A cover in a folder of several albums is none of theirs.
    package static func jobs(_ albums: [ScannedAlbum]) -> [EmbedJob] {
        albums.flatMap { album in
            album.places.filter { !$0.isShared && $0.embeddedTracks < $0.tracks }.map { place in
                EmbedJob(title: album.title, folders: place.folders, coverFolders: place.coverFolders)
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
    /// The file has another picture or other audio by now, or is gone, and stays as it is.
    case kept(BytePath)
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
        case .kept: kept += 1
        }
    }
}
