import ImageHeader
import Testing

@testable import OriginServer

@Suite
struct CoverImageTests {
    /// The longest side in pixels; nil if the bytes are no whole image of this type.
    private func side(_ bytes: [UInt8], _ type: String = "image/jpeg") -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let header = ImageHeader(bytes), header.mediaType == type, ImageHeader.isComplete(bytes) else {
                return nil
            }
            return max(header.width ?? 0, header.height ?? 0)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4, 100, 4_999, Int.max])
    func `a cover is a JPEG of 200, 320 or 600 pixels`(number: Int) {
        #expect([200, 320, 600].contains(side(CoverImage.jpeg(number: number))))
    }

    @Test func `every number has its own bytes, which are always the same: 8 to 250 KB, 31 KB on average`() {
        let all = (0..<2_000).map { CoverImage.jpeg(number: $0) }
        #expect(Set(all).count == all.count && CoverImage.jpeg(number: 17) == all[17])
        let sizes = all.map(\.count)
        #expect((29_000...34_000).contains(sizes.reduce(0, +) / sizes.count))
        #expect((8_000...9_000).contains(sizes.min() ?? 0) && (240_000...260_000).contains(sizes.max() ?? 0))
    }

    // A COM segment has at most 65,537 bytes.
    @Test(
        arguments: [800, 1_000, 1_234, 5_000, 8_450, 31_000, 65_900, 131_000, 131_637, 131_700, 300_000, 2_000_000])
    func `a cover has the requested size`(size: Int) {
        let bytes = CoverImage.jpeg(number: 9, aboutBytes: size)
        #expect((size - 3...size).contains(bytes.count) && side(bytes) != nil)
        #expect(bytes == CoverImage.jpeg(number: 9, aboutBytes: size))
        #expect(bytes != CoverImage.jpeg(number: 8, aboutBytes: size))
    }

    @Test func `a size that is too small gives the smallest cover`() {
        let bytes = CoverImage.jpeg(number: 9, aboutBytes: 0)
        #expect(bytes.count < 700 && side(bytes) == 32)
    }

    @Test(arguments: [0, 5_000])
    func `a PNG is whole, has its own bytes and the requested size`(size: Int) {
        let bytes = CoverImage.png(number: 3, aboutBytes: size)
        #expect(side(bytes, "image/png") == 32 && (size == 0 || bytes.count == size))
        #expect(bytes != CoverImage.png(number: 4, aboutBytes: size))
    }

    @Test func `the embedded covers are all different and have the sizes their table names`() {
        let files = EmbeddedCover.all.map { $0.images }
        #expect(Set(files.joined()).count == 36)
        for sizes in files {
            #expect(sizes.map { side($0) } == [600, 320, 200])
            #expect(sizes[1].count <= 17_500 && sizes[2].count <= 8_400)
        }
    }
}
