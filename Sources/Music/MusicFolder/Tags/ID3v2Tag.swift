import Files
import Platform

/// ID3v2.2, 2.3 and 2.4 (id3.org).
///
/// A tag keeps its version and every frame, byte for byte. What is rare in music is refused: compressed tags, extended headers with
/// checksums, footers.
struct ID3v2Tag {
    private static let headerLength = 10
    /// Of a tag that has to grow.
    private static let padding = 1_024
    /// Some programs put a tag before another one.
    private static let maximumTags = 16

    private struct Frame {
        var id: String
        /// With its header.
        var bytes: [UInt8]
    }

    private var header: [UInt8]
    private var extendedHeader: [UInt8] = []
    private var frames: [Frame] = []
    /// Length in the file, without the header.
    private let bodyLength: Int

    private var version: UInt8 { header[3] }
    private var isUnsynchronized: Bool { header[5] & 0x80 != 0 }
    private var idLength: Int { version == 2 ? 3 : 4 }

    /// The tags that a file begins with.
    static func ranges(in file: AudioFile) throws -> [Range<Int>] {
        var (ranges, start): ([Range<Int>], Int) = ([], 0)
        while let length = length(try file.bytes(at: start, upTo: headerLength)) {
            guard length <= file.length - start, ranges.count < maximumTags else { throw TagFailure.damaged }
            ranges.append(start..<start + length)
            start += length
        }
        return ranges
    }

    /// The length of the tag that begins so; nil if there is none.
    private static func length(_ head: [UInt8]) -> Int? {
        guard head.count == headerLength, head.has("ID3", at: 0), let length = syncsafe(head[6...]) else { return nil }
        return headerLength + length + (hasFooter(head) ? headerLength : 0)
    }

    private static func hasFooter(_ header: [UInt8]) -> Bool { header[3] == 4 && header[5] & 0x10 != 0 }

    /// Changes a tag. An empty one does not exist, before or afterwards.
    static func apply(_ change: PictureChange, to bytes: [UInt8]) throws -> [UInt8]? {
        var tag = try bytes.isEmpty ? ID3v2Tag() : ID3v2Tag(bytes)
        switch change {
        case .add(let cover):
            tag.frames.append(try tag.frame(cover))
            return try tag.rendered(bodyLength: tag.bodyLength, padding: padding)
        case .remove(let growth, let isIt):
            guard let index = tag.frames.firstIndex(where: { tag.image(of: $0).map(isIt) ?? false }) else { return nil }
            tag.frames.remove(at: index)
            if tag.frames.isEmpty, growth >= bytes.count { return [] }
            return try tag.rendered(bodyLength: max(0, tag.bodyLength - growth), padding: 0)
        }
    }

