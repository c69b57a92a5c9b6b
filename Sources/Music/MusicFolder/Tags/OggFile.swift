import Files
import Platform

/// Ogg (RFC 3533) with one stream of Vorbis or Opus, whose second packet has the comments.
struct OggFile: AudioContainer {
    private struct Page {
        var range: Range<Int>
        var sequence: UInt32
    }

    /// Some 2 GB of pages as programs write them. More would take much memory.
    static let maximumPages = 1 << 19
    /// Of the packets that precede the audio.
    private static let maximumHeaders = 64 << 20

    private let file: AudioFile
    private let pages: [Page]
    /// Identifies the stream on its pages.
    private let serial: [UInt8]
    /// The pages that have the comments, and the packets that end on them.
    private let region: Range<Int>
    private let packets: [[UInt8]]
    /// What precedes the comments in their packet.
    private let prefix: Int

    let audio: [Range<Int>]
    let facts: [UInt8]

    /// - Parameter head: The first bytes of the file.
    init(_ file: AudioFile, head: [UInt8]) throws {
        let codecs = [("\u{1}vorbis", 7), ("OpusHead", 8)]
        guard let prefix = codecs.first(where: { head.has($0.0, at: 28) })?.1 else {
            throw OtherFormat(name: "Ogg with another codec than Vorbis and Opus")
        }
        let serial = try head.bytes(14..<18)
        let pages = try Self.pages(of: file, serial)
        let (packets, region) = try Self.packets(of: file, pages)
        (self.file, self.pages, self.serial, self.prefix) = (file, pages, serial, prefix)
        (self.packets, self.region) = (packets, region)
        let rest = pages[region.upperBound...]
        // Checksums and sequence numbers may change, but not the distances of the numbers.
        let ranges = rest.flatMap { page in
            [page.range.lowerBound..<page.range.lowerBound + 18, page.range.lowerBound + 26..<page.range.upperBound]
        }
        audio = [pages[0].range] + ranges + [pages[pages.count - 1].range.upperBound..<file.length]
        let last = Int(pages[region.upperBound - 1].sequence)
        let distances = rest.flatMap { [UInt8].big(Int($0.sequence) - last, 8) }
        facts = packets.dropFirst().flatMap { [UInt8].big($0.count, 4) + $0 } + distances
    }

    private static func pages(of file: AudioFile, _ serial: [UInt8]) throws -> [Page] {
        var (pages, offset): ([Page], Int) = ([], 0)
        while offset < file.length {
            let head = try file.bytes(at: offset, upTo: 27 + 255)
            guard head.count >= 27, head.has("OggS", at: 0), head[4] == 0, head.count >= 27 + Int(head[26]) else {
                throw TagFailure.damaged
            }
            guard pages.count < maximumPages else { throw TagFailure(reason: "has too many pages") }
            let headerLength = 27 + Int(head[26])
            let length = headerLength + head[27..<headerLength].reduce(0) { $0 + Int($1) }
            guard length <= file.length - offset else { throw TagFailure(reason: "is cut off") }
            guard head[14..<18] == serial[...] else { throw TagFailure(reason: "has several streams") }
            pages.append(Page(range: offset..<offset + length, sequence: UInt32(try head.little(18, 4))))
            offset += length
            // The end of the stream. Another one may follow.
            if head[5] & 4 != 0 { break }
        }
        return pages
    }

    /// The packets after the first one, up to the end of a page that ends with a packet.
    private static func packets(of file: AudioFile, _ pages: [Page]) throws -> ([[UInt8]], Range<Int>) {
        var (packets, packet, total): ([[UInt8]], [UInt8], Int) = ([], [], 0)
        for (number, page) in pages.enumerated().dropFirst() {
            let bytes = try file.bytes(page.range)
            // The time of a page on which no audio packet ends.
            guard bytes[6..<14].allSatisfy({ $0 == 0 }) || bytes[6..<14].allSatisfy({ $0 == 0xFF }) else {
                throw TagFailure(reason: "has audio beside its tags")
            }
            total += bytes.count
            guard total <= maximumHeaders else { throw TagFailure(reason: "has a tag that is full") }
            let lacing = bytes[27..<27 + Int(bytes[26])]
            var offset = lacing.endIndex
            for length in lacing {
                packet += bytes[offset..<offset + Int(length)]
                offset += Int(length)
                if length < 255 {
                    packets.append(packet)
                    packet = []
                }
            }
            if packet.isEmpty, !packets.isEmpty { return (packets, 1..<number + 1) }
        }
        throw TagFailure.damaged
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        var packets = packets
        guard packets[0].count >= prefix else { throw TagFailure.damaged }
        guard let comments = try VorbisComments.apply(change, to: Array(packets[0].dropFirst(prefix))) else {
            return nil
        }
        packets[0] = packets[0].prefix(prefix) + comments
        guard comments.count < 1 << 24 else { throw TagFailure(reason: "has a tag that is full") }
        let new = try paginated(packets)
        let moved = new.count - region.count
        let range = pages[region.lowerBound].range.lowerBound..<pages[region.upperBound - 1].range.upperBound
        return try [.init(range, new.flatMap { $0 })]
            + (moved == 0
                ? []
                : pages[region.upperBound...].map { page in
                    var bytes = try file.bytes(page.range)
                    bytes.put(.little(Int(page.sequence) + moved, 4), at: 18)
                    Self.check(&bytes)
                    let start = page.range.lowerBound
                    return .init(start + 18..<start + 26, Array(bytes[18..<26]))
                })
    }

    /// The pages of packets, numbered as the ones that they replace.
    private func paginated(_ packets: [[UInt8]]) throws -> [[UInt8]] {
        let lacing = packets.flatMap { [UInt8](repeating: 255, count: $0.count / 255) + [UInt8($0.count % 255)] }
        let sequence = Int(pages[region.lowerBound].sequence)
        var (rest, start, result) = (packets.flatMap { $0 }[...], 0, [[UInt8]]())
        while start < lacing.count {
            let part = lacing[start..<min(start + 255, lacing.count)]
            let isContinued = start > 0 && lacing[start - 1] == 255
            // No packet ends on the page: its time is -1.
            let time: UInt8 = part.contains { $0 < 255 } ? 0 : 0xFF
            let length = part.reduce(0) { $0 + Int($1) }
            var page = "OggS".utf8 + [0, isContinued ? 1 : 0] + [UInt8](repeating: time, count: 8)
            page += serial + [UInt8].little(sequence + result.count, 4) + [UInt8].zeros(4)
            page += [UInt8(part.count)] + part + rest.prefix(length)
            Self.check(&page)
            result.append(page)
            rest = rest.dropFirst(length)
            start += 255
        }
        return result
    }

    /// Puts the checksum into a page.
    private static func check(_ page: inout [UInt8]) {
        page.put(.zeros(4), at: 22)
        let value = page.withUnsafeBytes { bytes in
            bytes.reduce(UInt32(0)) { $0 << 8 ^ remainders[Int(UInt8($0 >> 24) ^ $1)] }
        }
        page.put(.little(Int(value), 4), at: 22)
    }

    /// Of each byte, by the polynomial of RFC 3533 section 6.
    private static let remainders: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte) << 24) { value, _ in value << 1 ^ (value >> 31 == 1 ? 0x04C1_1DB7 : 0) }
    }
}
