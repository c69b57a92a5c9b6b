package import CoverSources
import Files
import ImageHeader
package import Platform

/// A cover that a fill has written: a file beside the music, or a picture in the tags of a song.
package struct Written: Sendable, Hashable {
    package enum Kind: String, Sendable { case file, tags }

    package enum State: String, Sendable {
        /// Its file may not have got its name: the process ended, or is about to write it.
        case begun
        case there
        /// An undo is about to remove it.
        case leaving
        /// A person has removed it from its place. It is not written there again.
        case removed
        /// It was taken back, or its place has another album.
        case undone
        /// A person has removed it, and has allowed it since.
        case allowed
    }

    /// The order of writing: a later row has a higher number. Given when the row is begun.
    package var number: Int64 = 0
    package var kind = Kind.file
    package var folder: BytePath
    /// Of the cover's file, or of the song.
    package var name: [UInt8]
    /// SHA-256 of the picture. A file, or a picture in the tags, that has another one is a person's.
    package var digest: Digest
    /// For tags.
    package var song: Song?
    /// Of the file as it was written, in bytes.
    package var length: Int?
    package var width: Int?
    package var height: Int?
    /// The id of the album in the library.
    package var album: String
    /// The number of the fill. Later ones have higher numbers, whatever the clock says.
    package var run: Int64
    package var state = State.there
    /// The number of the row whose picture it has replaced.
    package var replaced: Int64?
    /// Where a source had the cover; nil for another one, and once it was taken back.
    package var url: String?
    /// Whether the library knows that.
    package var isNoted = false
    /// When the contents of the file changed as it was written, in nanoseconds since 1970.
    package var modified: Int64?
    /// The album's facts that it was judged for; nil for a picture that no source has offered.
    package var facts: AlbumQuery?
    /// When the row got its state, in milliseconds since 1970.
    package var time: Int64 = 0
    /// The scanned folder that contained it, and the file system on which it was; nil if they are not known.
    package var root: BytePath?
    package var disk: String?

    /// Whether an undo had taken the same picture back from there, and no person has accepted it. It is not stored.
    package var isAgain = false

    /// What is known of a song whose tags got a picture.
    package struct Song: Sendable, Hashable {
        /// Of the audio, as `AudioFile.audioDigest` has it. A file with other audio is a person's.
        var audio: Digest
        /// Bytes by which the file has grown.
        var growth: Int
        /// SHA-256 of the file as it was written.
        var file: Digest
    }

    package var path: BytePath { folder.appending(name) }

    /// Whether there is something at its path.
    package var isThere: Bool { path.withCString { access($0, F_OK) } == 0 }

    /// The bytes of the file as it was written.
    var fileDigest: Digest { song?.file ?? digest }

    /// The number of pixels; nil if it is not known.
    var pixelCount: Int? { PixelSize(width, height)?.pixelCount }

    /// Whether a cover's file is still what the fill wrote. One with the time of writing is not read.
    package var isUnchanged: Bool {
        guard let found = path.modified else { return false }
        return found == modified || (try? SourceFile(path: path.bytes).digest()) == digest
    }
}
