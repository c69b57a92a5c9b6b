import Platform

/// Writes PNG files (W3C PNG specification) of any kind, without compression.
struct PNGWriter {
    var width, height: Int
    /// 0 grey, 2 colours, 3 palette, 4 grey and alpha, 6 colours and alpha.
    var colorType: UInt8
    var bitDepth: UInt8 = 8
    var isInterlaced = false
    /// Chunks before the pixels: their types and their data.
    var chunks: [(type: String, data: [UInt8])] = []
    /// The samples of a pixel, of as many bits as `bitDepth` says.
    var pixel: (_ x: Int, _ y: Int) -> [UInt16]

    var bytes: [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        append("IHDR", header, to: &bytes)
        for chunk in chunks { append(chunk.type, chunk.data, to: &bytes) }
        append("IDAT", Self.stored(rows), to: &bytes)
        append("IEND", [], to: &bytes)
        return bytes
    }

    private var header: [UInt8] {
        bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [bitDepth, colorType, 0, 0, isInterlaced ? 1 : 0]
    }

    /// The rows of each pass (section 8.1), each after the filter 0.
    private var rows: [UInt8] {
        let passes =
            isInterlaced
            ? [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
            : [(0, 0, 1, 1)]
        var rows: [UInt8] = []
        for (left, top, across, down) in passes where left < width {
            for y in stride(from: top, to: height, by: down) {
                rows.append(0)
                rows += packed(stride(from: left, to: width, by: across).flatMap { pixel($0, y) })
            }
        }
        return rows
    }

    private func packed(_ samples: [UInt16]) -> [UInt8] {
        switch bitDepth {
        case 16: return samples.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        case 8: return samples.map { UInt8($0) }
        default:
            let count = 8 / Int(bitDepth)
            return stride(from: 0, to: samples.count, by: count).map { start in
                (0..<count).reduce(0) { byte, index in
                    byte << bitDepth | (start + index < samples.count ? UInt8(samples[start + index]) : 0)
                }
            }
        }
    }

    /// A zlib stream (RFC 1950) of stored blocks.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65_535) {
            let block = bytes[start..<min(start + 65_535, bytes.count)]
            let length = UInt16(block.count)
            stream.append(start + block.count == bytes.count ? 1 : 0)
            for number in [length, ~length] { stream += [UInt8(number & 255), UInt8(number >> 8)] }
            stream += block
        }
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return stream + Self.bigEndian(high << 16 | low)
    }

    private func append(_ type: String, _ data: [UInt8], to bytes: inout [UInt8]) {
        let content = Array(type.utf8) + data
        var crc = UInt32.max
        for byte in content {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        bytes += Self.bigEndian(UInt32(data.count)) + content + Self.bigEndian(~crc)
    }

    private func bigEndian(_ number: UInt32) -> [UInt8] { Self.bigEndian(number) }
    private static func bigEndian(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) } }
}
