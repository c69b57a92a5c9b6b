import NIOCore

/// A JPEG with comment segments (COM, ITU-T T.81 §B.2.4.5) that make its bytes unique and pad it to a size.
struct CommentedJPEG: Sendable {
    /// The length of SOI and of an APP0 segment without a thumbnail, in bytes. A JFIF header must come first.
    private static let headLength = 20
    /// The length of a COM segment without its text.
    private static let segmentOverhead = 4

    let file: ByteBuffer

    /// - Parameters:
    ///   - image: a JFIF file without a thumbnail.
    ///   - comment: at most 65,533 bytes of UTF-8.
    ///   - size: the file is padded to this many bytes. It stays one to three bytes shorter where a segment does not fit.
    init(_ image: ByteBuffer, comment: String, size: Int = 0) {
        var file = ByteBuffer()
        file.reserveCapacity(max(size, image.readableBytes + Self.segmentOverhead + comment.utf8.count))
        file.writeBytes(image.readableBytesView.prefix(Self.headLength))
        Self.writeSegmentStart(textLength: comment.utf8.count, to: &file)
        file.writeString(comment)
        let missing = size - image.readableBytes - Self.segmentOverhead - comment.utf8.count
        var remaining = missing >= Self.segmentOverhead ? missing : 0
        while remaining > 0 {
            // A segment has at most 65,537 bytes. What remains must be long enough for another one.
            let length = remaining <= 65_537 ? remaining : min(65_537, remaining - Self.segmentOverhead)
            Self.writeSegmentStart(textLength: length - Self.segmentOverhead, to: &file)
            file.writeRepeatingByte(UInt8(ascii: " "), count: length - Self.segmentOverhead)
            remaining -= length
        }
        file.writeBytes(image.readableBytesView.dropFirst(Self.headLength))
        self.file = file
    }

    private static func writeSegmentStart(textLength: Int, to file: inout ByteBuffer) {
        file.writeInteger(0xFFFE as UInt16)
        // The length field counts itself.
        file.writeInteger(UInt16(textLength + 2))
    }
}
