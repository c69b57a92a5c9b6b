/// A small PNG without compression: 32 × 32 pixels in "stored" deflate blocks (RFC 2083, RFC 1950, RFC 1951).
enum PNGImage {
    static let side = 32

    /// - Parameters:
    ///   - drawing: what it shows.
    ///   - comment: text for a tEXt chunk, which is also what makes it as long as wanted.
    static func encode(_ drawing: Drawing, comment: [UInt8]) -> [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity(side * (1 + 3 * side))
        for row in 0..<side {
            rows.append(0)  // no filter
            for column in 0..<side {
                let color = drawing.color((Float(column) + 0.5) / Float(side), (Float(row) + 0.5) / Float(side))
                rows += [byte(color.red), byte(color.green), byte(color.blue)]
            }
        }
        let size = big(UInt32(side))
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", size + size + [8, 2, 0, 0, 0])
            + chunk("tEXt", Array("Comment".utf8) + [0] + comment)
            + chunk("IDAT", stored(rows)) + chunk("IEND", [])
    }

    /// A zlib stream of one stored block; `bytes` has at most 65,535.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let low = UInt8(bytes.count & 0xFF)
        let high = UInt8(bytes.count >> 8)
        return [0x78, 0x01, 0x01, low, high, ~low, ~high] + bytes + big(adler(bytes))
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + data
        return big(UInt32(data.count)) + named + big(crc(named))
    }

    private static func byte(_ level: Float) -> UInt8 { UInt8(max(0, min(255, level))) }

    private static func big(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    /// Adler-32 (RFC 1950, section 8.2).
    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return high << 16 | low
    }

    /// CRC-32 (RFC 2083, section 3.4), four bits at a time: sixteen entries make a table small enough to need no cache.
    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var table: [UInt32] = []
        for index in 0..<16 as Range<UInt32> {
            var value = index
            for _ in 0..<4 {
                let shifted = value >> 1
                value = value & 1 == 1 ? shifted ^ 0xEDB8_8320 : shifted
            }
            table.append(value)
        }
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            crc = (crc >> 4) ^ table[Int(crc & 15)]
            crc = (crc >> 4) ^ table[Int(crc & 15)]
        }
        return ~crc
    }
}
