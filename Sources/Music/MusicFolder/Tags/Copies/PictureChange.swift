import Files
import Platform

/// A change of the pictures in a file's tags.
enum PictureChange {
    /// Adds a front cover. The file has none.
    case add(EmbeddableCover)
    /// Removes a picture that was added.
    /// - Parameters:
    ///   - growth: Bytes by which the file had grown then. What else the picture used was padding, and becomes padding again.
    ///   - isIt: Whether an image is the picture.
    case remove(growth: Int, isIt: ([UInt8]) -> Bool)
}

/// Where the audio and the tags are in a file of one format.
///
/// The parsers are Sleeve's own, and change nothing but the picture, the lengths around it and the padding: a library that renders all
/// tags loses what it does not know, such as the frames of ID3v2.2 and 2.3 that 2.4 has no longer.
protocol AudioContainer {
    /// What must not change: the audio, and all that is neither tags nor padding.
    var audio: [Range<Int>] { get }
    /// What must not change, although it is written otherwise when bytes move, such as the places of samples in the audio.
    var facts: [UInt8] { get }

    /// - Returns: What is replaced in the file; nil if the picture to remove is not there.
    /// - Throws: `EmbeddingProblem` or `SystemError`.
    func splices(_ change: PictureChange) throws -> [NewFile.Splice]?
}

extension AudioContainer {
    var facts: [UInt8] { [] }
}

extension AudioFile {
    /// - Throws: `EmbeddingProblem`, `OtherFormat` or `SystemError`.
    func container() throws -> any AudioContainer {
        let start = try ID3v2Tag.ranges(in: self).last?.upperBound ?? 0
        let head = try bytes(at: start, upTo: 64)
        if head.has("fLaC", at: 0) { return try FLACFile(self, start: start) }
        if start == 0, head.has("OggS", at: 0) { return try OggFile(self, head: head) }
        if start == 0, head.has("ftyp", at: 4) { return try MP4File(self) }
        guard fileExtension == "mp3", start > 0 || head.count > 1 && head[0] == 0xFF && head[1] >= 0xE0 else {
            throw EmbeddingProblem(reason: "has another format than its name says")
        }
        return try MP3File(self, start: start)
    }
}
