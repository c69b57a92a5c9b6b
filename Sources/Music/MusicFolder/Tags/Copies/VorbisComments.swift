import Platform

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
