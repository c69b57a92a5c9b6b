import Files
import Platform

/// FLAC (RFC 9639 section 8): metadata blocks, then frames.
struct FLACFile: AudioContainer {
    private static let (padding, picture): (UInt8, UInt8) = (1, 6)
    private static let maximumBlocks = 4_096

    let audio: [Range<Int>]
    private let region: Range<Int>
    private var blocks: [(type: UInt8, bytes: [UInt8])] = []

    /// - Parameter start: Of the mark `fLaC`.
    init(_ file: AudioFile, start: Int) throws {
        var (offset, isLast) = (start + 4, false)
        while !isLast {
            let header = try file.bytes(offset..<offset + 4)
            guard blocks.count < Self.maximumBlocks else { throw TagFailure.damaged }
            isLast = header[0] & 0x80 != 0
            let length = try header.big(1, 3)
            blocks.append((header[0] & 0x7F, try file.bytes(offset + 4..<offset + 4 + length)))
            offset += 4 + length
        }
        let frame = try file.bytes(at: offset, upTo: 2)
        guard blocks.first?.type == 0, frame.isEmpty || frame.count == 2 && frame[0] == 0xFF && frame[1] & 0xFC == 0xF8
        else { throw TagFailure.damaged }
        region = start + 4..<offset
        audio = [offset..<file.length]
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        var blocks = blocks
        switch change {
        case .add(let cover):
            let block = cover.flacPicture
            resizePadding(of: &blocks, by: -(block.count + 4))
            let index = blocks.firstIndex { $0.type == Self.padding } ?? blocks.endIndex
            blocks.insert((Self.picture, block), at: index)
        case .remove(let growth, let isIt):
            let index = blocks.firstIndex { type, bytes in
                type == Self.picture && EmbeddableCover.image(flacPicture: bytes).map(isIt) ?? false
            }
            guard let index else { return nil }
            let freed = blocks.remove(at: index).bytes.count + 4
            resizePadding(of: &blocks, by: max(0, freed - growth))
        }
        let bytes = blocks.enumerated().flatMap { index, block in
            [block.type | (index == blocks.count - 1 ? 0x80 : 0)] + [UInt8].big(block.bytes.count, 3) + block.bytes
        }
        return [.init(region, bytes)]
    }

    /// Changes the largest block of padding, if it can be changed so.
    private func resizePadding(of blocks: inout [(type: UInt8, bytes: [UInt8])], by difference: Int) {
        let candidates = blocks.indices.filter { blocks[$0].type == Self.padding }
        guard let index = candidates.max(by: { blocks[$0].bytes.count < blocks[$1].bytes.count }) else {
            if difference >= 4 { blocks.append((Self.padding, .zeros(difference - 4))) }
            return
        }
        let count = blocks[index].bytes.count + difference
        if count == -4 { blocks.remove(at: index) }
        if (0..<1 << 24).contains(count) { blocks[index].bytes = .zeros(count) }
    }
}

/// The comments of Ogg streams (xiph.org/vorbis/doc/v-comment.html): the program's name, texts `KEY=value`, and what may follow.
enum VorbisComments {
    private static let key = "METADATA_BLOCK_PICTURE="

    static func apply(_ change: PictureChange, to bytes: [UInt8]) throws -> [UInt8]? {
        let start = try 4 + bytes.little(0, 4)
        let count = try bytes.little(start, 4)
        var (offset, comments) = (start + 4, [[UInt8]]())
        for _ in 0..<count {
            let comment = try bytes.bytes(at: offset + 4, count: bytes.little(offset, 4))
            comments.append(comment)
            offset += 4 + comment.count
        }
        switch change {
        case .add(let cover): comments.append(Array((key + Data(cover.flacPicture).base64EncodedString()).utf8))
        case .remove(_, let isIt):
            guard let index = comments.firstIndex(where: { image(in: $0).map(isIt) ?? false }) else { return nil }
            comments.remove(at: index)
        }
        let list = comments.flatMap { [UInt8].little($0.count, 4) + $0 }
        return Array(bytes[..<start]) + .little(comments.count, 4) + list + bytes[offset...]
    }

    private static func image(in comment: [UInt8]) -> [UInt8]? {
        let name = String(decoding: comment.prefix(key.utf8.count), as: UTF8.self)
        guard name.uppercased() == key else { return nil }
        let value = String(decoding: comment.dropFirst(key.utf8.count), as: UTF8.self)
        return Data(base64Encoded: value).flatMap { EmbeddableCover.image(flacPicture: Array($0)) }
    }
}
