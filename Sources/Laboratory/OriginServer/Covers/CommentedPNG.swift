import NIOCore

/// A PNG with a `tEXt` chunk (RFC 2083 §4.2.3) that makes its bytes unique and pads it to a size.
struct CommentedPNG: Sendable {
    /// The length of the signature and the IHDR chunk, in bytes.
    private static let headLength = 33

    let file: ByteBuffer

    /// - Parameter size: the file is padded with spaces to this many bytes.
    init(_ image: ByteBuffer, comment: String, size: Int) {
        var chunk = ByteBuffer(string: "tEXtComment\0" + comment)
        let overhead = 8  // The chunk's length and checksum.
        let padding = max(0, size - image.readableBytes - chunk.readableBytes - overhead)
        chunk.writeRepeatingByte(UInt8(ascii: " "), count: padding)
        var file = ByteBuffer()
        file.reserveCapacity(image.readableBytes + chunk.readableBytes + overhead)
        file.writeBytes(image.readableBytesView.prefix(Self.headLength))
        file.writeInteger(UInt32(chunk.readableBytes - 4))
        file.writeImmutableBuffer(chunk)
        file.writeInteger(Self.checksum(chunk.readableBytesView))
        file.writeBytes(image.readableBytesView.dropFirst(Self.headLength))
        self.file = file
    }

    /// CRC-32 of a chunk's type and data (RFC 2083 §3.4).
    private static func checksum(_ bytes: ByteBufferView) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    }

    private static let table = (0..<256 as Range<UInt32>).map { index in
        (0..<8).reduce(index) { value, _ in value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1 }
    }
}
