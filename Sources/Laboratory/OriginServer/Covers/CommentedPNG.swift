/// A PNG with a `tEXt` chunk (RFC 2083 §4.2.3) that makes its bytes unique and pads it to a size.
struct CommentedPNG: Sendable {
    /// The length of the signature and the IHDR chunk, in bytes.
    private static let headLength = 33

    let file: [UInt8]

    /// - Parameter size: the file is padded with spaces to this many bytes.
    init(_ image: [UInt8], comment: String, size: Int) {
        var chunk = Array(("tEXtComment\0" + comment).utf8)
        let overhead = 8  // The chunk's length and checksum.
        let padding = max(0, size - image.count - chunk.count - overhead)
        chunk += [UInt8].filler(padding)
        var file = Array(image.prefix(Self.headLength))
        file.reserveCapacity(image.count + chunk.count + overhead)
        file += Self.bigEndian(UInt32(chunk.count - 4))
        file += chunk
        file += Self.bigEndian(Self.checksum(chunk))
        file += image.dropFirst(Self.headLength)
        self.file = file
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// CRC-32 of a chunk's type and data (RFC 2083 §3.4).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    }

    private static let table = (0..<256 as Range<UInt32>).map { index in
        (0..<8).reduce(index) { value, _ in value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1 }
    }
}
