import ImageHeader
package import Platform

/// A cover file that a fill has written into a music folder.
package struct WrittenFile: Sendable, Hashable {
    package var folder: BytePath
    package var name: [UInt8]
    /// SHA-256 of its bytes. A file with other bytes is a person's.
    package var digest: Digest
    package var width: Int?
    package var height: Int?
    /// The id of the album in the library.
    package var album: String
    /// When its contents changed as it was written, in nanoseconds since 1970; nil for files of earlier versions.
    package var modified: Int64?
    /// The number of the fill. Later ones have higher numbers, whatever the clock says.
    package var run: Int64
    /// Where a source had the cover, as long as the library may not know it.
    package var foundURL: String?
    /// The file of an earlier fill that it has replaced: its name and bytes.
    package var replaced: Replaced?

    package struct Replaced: Sendable, Hashable {
        package var name: [UInt8]
        package var digest: Digest
        package var run: Int64
    }

    /// The scanned folder that contained it, and the file system on which it was; nil if they are not known.
    package var root: BytePath?
    package var disk: String?
    /// The fill was taken back, when a person had removed the file. It stays known, so that no fill writes it again.
    package var isUndone = false
    /// It was there after it was written. If it is not any more, a person has removed it.
    package var isSeen = false
    /// The key of the facts that its cover was judged for.
    package var judged = ""

    package var path: BytePath { folder.appending(name) }

    /// Whether there is something at its path.
    package var isThere: Bool { path.withCString { access($0, F_OK) } == 0 }

    /// The path of the file that it has replaced; nil if there was none.
    package var replacedPath: BytePath? { replaced.map { folder.appending($0.name) } }

    /// The number of pixels; nil if it is not known.
    var pixelCount: Int? { PixelSize(width, height)?.pixelCount }
}
