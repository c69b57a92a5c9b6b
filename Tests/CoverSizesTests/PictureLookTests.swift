import ImageHeader
import Platform
import Testing

@testable import CoverSizes

struct PictureLookTests {
    private static func thumbnail(_ width: Int, _ height: Int, _ color: (Int, Int) -> SIMD3<Int32>) -> Thumbnail {
        Thumbnail(
            width: width, height: height, pixels: (0..<width * height).map { color($0 % width, $0 / width) })
    }

    /// What the package `blurhash` of PyPI makes of the same pixels.
    @Test func `a BlurHash is what other programs make of the same pixels`() {
        let gradient = Self.thumbnail(32, 32) { x, y in SIMD3(Int32(x * 8), Int32(y * 8), Int32((x + y) * 4)) }
        #expect(BlurHash.encoded(gradient) == "LxH2cg2kwzX5l?WGjue:gLfkfQfj")
        let squares = Self.thumbnail(32, 20) { x, y in
            (x / 8 + y / 5) % 2 == 0 ? SIMD3(250, 40, 10) : SIMD3(5, 90, Int32(x * 7))
        }
        #expect(BlurHash.encoded(squares) == "LLLA2tx5fUxC$m+[fU{yfQfQfQfQ")
        #expect(BlurHash.encoded(Self.thumbnail(1, 1) { _, _ in SIMD3(12, 200, 99) }) == "L~1coCl+l+l+l+l+l+l+l+l+l+l+")
        #expect(BlurHash.encoded(Self.thumbnail(7, 3) { _, _ in .zero }) == "L00000fQfQfQfQfQfQfQfQfQfQfQ")
    }

    @Test func `a picture is plain if all of its areas have nearly one colour`() {
        #expect(Self.thumbnail(32, 32) { x, _ in SIMD3(200, 10, Int32(x % 3)) }.isPlain)
        #expect(!Self.thumbnail(32, 32) { x, y in SIMD3(200, 10, x == 9 && y == 3 ? 3 : 0) }.isPlain)
    }

    @Test func `the dominant colour is one that the picture has`() {
        let flag = Self.thumbnail(30, 30) { x, _ in
            x < 14 ? SIMD3(200, 10, 10) : x < 22 ? SIMD3(10, 10, 200) : SIMD3(10, 200, 10)
        }
        #expect(flag.dominantColor == 0xC8_0A_0A)
    }

    @Test func `a small picture has the look of its pixels`() throws {
        let jpeg = try Pixels(width: 640, height: 480) { x, _ in x < 400 ? [16, 48, 200] : [240, 240, 240] }.jpeg()
        let look = try SmallPicture.reduce(jpeg, to: 300).made().look
        #expect(look.blurHash.utf8.count == 28 && look.blurHash.hasPrefix("L"))
        let distance = zip([16, 8, 0], [16, 48, 200]).map { abs(Int(look.color >> $0 & 255) - $1) }
        #expect(distance.allSatisfy { $0 < 8 }, "\(String(look.color, radix: 16))")
    }
}
