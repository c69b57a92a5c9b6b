package import Platform

/// A cover that a fill has written into the tags of an audio file.
package struct EmbeddedCover: Sendable, Hashable {
    package var folder: BytePath
    package var name: [UInt8]
    /// SHA-256 of the picture. Another picture in the file is a person's.
    package var picture: Digest
    /// Of the audio, as `AudioDigest` has it. A file with other audio is a person's.
    package var audio: Digest
    /// Bytes by which the file has grown.
    package var growth: Int
    /// Identifies the fill, as in `WrittenFile`.
    package var run: Int64

    /// The scanned folder that contained the file, and its file system; nil if they are not known.
    package var root: BytePath?
    package var disk: String?

    package var path: BytePath { folder.appending(name) }
}
