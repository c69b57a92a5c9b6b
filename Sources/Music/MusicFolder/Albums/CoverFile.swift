import ImageHeader
import Platform

/// A picture beside the audio files that is, or may be, an album's cover.
package struct CoverFile: Sendable, Hashable, Codable {
    package var path: BytePath
    /// By its first bytes; nil if it is no image that is known, or cannot be read.
    package var mediaType: String?
    /// Whether that was looked for.
    private(set) var isRead = false

    package init(path: BytePath) { self.path = path }

    /// Reads the type from the file.
    mutating func readHeader() {
        isRead = true
        guard let bytes = try? RegularFile.contents(of: path, maximumLength: ImageHeader.maximumBeginning).bytes else {
            return
        }
        mediaType = bytes.withUnsafeBytes { ImageHeader($0) }?.mediaType
    }
}
