/// Ogg (RFC 3533) with Vorbis or Opus (RFC 7845).
enum Ogg {
    static func vorbis(_ tags: MusicTags) -> [UInt8] {
        let identification = [1] + "vorbis".utf8 + zeros(4) + [2] + little(44_100, 4) + zeros(12) + [0xB8, 1]
        let comment = [3] + "vorbis".utf8 + VorbisComment.block(tags, pictures: true) + [1]
        return pages([[identification], [comment, [5] + "vorbis".utf8 + zeros(8)], [zeros(16)]])
    }

    static func opus(_ tags: MusicTags) -> [UInt8] {
        let head = Array("OpusHead".utf8) + [1, 2] + little(312, 2) + little(48_000, 4) + zeros(3)
        return pages([
            [head], [Array("OpusTags".utf8) + VorbisComment.block(tags, pictures: true)], [[0xFC, 0xFF, 0xFE]],
        ])
    }

    /// Pages of whole packets.
    private static func pages(_ packets: [[[UInt8]]]) -> [UInt8] {
        packets.enumerated().flatMap { number, packets in
            let lacing = packets.flatMap { [UInt8](repeating: 255, count: $0.count / 255) + [UInt8($0.count % 255)] }
            precondition(lacing.count < 256, "the comments do not fit into a page")
            let kind: UInt8 = number == 0 ? 2 : 0
            func page(_ checksum: Int) -> [UInt8] {
                Array("OggS".utf8) + [0, kind] + zeros(8) + little(1, 4) + little(number, 4) + little(checksum, 4) + [
                    UInt8(lacing.count)
                ] + lacing
                    + packets.flatMap { $0 }
            }
            return page(checksum(page(0)))
        }
    }

    /// The CRC of RFC 3533 section 6, bit by bit.
    private static func checksum(_ bytes: [UInt8]) -> Int {
        var value: UInt32 = 0
        for byte in bytes {
            value ^= UInt32(byte) << 24
            for _ in 0..<8 { value = value << 1 ^ (value >> 31 == 1 ? 0x04C1_1DB7 : 0) }
        }
        return Int(value)
    }
}
