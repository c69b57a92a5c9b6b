import Platform

/// Ogg (RFC 3533) with one stream of Vorbis, Opus, Speex or FLAC, whose second packet has the comments.
struct OggFile: AudioContainer {
    private struct Page {
        var range: Range<Int>
        /// Up to the packets.
        var header: [UInt8]

        var lacing: ArraySlice<UInt8> { header[27...] }
        /// Whether no audio packet ends on the page.
        var hasNoTime: Bool { header[6..<14].allSatisfy { $0 == 0 } || header[6..<14].allSatisfy { $0 == 0xFF } }
        var sequence: [UInt8] { Array(header[18..<22]) }
    }

    private let file: AudioFile
    private let pages: [Page]
    /// The pages that have the comments, and the packets that end on them.
    private let region: Range<Int>
    private let packets: [[UInt8]]
    /// What precedes the comments in their packet.
    private let prefix: Int

    let audio: [Range<Int>]
    let facts: [UInt8]

    /// - Parameter head: The first bytes of the file.
    init(_ file: AudioFile, head: [UInt8]) throws {
        let codecs = [("\u{1}vorbis", 7), ("OpusHead", 8), ("Speex   ", 0), ("\u{7F}FLAC", 4)]
        guard let prefix = codecs.first(where: { head.has($0.0, at: 28) })?.1 else {
            throw EmbeddingProblem(reason: "has a format whose tags are not written")
        }
        let pages = try Self.pages(of: file)
        let (packets, region) = try Self.packets(of: file, pages)
        (self.file, self.pages, self.prefix, self.packets, self.region) = (file, pages, prefix, packets, region)
        let rest = pages[region.upperBound...]
        // Checksums and sequence numbers may change, but not the distances of the numbers.
        let ranges = rest.flatMap { page in
            [page.range.lowerBound..<page.range.lowerBound + 18, page.range.lowerBound + 26..<page.range.upperBound]
        }
        audio = [pages[0].range] + ranges + [pages[pages.count - 1].range.upperBound..<file.length]
        let last = try pages[region.upperBound - 1].sequence.little(0, 4)
        let distances = try rest.flatMap { try [UInt8].big($0.sequence.little(0, 4) - last, 8) }
        facts = packets.dropFirst().flatMap { [UInt8].big($0.count, 4) + $0 } + distances
    }

    private static func pages(of file: AudioFile) throws -> [Page] {
        var (pages, offset): ([Page], Int) = ([], 0)
        while offset < file.length {
            let head = try file.bytes(at: offset, upTo: 27 + 255)
            guard head.count >= 27, head.has("OggS", at: 0), head[4] == 0, head.count >= 27 + Int(head[26]) else {
                throw EmbeddingProblem.damaged
            }
            let header = Array(head.prefix(27 + Int(head[26])))
            let length = header.count + header[27...].reduce(0) { $0 + Int($1) }
            guard length <= file.length - offset else { throw EmbeddingProblem(reason: "is cut off") }
            if let first = pages.first, first.header[14..<18] != header[14..<18] {
                throw EmbeddingProblem(reason: "has several streams")
            }
            pages.append(Page(range: offset..<offset + length, header: header))
            offset += length
            // The end of the stream. Another one may follow.
            if header[5] & 4 != 0 { break }
        }
        return pages
    }

    /// The packets after the first one, up to the end of a page that ends with a packet.
    private static func packets(of file: AudioFile, _ pages: [Page]) throws -> ([[UInt8]], Range<Int>) {
        var (packets, packet): ([[UInt8]], [UInt8]) = ([], [])
        for (number, page) in pages.enumerated().dropFirst() {
            guard page.hasNoTime else { throw EmbeddingProblem(reason: "has audio beside its tags") }
            let bytes = try file.bytes(page.range)
            var offset = page.header.count
            for length in page.lacing {
                packet += bytes[offset..<offset + Int(length)]
                offset += Int(length)
                if length < 255 {
                    packets.append(packet)
                    packet = []
                }
            }
            if packet.isEmpty, !packets.isEmpty { return (packets, 1..<number + 1) }
        }
        throw EmbeddingProblem.damaged
    }

    func splices(_ change: PictureChange) throws -> [NewFile.Splice]? {
        var packets = packets
        guard packets[0].count >= prefix else { throw EmbeddingProblem.damaged }
        guard let comments = try VorbisComments.apply(change, to: Array(packets[0].dropFirst(prefix))) else {
            return nil
        }
        var head = Array(packets[0].prefix(prefix))
        if prefix == 4 { head.put(.big(comments.count, 3), at: 1) }
        packets[0] = head + comments
        guard comments.count < 1 << 24 else { throw EmbeddingProblem(reason: "has a tag that is full") }
        let new = try paginated(packets)
        let moved = new.count - region.count
        let range = pages[region.lowerBound].range.lowerBound..<pages[region.upperBound - 1].range.upperBound
        return try [.init(range, new.flatMap { $0 })]
            + (moved == 0
                ? []
                : pages[region.upperBound...].map { page in
                    var bytes = try file.bytes(page.range)
                    bytes.put(.little(try page.sequence.little(0, 4) + moved, 4), at: 18)
                    Self.check(&bytes)
                    let start = page.range.lowerBound
                    return .init(start + 18..<start + 26, Array(bytes[18..<26]))
                })
    }

    /// The pages of packets, numbered as the ones that they replace.
    private func paginated(_ packets: [[UInt8]]) throws -> [[UInt8]] {
        let lacing = packets.flatMap { [UInt8](repeating: 255, count: $0.count / 255) + [UInt8($0.count % 255)] }
        let first = pages[region.lowerBound]
        let sequence = try first.sequence.little(0, 4)
        var (rest, start, result) = (packets.flatMap { $0 }[...], 0, [[UInt8]]())
        while start < lacing.count {
            let part = lacing[start..<min(start + 255, lacing.count)]
            let isContinued = start > 0 && lacing[start - 1] == 255
            // No packet ends on the page: its time is -1.
            let time: UInt8 = part.contains { $0 < 255 } ? 0 : 0xFF
            let length = part.reduce(0) { $0 + Int($1) }
            var page = "OggS".utf8 + [0, isContinued ? 1 : 0] + [UInt8](repeating: time, count: 8)
            page += first.header[14..<18] + [UInt8].little(sequence + result.count, 4) + [UInt8].zeros(4)
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
