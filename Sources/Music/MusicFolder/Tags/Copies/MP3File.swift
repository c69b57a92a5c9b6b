import Files
import Platform

/// MP3: ID3v2 tags, then frames. What follows them, such as APEv2, Lyrics3 and ID3v1, stays as it is.
struct MP3File: AudioContainer {
    let audio: [Range<Int>]
    private let file: AudioFile
    private let tag: Range<Int>

    /// - Parameter start: The end of the tags that the file begins with.
    init(_ file: AudioFile, start: Int) throws {
        guard start < file.length else { throw EmbeddingProblem(reason: "has no audio") }
        (self.file, audio) = (file, [start..<file.length])
        tag = try ID3v2Tag.ranges(in: file).first ?? 0..<0
        // Players read no other tag of a file that has an ID3v2 tag: a new one would hide this one.
        if tag.isEmpty, try Self.endsWithAPEv2(file) { throw OtherFormat(name: "MP3 with an APEv2 tag") }
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        try ID3v2Tag.apply(change, to: file.bytes(tag)).map { [.init(tag, $0)] }
    }

    /// Only ID3v1, of 128 bytes, may follow the tag, whose footer has 32.
    private static func endsWithAPEv2(_ file: AudioFile) throws -> Bool {
        let end = try file.bytes(max(0, file.length - 160)..<file.length)
        return end.has("APETAGEX", at: end.count - 32) || end.has("APETAGEX", at: 0)
    }
}
