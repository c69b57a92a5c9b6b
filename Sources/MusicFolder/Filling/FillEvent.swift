package import AlbumLibrary
package import CoverSources

/// What a fill has done for an album, or why it did nothing.
package enum FillEvent: Sendable {
    /// A cover file is in a folder.
    /// - Parameter source: The source that has it; nil for another URL of the album's own.
    case written(Album, WrittenFile, bytes: Int, url: String, source: SourceName?)
    /// The folder has a cover that the fill did not write.
    case exists(Album, BytePath)
    /// A file could not be written.
    case unwritten(Album, folder: BytePath, reason: String)
    /// A picture that was offered is no cover. Others are tried.
    case placeholder(Album, url: String, reason: String)
    /// No place has the cover.
    case missing(Album)
    /// Only covers were found that may be another album's.
    case doubtful(Album, [SourceCandidate])
    /// A cover could not be downloaded, or a source not be asked.
    /// - Parameter isKnown: The source is given up, of which the queue has given notice.
    case failed(Album, reason: String, isKnown: Bool)
}
