import Files
import Platform

/// MPEG-4 (ISO/IEC 14496-12) with iTunes' metadata: boxes, in which `moov`, `udta`, `meta`, `ilst` contain the cover `covr`.
struct MP4File: AudioContainer {
    private struct Box {
        var name: String
        var range: Range<Int>
        var headerLength: Int
        var content: Range<Int> { range.lowerBound + headerLength..<range.upperBound }
    }

    /// Of a file, and of what contains them: files that are not fragmented have a few.
    private static let maximumBoxes = 1 << 16

    let audio: [Range<Int>]
    let facts: [UInt8]
    private let moov: [UInt8]
    private let range: Range<Int>

    init(_ file: AudioFile) throws {
        var (boxes, offset): ([Box], Int) = ([], 0)
        while offset < file.length {
            guard boxes.count < Self.maximumBoxes else { throw TagFailure.damaged }
            let box = try Self.box(file.bytes(at: offset, upTo: 16), at: offset, end: file.length)
            boxes.append(box)
            offset = box.range.upperBound
        }
        guard !boxes.contains(where: { $0.name == "moof" }) else { throw TagFailure(reason: "is fragmented") }
        let found = boxes.filter { $0.name == "moov" }
        guard found.count == 1, found[0].headerLength == 8 else { throw TagFailure.damaged }
        range = found[0].range
        moov = try file.bytes(range)
        audio = boxes.filter { $0.name != "moov" }.map(\.range)
        // The samples are at the same places of the audio.
        let data = boxes.filter { $0.name == "mdat" }.map(\.content)
        facts = try Self.offsets(in: moov).flatMap { offset -> [UInt8] in
            guard let index = data.firstIndex(where: { $0.contains(offset.value) || $0.upperBound == offset.value })
            else {
                throw TagFailure(reason: "has samples outside of its data")
            }
            return .big(index, 4) + .big(offset.value - data[index].lowerBound, 8)
        }
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        guard var new = try Self.replacing(["moov", "udta", "meta", "ilst"], in: moov, change) else { return nil }
        let moved = new.count - moov.count
        for offset in try Self.offsets(in: new) where offset.value >= range.upperBound && moved != 0 {
            guard offset.count == 8 || offset.value + moved < 1 << 32 else {
                throw TagFailure(reason: "would be larger than its format allows")
            }
            new.put(.big(offset.value + moved, offset.count), at: offset.position)
        }
        return [.init(range, new)]
    }

    // MARK: Boxes

    /// - Parameters:
    ///   - head: The first bytes of the box.
    ///   - end: Of what contains it.
    private static func box(_ head: [UInt8], at offset: Int, end: Int) throws -> Box {
        var (length, headerLength) = (try head.big(0, 4), 8)
        if length == 1 { (length, headerLength) = (try head.big(8, 8), 16) }
        if length == 0 { length = end - offset }
        guard length >= headerLength, length <= end - offset else { throw TagFailure.damaged }
        // Names have bytes that are no ASCII.
        let name = String(String.UnicodeScalarView(head[4..<8].map { Unicode.Scalar($0) }))
        return Box(name: name, range: offset..<offset + length, headerLength: headerLength)
    }

    /// The boxes in a range. Fewer than 8 bytes at its end are none: `udta` may end with zeros.
    private static func boxes(in bytes: [UInt8], _ range: Range<Int>) throws -> [Box] {
        var (boxes, offset): ([Box], Int) = ([], range.lowerBound)
        while offset + 8 <= range.upperBound {
            guard boxes.count < maximumBoxes else { throw TagFailure.damaged }
            let box = try box(Array(bytes[offset..<min(offset + 16, bytes.count)]), at: offset, end: range.upperBound)
            boxes.append(box)
            offset = box.range.upperBound
        }
        return boxes
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        .big(content.count + 8, 4) + name.utf8 + content
    }

