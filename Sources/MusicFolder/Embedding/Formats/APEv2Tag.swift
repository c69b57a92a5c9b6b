/// APEv2 (wiki.hydrogenaud.io/index.php?title=APEv2_specification).
enum APEv2Tag {
    /// Of the header and of the footer.
    private static let endLength = 32
    private static let mark = "APETAGEX"
    private static let cover = "Cover Art (Front)"

    /// The tag that ends at `end`, with its header; nil if there is none.
    static func range(in file: AudioFile, endingAt end: Int) throws -> Range<Int>? {
        guard end >= endLength else { return nil }
        let footer = try file.bytes(end - endLength..<end)
        guard footer.has(mark, at: 0) else { return nil }
        guard try footer.little(8, 4) == 2_000 else { throw EmbeddingProblem(reason: "has a tag of APE version 1") }
        let hasHeader = footer[23] & 0x80 != 0
        let length = try footer.little(12, 4) + (hasHeader ? endLength : 0)
        guard length <= end, length >= endLength * (hasHeader ? 2 : 1) else { throw EmbeddingProblem.damaged }
        let start = end - length
        if hasHeader, !(try file.bytes(at: start, upTo: endLength)).has(mark, at: 0) { throw EmbeddingProblem.damaged }
        return start..<end
    }

    /// Changes a tag. An empty one does not exist, before or afterwards.
    static func apply(_ change: PictureChange, to tag: [UInt8]) throws -> [UInt8]? {
        let hasHeader = tag.isEmpty || tag[tag.count - 9] & 0x80 != 0
        let footer = tag.isEmpty ? mark.utf8 + .little(2_000, 4) + .zeros(20) : Array(tag.suffix(endLength))
        var items = tag.isEmpty ? [] : Array(tag[(hasHeader ? endLength : 0)..<(tag.count - endLength)])
        var count = try footer.little(16, 4)
        switch change {
        case .add(let picture):
            // A file's name and a zero precede the image.
            let type = picture.mediaType == "image/png" ? "png" : "jpg"
            let value = "\(cover).\(type)".utf8 + [0] + picture.bytes
            items += [UInt8].little(value.count, 4) + [UInt8].little(2, 4) + cover.utf8 + [0] + value
            count += 1
        case .remove(let growth, let isIt):
            guard let range = try pictures(items, count: count).first(where: { isIt($0.image) })?.range else {
                return nil
            }
            items.removeSubrange(range)
            count -= 1
            if count == 0, growth >= tag.count { return [] }
        }
        var end = footer
        end.put(.little(items.count + endLength, 4) + .little(count, 4), at: 12)
        // Bits of the flags: there is a header, and this is it.
        end[23] = hasHeader ? 0x80 : 0
        var header = end
        header[23] = 0xA0
        return (hasHeader ? header : []) + items + end
    }

    private static func pictures(_ items: [UInt8], count: Int) throws -> [(range: Range<Int>, image: [UInt8])] {
        var (offset, pictures) = (0, [(range: Range<Int>, image: [UInt8])]())
        for _ in 0..<count {
            let length = try items.little(offset, 4)
            guard let end = items.dropFirst(offset + 8).firstIndex(of: 0) else { throw EmbeddingProblem.damaged }
            let key = String(decoding: items[(offset + 8)..<end], as: UTF8.self)
            let value = try items.bytes(at: end + 1, count: length)
            if key.lowercased() == cover.lowercased() {
                pictures.append((offset..<end + 1 + length, Array(value.drop { $0 != 0 }.dropFirst())))
            }
            offset = end + 1 + length
        }
        return pictures
    }
}