    /// A new tag is one of version 2.3, which every player reads.
    private init() { (header, bodyLength) = (Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0], 0) }

    private init(_ bytes: [UInt8]) throws {
        guard bytes.has("ID3", at: 0), let length = Self.syncsafe(bytes.dropFirst(6).prefix(4)),
            length <= bytes.count - Self.headerLength
        else { throw TagFailure.damaged }
        (header, bodyLength) = (Array(bytes.prefix(Self.headerLength)), bytes.count - Self.headerLength)
        var body = Array(bytes.dropFirst(Self.headerLength))
        guard (2...4).contains(version), !Self.hasFooter(header), version > 2 || header[5] & 0x40 == 0 else {
            throw TagFailure(reason: "has an ID3v2 tag of a rare kind")
        }
        if isUnsynchronized, version < 4 { body = Self.resynchronized(body) }
        if version > 2, header[5] & 0x40 != 0 {
            guard version == 4, let length = Self.syncsafe(body.prefix(4)), length >= 6, length <= body.count,
                body[5] & 0x20 == 0
            else { throw TagFailure(reason: "has an ID3v2 tag with an extended header") }
            extendedHeader = Array(body.prefix(length))
        }
        try parse(body, from: extendedHeader.count)
    }

    private mutating func parse(_ body: [UInt8], from start: Int) throws {
        var offset = start
        let frameHeader = version == 2 ? 6 : 10
        while offset < body.count, body[offset] != 0 {
            guard isFrame(body, at: offset) else { throw TagFailure.damaged }
            let length = frameHeader + (try contentLength(body, at: offset))
            frames.append(
                Frame(
                    id: String(decoding: body[offset..<offset + idLength], as: UTF8.self),
                    bytes: try body.bytes(at: offset, count: length)))
            offset += length
        }
        // What follows is padding.
        guard body[min(offset, body.count)...].allSatisfy({ $0 == 0 }) else { throw TagFailure.damaged }
    }

    /// iTunes has left names of 2.2 in tags of 2.3, with a zero behind them: `TP1`. TagLib reads these frames, too.
    private func isFrame(_ body: [UInt8], at offset: Int) -> Bool {
        guard offset + idLength <= body.count else { return false }
        let isShort = version == 3 && body[offset + 3] == 0
        return body[offset..<offset + (isShort ? 3 : idLength)].allSatisfy {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
    }

    /// Some versions of iTunes write lengths of 2.4 as those of 2.3.
    private func contentLength(_ body: [UInt8], at offset: Int) throws -> Int {
        if version < 4 { return try body.big(offset + idLength, version == 2 ? 3 : 4) }
        let plain = try body.big(offset + 4, 4)
        for length in [Self.syncsafe(body[(offset + 4)..<(offset + 8)]), plain].compactMap({ $0 }) {
            let end = offset + 10 + length
            if end == body.count || end < body.count && (body[end] == 0 || isFrame(body, at: end)) { return length }
        }
        throw TagFailure.damaged
    }

    // MARK: Pictures

    private func frame(_ cover: EmbeddableCover) throws -> Frame {
        let type = UInt8(EmbeddedPicture.frontCover)
        if version == 2 {
            let format = cover.mediaType == "image/png" ? "PNG" : "JPG"
            let content = [0] + format.utf8 + [type, 0] + cover.bytes
            guard content.count < 1 << 24 else { throw TagFailure(reason: "has a tag that is full") }
            return Frame(id: "PIC", bytes: "PIC".utf8 + [UInt8].big(content.count, 3) + content)
        }
        var content = [0] + cover.mediaType.utf8 + [0, type, 0] + cover.bytes
        if version == 3 {
            return Frame(id: "APIC", bytes: "APIC".utf8 + [UInt8].big(content.count, 4) + [0, 0] + content)
        }
        // In 2.4 each frame is unsynchronized by itself.
        if isUnsynchronized { content = Self.unsynchronized(content) }
        let flags: [UInt8] = isUnsynchronized ? [0, 2] : [0, 0]
        return Frame(id: "APIC", bytes: "APIC".utf8 + Self.syncsafe(content.count) + flags + content)
    }

    /// The image in a frame; nil if it has none that could be Sleeve's.
    private func image(of frame: Frame) -> [UInt8]? {
        guard frame.id == (version == 2 ? "PIC" : "APIC") else { return nil }
        var content = frame.bytes.dropFirst(version == 2 ? 6 : 10)
        if version == 3, frame.bytes[9] != 0 { return nil }
        if version == 4 {
            let flags = frame.bytes[9]
            // Compressed, encrypted or in a group.
            if flags & 0x4C != 0 { return nil }
            if flags & 1 != 0 { content = content.dropFirst(4) }
            if flags & 2 != 0 || isUnsynchronized { content = Self.resynchronized(Array(content))[...] }
        }
        guard let encoding = content.popFirst() else { return nil }
        if version == 2 {
            content = content.dropFirst(3)
        } else {
            content = content.drop { $0 != 0 }.dropFirst()
        }
        content = content.dropFirst()  // the type
        if encoding == 0 || encoding == 3 { return Array(content.drop { $0 != 0 }.dropFirst()) }
        // A description in UTF-16 ends with two zeros.
        while content.count > 1, content.prefix(2) != [0, 0] { content = content.dropFirst(2) }
        return Array(content.dropFirst(2))
    }

    // MARK: Writing

    /// - Parameters:
    ///   - bodyLength: What the body gets if that is enough.
    ///   - padding: Added if that is not enough.
    private func rendered(bodyLength: Int, padding: Int) throws -> [UInt8] {
        var body = extendedHeader + frames.flatMap(\.bytes)
        if isUnsynchronized, version < 4 { body = Self.unsynchronized(body) }
        body += [UInt8].zeros(body.count <= bodyLength ? bodyLength - body.count : padding)
        guard body.count < 1 << 28 else { throw TagFailure(reason: "has a tag that is full") }
        var header = header
        header.put(Self.syncsafe(body.count), at: 6)
        return header + body
    }

    private static func syncsafe(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count == 4, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        return bytes.reduce(0) { $0 << 7 | Int($1) }
    }

    private static func syncsafe(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(value >> (7 * $0) & 0x7F) } }

    private static func resynchronized(_ bytes: [UInt8]) -> [UInt8] {
        var (result, last): ([UInt8], UInt8) = ([], 0)
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if last != 0xFF || byte != 0 { result.append(byte) }
            last = byte
        }
        return result
    }

    private static func unsynchronized(_ bytes: [UInt8]) -> [UInt8] {
        var (result, last): ([UInt8], UInt8) = ([], 0)
        result.reserveCapacity(bytes.count + bytes.count / 64)
        for byte in bytes {
            if last == 0xFF, byte == 0 || byte >= 0xE0 { result.append(0) }
            result.append(byte)
            last = byte
        }
        if last == 0xFF { result.append(0) }
        return result
    }
}

/// MP3: ID3v2 tags, then frames. What follows them, such as APEv2, Lyrics3 and ID3v1, stays as it is.
struct MP3File: AudioContainer {
    let audio: [Range<Int>]
    private let file: AudioFile
    private let tag: Range<Int>

    /// - Parameter start: The end of the tags that the file begins with.
    init(_ file: AudioFile, start: Int) throws {
        guard start < file.length else { throw TagFailure(reason: "has no audio") }
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