    /// Where the numbers are that say where samples are, and what they are.
    private static func offsets(in moov: [UInt8]) throws -> [(position: Int, count: Int, value: Int)] {
        var ranges = [8..<moov.count]
        for name in ["trak", "mdia", "minf", "stbl"] {
            ranges = try ranges.flatMap { try boxes(in: moov, $0).filter { $0.name == name }.map(\.content) }
        }
        let tables = try ranges.flatMap { try boxes(in: moov, $0) }
        guard !tables.contains(where: { $0.name == "saio" }) else { throw TagFailure(reason: "is encrypted") }
        return try tables.filter { $0.name == "stco" || $0.name == "co64" }.flatMap { table in
            let start = table.content.lowerBound
            let (count, width) = (try moov.big(start + 4, 4), table.name == "stco" ? 4 : 8)
            guard count <= (table.content.count - 8) / width else { throw TagFailure.damaged }
            return try (0..<count).map { index in
                let position = start + 8 + index * width
                return (position, width, try moov.big(position, width))
            }
        }
    }

    // MARK: The cover

    /// Changes the innermost of nested boxes.
    /// - Parameter path: The names of a box and of those in it, which are created if they are missing.
    /// - Returns: The box; nil if the picture to remove is not there.
    private static func replacing(_ path: [String], in box: [UInt8], _ change: PictureChange) throws -> [UInt8]? {
        if path.count == 1 { return try changed(box, change).map { Self.box(path[0], $0) } }
        // `meta` begins with a version, but not in QuickTime's files.
        let start = path[0] == "meta" && !box.has("hdlr", at: 12) ? 12 : 8
        guard start <= box.count else { throw TagFailure.damaged }
        let children = try boxes(in: box, start..<box.count)
        guard let child = children.first(where: { $0.name == path[1] }) else {
            guard case .add = change, let new = try replacing(Array(path.dropFirst()), in: empty(path[1]), change)
            else {
                return nil
            }
            // `udta` may end with zeros.
            let index = path[0] == "udta" ? start : box.count
            return Self.box(path[0], box[8..<index] + new + box[index...])
        }
        guard child.headerLength == 8 else { throw TagFailure.damaged }
        guard var new = try replacing(Array(path.dropFirst()), in: Array(box[child.range]), change) else { return nil }
        var end = child.range.upperBound
        if path[1] == "ilst" {
            // The space after it takes up the difference, if there is enough.
            let free = children.first { $0.range.lowerBound == end && $0.name == "free" }
            let grown = if case .remove(let growth, _) = change { growth } else { 0 }
            let space = (free?.range.count ?? 0) - (new.count - child.range.count) - grown
            if space >= 8 { new += Self.box("free", .zeros(space - 8)) }
            if space >= 8 || space == 0, let free { end = free.range.upperBound }
        }
        return Self.box(path[0], box[8..<child.range.lowerBound] + new + box[end...])
    }

    /// A box as it is created. `meta` has a handler.
    private static func empty(_ name: String) -> [UInt8] {
        let handler = box("hdlr", .zeros(8) + "mdirappl".utf8 + .zeros(9))
        return box(name, name == "meta" ? .zeros(4) + handler : [])
    }

    /// The content of `ilst`.
    private static func changed(_ box: [UInt8], _ change: PictureChange) throws -> [UInt8]? {
        let items = try boxes(in: box, 8..<box.count)
        let covers = items.first { $0.name == "covr" }
        switch change {
        case .add(let cover):
            guard covers == nil else { throw TagFailure(reason: "has an empty cover") }
            let type = cover.mediaType == "image/png" ? 14 : 13
            return box[8...] + Self.box("covr", Self.box("data", .big(type, 4) + .zeros(4) + cover.bytes))
        case .remove(_, let isIt):
            guard let covers else { return nil }
            let pictures = try boxes(in: box, covers.content)
            let index = pictures.firstIndex { $0.content.count >= 8 && isIt(Array(box[$0.content].dropFirst(8))) }
            guard let index else { return nil }
            let rest = pictures.indices.filter { $0 != index }.flatMap { box[pictures[$0].range] }
            let new = rest.isEmpty ? [] : Self.box("covr", rest)
            return box[8..<covers.range.lowerBound] + new + box[covers.range.upperBound...]
        }
    }
}
