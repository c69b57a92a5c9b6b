package import AlbumLibrary
package import CoverSources
package import Platform

/// The counts of a fill, in albums where nothing else is said.
package struct FillSummary: Sendable {
    /// That covers were looked for.
    package var albums = 0
    /// That got one.
    package var filled = 0
    /// Cover files.
    package var files = 0
    /// Bytes of cover files.
    package var bytes = 0
    /// Without a cover anywhere.
    package var missing = 0
    package var doubtful = 0
    package var failed = 0
    /// Folders into which no file could be written.
    package var unwritten = 0
    /// That counted as having a cover until sources were asked: their tags have changed.
    package var uncovered = 0
    /// Whether the run was stopped before its end.
    package var isCancelled = false
    /// Why the run could not go on, such as a full disk of the cache.
    package var stopReason: String?

    /// Whether a file system takes no more files.
    package var isDiskStopped = false

    /// Pictures that have turned out to be those of unrelated albums, by their digests.
    package var repeatedPictures: Set<Digest> = []

    /// The numbers of cover files that are not certain for today's tags, and stay as nothing else was found. They go into no tags.
    package var outdated: Set<Int64> = []

    /// The covers that go into the tags of albums alone, by the albums' ids.
    package var tagCovers: [String: FillPicture] = [:]

    /// The source that needs most time for the albums that are left, and when it is done with them.
    package var slowest: Slowest?

    package struct Slowest: Sendable, Hashable {
        package var source: SourceName
        package var end: ContinuousClock.Instant
    }

    package init() {}

    package mutating func add(_ event: FillEvent) {
        switch event {
        case .written(_, _, let bytes, _, _):
            files += 1
            self.bytes += bytes
        case .takenBack(_, _, let bytes):
            files -= 1
            self.bytes -= bytes
        case .exists, .outdated, .placeholder, .stopped: break
        case .unwritten: unwritten += 1
        case .ended(_, .missing): missing += 1
        case .ended(_, .doubtful): doubtful += 1
        case .ended(_, .failed): failed += 1
        }
    }
}

/// What a fill has done for an album, or why it did nothing.
package enum FillEvent: Sendable {
    /// A cover file is in a folder.
    /// - Parameter url: nil for a picture in the tags.
    case written(Album, Written, bytes: Int, url: String?, origin: FillPicture.Origin)
    /// The folder has a cover that the fill did not write.
    case exists(Album, BytePath)
    /// A file could not be written.
    case unwritten(Album, folder: BytePath, reason: String)
    /// Nothing more is written to the file system of a folder.
    case stopped(folder: BytePath, reason: String)
    /// A picture that was offered is no cover. Others are tried.
    case placeholder(Album, url: String, reason: String)
    /// A file of an earlier fill stays, which is not certain for the album's tags by now.
    case outdated(Album, BytePath, OutdatedCover.Cause)
    /// A file of this run was removed again: albums of other artists have the same picture.
    case takenBack(Album, BytePath, bytes: Int)
    /// The album gets no cover.
    case ended(Album, End)

    /// Why an album gets no cover.
    package enum End: Sendable, Hashable {
        /// No source has a cover that matches and may be taken.
        case missing(String)
        /// Only covers were found that may be another album's.
        case doubtful([SourceCandidate])
        /// A cover was found, or may be there, and could not be downloaded; or a source could not be asked.
        case failed(String)
    }
}
