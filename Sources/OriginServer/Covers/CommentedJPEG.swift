import NIOCore

/// A JPEG with comment segments (COM, ITU-T T.81 §B.2.4.5) that make its bytes unique and pad it to a size.
///
/// The segments follow SOI and APP0, because a JFIF header must come first. `tail` shares the image's storage: covers
/// with the same image differ only in the bytes before it.
struct CommentedJPEG: Sendable {
    /// The length of SOI and of an APP0 segment without a thumbnail, in bytes.
    private static let headLength = 20
    /// The length of a COM segment without its text.
    static let segmentOverhead = 4

    private let image: ByteBuffer
    private let comment: String
    private let padding: Int

    /// - Parameters:
    ///   - image: a JFIF file without a thumbnail.
    ///   - comment: at most 65,533 bytes of UTF-8.
    ///   - size: the file is padded to this many bytes. It stays one to three bytes shorter where a segment does not fit.
    init(_ image: ByteBuffer, comment: String, size: Int = 0) {
        self.image = image
        self.comment = comment
        let missing = size - image.readableBytes - Self.segmentOverhead - comment.utf8.count
        padding = missing >= Self.segmentOverhead ? missing : 0
    }

    /// The file's length in bytes.
    var length: Int { image.readableBytes + Self.segmentOverhead + comment.utf8.count + padding }

    /// The bytes after those of `writeHead(to:)`.
    var tail: ByteBuffer {
        var tail = image
        tail.moveReaderIndex(forwardBy: Self.headLength)
        return tail
    }

    /// Writes the bytes up to and including the comments.
    func writeHead(to file: inout ByteBuffer) {
        file.writeBytes(image.readableBytesView.prefix(Self.headLength))
        Self.writeSegmentStart(textLength: comment.utf8.count, to: &file)
        file.writeString(comment)
        var remaining = padding
        while remaining > 0 {
            // A segment has at most 65,537 bytes. What remains must be long enough for another one.
            let length = remaining <= 65_537 ? remaining : min(65_537, remaining - Self.segmentOverhead)
            Self.writeSegmentStart(textLength: length - Self.segmentOverhead, to: &file)
            file.writeRepeatingByte(UInt8(ascii: " "), count: length - Self.segmentOverhead)
            remaining -= length
        }
    }

    /// The whole file in one buffer.
    func joined() -> ByteBuffer {
        var file = ByteBuffer()
        file.reserveCapacity(length)
        writeHead(to: &file)
        file.writeImmutableBuffer(tail)
        return file
    }

    private static func writeSegmentStart(textLength: Int, to file: inout ByteBuffer) {
        file.writeInteger(0xFFFE as UInt16)
        // The length field counts itself.
        file.writeInteger(UInt16(textLength + 2))
    }
}
