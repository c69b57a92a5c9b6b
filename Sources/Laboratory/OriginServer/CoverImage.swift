import CStarterCovers
import Platform

/// Covers by number: embedded images that a comment makes unique. The same number always gives the same bytes.
package enum CoverImage {
    /// A JPEG.
    /// - Parameters:
    ///   - image: Which of the twelve embedded images one with a size shows; nil for any.
    ///   - size: Its length in bytes, at most three bytes shorter. The shortest has about 650 bytes. Nil for 8 to 250 KB; the mean over
    ///     many numbers is 31 KB.
    package static func jpeg(number: Int, image: Int? = nil, aboutBytes size: Int? = nil) -> [UInt8] {
        let hash = SplitMix64.mix(UInt64(bitPattern: Int64(number)))
        guard let size else {
            return CommentedJPEG.file(of: templates[Int(hash % UInt64(templates.count))], comment: comment(number))
        }
        let count = EmbeddedCover.all.count
        let cover = EmbeddedCover.all[image.map { $0 % count } ?? Int(hash % UInt64(count))]
        return CommentedJPEG.file(of: cover.image(forFileOf: size), comment: comment(number), size: size)
    }

    /// A PNG of 32 pixels and about 2 KB, padded to `size` bytes.
    package static func png(number: Int, aboutBytes size: Int = 0) -> [UInt8] {
        CommentedPNG.file(of: EmbeddedCover.pngIcon, comment: comment(number), size: size)
    }

    /// The JPEG of 600 pixels of a starter album; nil for an unknown slug.
    package static func starter(_ slug: String) -> [UInt8]? {
        EmbeddedCover.all.first { $0.slug == slug }.map { $0.images[0] }
    }

    private static func comment(_ number: Int) -> String { "Sleeve cover \(number)" }

    /// An upper bound for a cover's COM segment, in bytes.
    static let maximumCommentLength = 40

    /// A JPEG for each of `sizes`, which the covers share. They take 2 MB and are built when the first cover is needed.
    private static let templates = sizes.enumerated().map { index, size in
        let size = size - maximumCommentLength
        let cover = EmbeddedCover.all[index % EmbeddedCover.all.count]
        return CommentedJPEG.file(of: cover.image(forFileOf: size), comment: cover.slug, size: size)
    }

    /// The covers' lengths in bytes: the 64 quantiles of a shifted log-normal distribution,
    /// `8000 + 10500 · exp(1.3 · z)`. Their mean is 31 KB, as in a library of real covers.
    private static let sizes = [
        8500, 8800, 9100, 9300, 9500, 9800, 10000, 10200, 10500, 10700, 10900, 11200,
        11400, 11700, 12000, 12200, 12500, 12800, 13100, 13400, 13700, 14100, 14400, 14800,
        15100, 15500, 15900, 16300, 16800, 17200, 17700, 18200, 18800, 19300, 19900, 20600,
        21200, 21900, 22700, 23500, 24300, 25200, 26200, 27300, 28400, 29600, 31000, 32400,
        34100, 35800, 37800, 40100, 42600, 45400, 48800, 52600, 57300, 62900, 70000, 79300,
        92200, 111700, 147100, 251300,
    ]
}

/// A starter album's cover in the sizes that are embedded in the binary.
struct EmbeddedCover: Sendable {
    /// The name in the URL, such as "low-tide".
    let slug: String
    /// JPEGs of 600, 320 and 200 pixels.
    let images: [[UInt8]]

    static let all = (0..<sleeve_cover_count).map { EmbeddedCover(sleeve_cover_at($0)) }

    /// A JPEG of 32 pixels.
    static let jpegIcon = bytes(of: sleeve_icon_jpeg())
    /// A PNG of 32 pixels.
    static let pngIcon = bytes(of: sleeve_icon_png())

    private init(_ cover: sleeve_cover) {
        slug = String(cString: cover.slug)
        images = [cover.pixels_600, cover.pixels_320, cover.pixels_200].map(Self.bytes)
    }

    private static func bytes(of image: sleeve_image) -> [UInt8] {
        Array(UnsafeBufferPointer(start: image.bytes, count: image.length))
    }

    /// The largest image that leaves room for a cover's comment in a file of `size` bytes, or the icon.
    func image(forFileOf size: Int) -> [UInt8] {
        images.first { $0.count + CoverImage.maximumCommentLength <= size } ?? Self.jpegIcon
    }
}

/// A JPEG with comment segments (COM, ITU-T T.81 §B.2.4.5) that make its bytes unique and pad it to a size.
private enum CommentedJPEG {
    /// The length of SOI and of an APP0 segment without a thumbnail, in bytes. A JFIF header must come first.
    private static let headLength = 20
    /// The length of a COM segment without its text.
    private static let segmentOverhead = 4

    /// - Parameters:
    ///   - image: a JFIF file without a thumbnail.
    ///   - comment: at most 65,533 bytes of UTF-8.
    ///   - size: the file is padded to this many bytes. It stays one to three bytes shorter where a segment does not fit.
    static func file(of image: [UInt8], comment: String, size: Int = 0) -> [UInt8] {
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
        return file
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

/// A PNG with a `tEXt` chunk (RFC 2083 §4.2.3) that makes its bytes unique and pads it to a size.
private enum CommentedPNG {
    /// The length of the signature and the IHDR chunk, in bytes.
    private static let headLength = 33

    /// - Parameter size: the file is padded with spaces to this many bytes.
    static func file(of image: [UInt8], comment: String, size: Int) -> [UInt8] {
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
        return file
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
