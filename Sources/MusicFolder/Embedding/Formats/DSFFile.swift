import Platform

/// DSF (file format specification 1.01): the length of the file, the place of an ID3v2 tag at its end, chunks.
struct DSFFile: AudioContainer {
    let audio: [Range<Int>]
    private let file: AudioFile
    private let tag: Range<Int>
    private static let headerLength = 28

    init(_ file: AudioFile) throws {
        self.file = file
        let header = try file.bytes(0..<Self.headerLength)
        let (length, offset) = (try header.little(12, 8), try header.little(20, 8))
        guard length == file.length, offset == 0 || (Self.headerLength...length).contains(offset) else {
            throw EmbeddingProblem.damaged
        }
        tag = (offset == 0 ? length : offset)..<length
        audio = [Self.headerLength..<tag.lowerBound]
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        guard let new = try ID3v2Tag.apply(change, to: file.bytes(tag)) else { return nil }
        let numbers: [UInt8] =
            .little(tag.lowerBound + new.count, 8) + .little(new.isEmpty ? 0 : tag.lowerBound, 8)
        return [.init(12..<28, numbers), .init(tag, new)]
    }
}
