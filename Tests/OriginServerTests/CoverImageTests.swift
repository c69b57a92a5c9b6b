import ImageHeader
import NIOCore
import Testing

@testable import OriginServer

@Suite
struct CoverImageTests {
    @Test(arguments: [0, 1, 2, 3, 4, 100, 4999, Int.max])
    func `a cover is an embedded JPEG with comments`(number: Int) throws {
        let segments = try JPEGSegments(CoverImage.jpeg(number: number))
        #expect(segments.comments.first == "Sleeve cover \(number)")
        #expect([200, 320, 600].contains(segments.width) && segments.width == segments.height)
        let header = CoverImage.jpeg(number: number).withUnsafeBytes { ImageHeader($0) }
        #expect(header?.mediaType == "image/jpeg" && header?.width == segments.width)
        #expect(Self.embeddedFiles.contains(segments.withoutComments))
    }

    @Test func `every number has its own bytes, which are always the same`() {
        let all = (0..<2000).map { CoverImage.jpeg(number: $0) }
        #expect(Set(all).count == all.count)
        #expect(CoverImage.jpeg(number: 17) == all[17])
    }

    @Test func `covers have 8 to 250 KB, 31 KB on average`() {
        let sizes = (0..<5000).map { CoverImage.jpegFile(number: $0).length }
        #expect((29_000...34_000).contains(sizes.reduce(0, +) / sizes.count))
        #expect((8000...9000).contains(sizes.min() ?? 0))
        #expect((240_000...260_000).contains(sizes.max() ?? 0))
        let median = sizes.sorted()[2500]
        #expect((16_000...22_000).contains(median))
    }

    @Test func `all starter covers occur, in all sizes`() throws {
        let images = try Set((0..<500).map { try JPEGSegments(CoverImage.jpeg(number: $0)).withoutComments })
        #expect(images.count > EmbeddedCover.all.count * 2)
        let slugs = EmbeddedCover.all.filter { cover in cover.images.contains { images.contains(Self.bytes($0)) } }
        #expect(slugs.count == EmbeddedCover.all.count)
    }

    @Test(arguments: [800, 1000, 1234, 5000, 8_450, 31_000, 65_900, 131_000, 300_000, 2_000_000])
    func `a cover has the requested size`(size: Int) throws {
        let bytes = CoverImage.jpeg(number: 9, aboutBytes: size)
        #expect((size - 3...size).contains(bytes.count))
        let segments = try JPEGSegments(bytes)
        #expect(segments.comments.first == "Sleeve cover 9")
        #expect(Self.embeddedFiles.contains(segments.withoutComments))
        #expect(bytes == CoverImage.jpeg(number: 9, aboutBytes: size))
        #expect(bytes != CoverImage.jpeg(number: 8, aboutBytes: size))
    }

    @Test func `every size from the smallest up is reached within three bytes`() throws {
        for size in 700..<1200 {
            #expect((size - 3...size).contains(CoverImage.jpegFile(number: size, size: size).length))
        }
        // A COM segment has at most 65,537 bytes.
        for size in (66_100...66_200).map({ $0 + 65_537 }) {
            let bytes = CoverImage.jpeg(number: 3, aboutBytes: size)
            #expect((size - 3...size).contains(bytes.count))
            _ = try JPEGSegments(bytes)
        }
    }

    @Test func `a size that is too small gives the smallest cover`() throws {
        let bytes = CoverImage.jpeg(number: 9, aboutBytes: 0)
        #expect(bytes.count < 700)
        #expect(try JPEGSegments(bytes).width == 32)
    }

    private static let embeddedFiles = Set(
        (EmbeddedCover.all.flatMap(\.images) + [EmbeddedCover.jpegIcon]).map { bytes($0) })

    private static func bytes(_ buffer: ByteBuffer) -> [UInt8] { Array(buffer.readableBytesView) }
}

@Suite
struct CommentedPNGTests {
    @Test(arguments: [0, 5000])
    func `a PNG consists of complete chunks with correct checksums`(size: Int) throws {
        let bytes = CoverImage.png(number: 3, aboutBytes: size)
        if size > 0 { #expect(bytes.count == size) }
        #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        var rest = bytes[8...]
        var names: [String] = []
        while rest.count >= 12 {
            let length = Int(integer(rest))
            let typeAndData = rest.dropFirst(4).prefix(4 + length)
            #expect(checksum(typeAndData) == integer(rest.dropFirst(8 + length)))
            names.append(String(decoding: typeAndData.prefix(4), as: UTF8.self))
            rest = rest.dropFirst(12 + length)
        }
        #expect(rest.isEmpty)
        #expect(names == ["IHDR", "tEXt", "IDAT", "IEND"])
        #expect(bytes != CoverImage.png(number: 4, aboutBytes: size))
    }

    /// Four bytes, most significant first.
    private func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    /// CRC-32, bit by bit (RFC 2083 §3.4).
    private func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = (crc >> 1) ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~crc
    }
}
