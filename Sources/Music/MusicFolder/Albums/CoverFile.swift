import ImageHeader
import Platform

/// A picture beside the audio files that is, or may be, an album's cover.
package struct CoverFile: Sendable, Hashable, Codable {
    package var path: BytePath
    package var byteCount: Int64
    /// By its first bytes; nil if it is no image that is known, or cannot be read.
    package var mediaType: String?
    /// In pixels; nil if the header does not say.
    package var width: Int?
    package var height: Int?
    /// Whether these were looked for.
    private(set) var isRead = false

    package init(path: BytePath, byteCount: Int64) { (self.path, self.byteCount) = (path, byteCount) }

    /// Metadata before a JPEG's size may be longer. Its size is unknown then.
    private static let headerLength = 256 << 10

    /// Reads the type and the size in pixels from the file.
    mutating func readHeader() {
        isRead = true
        guard let bytes = try? RegularFile.contents(of: path, maximumLength: Self.headerLength).bytes,
            let header = bytes.withUnsafeBytes({ ImageHeader($0) })
        else { return }
        (mediaType, width, height) = (header.mediaType, header.width, header.height)
    }
}
