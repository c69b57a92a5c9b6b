import Platform
import Testing

@testable import CoverSizes

struct ThumbnailTests {
    private static func thumbnail(_ width: Int, _ height: Int, _ color: (Int, Int) -> SIMD3<Int32>) -> Thumbnail {
        Thumbnail(
            width: width, height: height, pixels: (0..<width * height).map { color($0 % width, $0 / width) })
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

    @Test func `a small picture has the colour of its pixels`() throws {
        let jpeg = try Pixels(width: 640, height: 480) { x, _ in x < 400 ? [16, 48, 200] : [240, 240, 240] }.jpeg()
        let color = try SmallPicture.reduce(jpeg, to: 300).made().color
        let distance = zip([16, 8, 0], [16, 48, 200]).map { abs(Int(color >> $0 & 255) - $1) }
        #expect(distance.allSatisfy { $0 < 8 }, "\(String(color, radix: 16))")
    }
}
