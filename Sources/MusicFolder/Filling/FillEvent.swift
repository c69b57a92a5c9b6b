package import AlbumLibrary
package import CoverSources

/// What a fill has done for an album, or why it did nothing.
package enum FillEvent: Sendable {
    /// A cover file is in a folder.
    /// - Parameter source: What offered it; nil for the album's own URL.
    case written(Album, WrittenFile, bytes: Int, url: String, source: SourceCandidate?)
    /// The folder has a cover that the fill did not write.
    case exists(Album, BytePath)
    /// A file could not be written.
    case unwritten(Album, folder: BytePath, reason: String)
    /// No place has the cover.
    case missing(Album)
    /// Only covers were found that may be another album's.
    case doubtful(Album, [SourceCandidate])
    /// A cover could not be downloaded, or a source not be asked.
    case failed(Album, reason: String)
}
