import Platform

/// WAV (RIFF) and AIFF (IFF): chunks, one of which is an ID3v2 tag.
struct ChunkFile: AudioContainer {
    let audio: [Range<Int>]
    private let file: AudioFile
    private let isBig: Bool
    /// The end of the chunks.
    private let end: Int
    /// With its header and the padding to an even length.
    private var tag: Range<Int>?
    private var tagHeader: [UInt8] = []

    init(_ file: AudioFile, isBig: Bool) throws {
        (self.file, self.isBig) = (file, isBig)
        func number(_ bytes: [UInt8]) throws -> Int { try isBig ? bytes.big(4, 4) : bytes.little(4, 4) }
        end = try number(file.bytes(0..<12)) + 8
        guard end <= file.length else { throw EmbeddingProblem.damaged }
        var (offset, others, hasAudio) = (12, [Range<Int>](), false)
        while offset + 8 <= end {
            let header = try file.bytes(offset..<offset + 8)
            let length = try number(header)
            guard length <= end - offset - 8 else { throw EmbeddingProblem.damaged }
            // A zero follows an odd length, unless the program that wrote the file forgot it.
            let after = length % 2 == 1 ? try file.bytes(at: offset + 8 + length, upTo: 1) : []
            let chunk = offset..<min(offset + 8 + length + (after == [0] ? 1 : 0), end)
            if tag == nil, header.has("ID3 ", at: 0) || header.has("id3 ", at: 0) {
                (tag, tagHeader) = (chunk, header)
            } else {
                others.append(chunk)
                hasAudio = hasAudio || header.has(isBig ? "SSND" : "data", at: 0)
            }
            offset = chunk.upperBound
        }
        guard hasAudio, offset == end else { throw EmbeddingProblem.damaged }
        audio = others + [end..<file.length]
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        let range = tag ?? end..<end
        var former: [UInt8] = []
        if let tag {
            let length = try isBig ? tagHeader.big(4, 4) : tagHeader.little(4, 4)
            former = try file.bytes(tag.lowerBound + 8..<tag.lowerBound + 8 + length)
        }
        guard let new = try ID3v2Tag.apply(change, to: former) else { return nil }
        var chunk: [UInt8] = []
        if !new.isEmpty {
            chunk = (tag == nil ? Array("ID3 ".utf8) : Array(tagHeader.prefix(4))) + number(new.count) + new
            chunk += [UInt8].zeros(new.count % 2)
        }
        // A chunk begins at an even offset.
        if tag == nil, end % 2 == 1 { chunk.insert(0, at: 0) }
        let total = end - 8 + chunk.count - range.count
        guard total < 1 << 32 else { throw EmbeddingProblem(reason: "would be larger than its format allows") }
        return [.init(4..<8, number(total)), .init(range, chunk)]
    }

    private func number(_ value: Int) -> [UInt8] { isBig ? .big(value, 4) : .little(value, 4) }
}
