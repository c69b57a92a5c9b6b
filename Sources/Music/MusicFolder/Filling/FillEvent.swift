package import AlbumLibrary
package import CoverSources

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
    case outdated(Album, BytePath)
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
