import Platform

/// A JPEG with comment segments (COM, ITU-T T.81 §B.2.4.5) that make its bytes unique and pad it to a size.
struct CommentedJPEG: Sendable {
    /// The length of SOI and of an APP0 segment without a thumbnail, in bytes. A JFIF header must come first.
    private static let headLength = 20
    /// The length of a COM segment without its text.
    private static let segmentOverhead = 4

    let file: [UInt8]

    /// - Parameters:
    ///   - image: a JFIF file without a thumbnail.
    ///   - comment: at most 65,533 bytes of UTF-8.
    ///   - size: the file is padded to this many bytes. It stays one to three bytes shorter where a segment does not fit.
    init(_ image: [UInt8], comment: String, size: Int = 0) {
        var file: [UInt8] = []
        file.reserveCapacity(max(size, image.count + Self.segmentOverhead + comment.utf8.count))
        file += image.prefix(Self.headLength)
        Self.writeSegmentStart(textLength: comment.utf8.count, to: &file)
        file += comment.utf8
        let missing = size - image.count - Self.segmentOverhead - comment.utf8.count
        var remaining = missing >= Self.segmentOverhead ? missing : 0
        while remaining > 0 {
            // A segment has at most 65,537 bytes. What remains must be long enough for another one.
            let length = remaining <= 65_537 ? remaining : min(65_537, remaining - Self.segmentOverhead)
            Self.writeSegmentStart(textLength: length - Self.segmentOverhead, to: &file)
            file += [UInt8].filler(length - Self.segmentOverhead)
            remaining -= length
        }
        file += image.dropFirst(Self.headLength)
        self.file = file
    }

    private static func writeSegmentStart(textLength: Int, to file: inout [UInt8]) {
        file += [0xFF, 0xFE]
        // The length field counts itself.
        file += [UInt8((textLength + 2) >> 8), UInt8((textLength + 2) & 0xFF)]
    }
}

extension [UInt8] {
    /// Spaces. Not optimized, an array that repeats an element takes a second for 20 MB.
    static func filler(_ count: Int) -> [UInt8] {
        // All empty arrays are one object, whose length this would write from several threads.
        if count == 0 { return [] }
        return Array(unsafeUninitializedCapacity: count) { bytes, filled in
            if let start = bytes.baseAddress { memset(start, 0x20, count) }
            filled = count
        }
    }
}
