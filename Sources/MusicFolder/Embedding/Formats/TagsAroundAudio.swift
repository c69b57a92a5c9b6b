import Platform

/// Formats whose tags are before and after the audio: MP3, AAC, True Audio, Monkey's Audio, Musepack, WavPack.
struct TagsAroundAudio: AudioContainer {
    /// Which tags have pictures.
    enum Kind {
        case id3v2, apev2
        /// ID3v2, but for files that have only an APEv2 tag.
        case either
    }

    let audio: [Range<Int>]
    private let file: AudioFile
    private let kind: Kind
    private let id3v2, apev2: Range<Int>?

    /// - Parameter start: The end of the tags that the file begins with.
    init(_ file: AudioFile, _ start: Int, _ kind: Kind) throws {
        var (end, ape): (Int, Range<Int>?) = (file.length, nil)
        // ID3v1 is the last of them all.
        if end >= 128, try file.bytes(at: end - 128, upTo: 3).has("TAG", at: 0) { end -= 128 }
        let afterAPE = end
        while ape == nil {
            if let found = try APEv2Tag.range(in: file, endingAt: end) {
                (ape, end) = (found, found.lowerBound)
            } else if let length = try Self.lyricsLength(file, end) {
                end -= length
            } else {
                break
            }
        }
        guard start < end else { throw EmbeddingProblem(reason: "has no audio") }
        (self.file, self.kind, apev2) = (file, kind, ape)
        id3v2 = try ID3v2Tag.ranges(in: file).first
        audio = [start..<end, (ape?.upperBound ?? end)..<afterAPE, afterAPE..<file.length]
    }

    /// Lyrics3v2 (id3.org/Lyrics3v2): its length in six digits, and a mark.
    private static func lyricsLength(_ file: AudioFile, _ end: Int) throws -> Int? {
        guard end >= 15 else { return nil }
        let footer = try file.bytes(end - 15..<end)
        guard footer.has("LYRICS200", at: 6), let length = Int(String(decoding: footer.prefix(6), as: UTF8.self)),
            length >= 0, length + 15 <= end
        else { return nil }
        return length + 15
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        let usesID3 = kind == .id3v2 || kind == .either && (id3v2 != nil || apev2 == nil)
        if usesID3 {
            let range = id3v2 ?? 0..<0
            if let tag = try ID3v2Tag.apply(change, to: file.bytes(range)) { return [.init(range, tag)] }
        }
        // A picture to remove may be in the other tag.
        if kind != .apev2, usesID3, apev2 == nil { return nil }
        let range = apev2 ?? audio[0].upperBound..<audio[0].upperBound
        if range.isEmpty, case .remove = change { return nil }
        return try APEv2Tag.apply(change, to: file.bytes(range)).map { [.init(range, $0)] }
    }
}
