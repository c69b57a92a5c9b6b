import CPictures
import Platform

/// What stands for a picture before it is there: its dominant colour, and a BlurHash.
package struct PictureLook: Sendable, Hashable {
    /// Red, green and blue, 8 bits each.
    package var color: UInt32
    /// Of 4 by 3 components: 28 characters.
    package var blurHash: String
    /// All areas have this colour, or nearly: JPEG changes a value here and there.
    package var isPlain = false

    package init(color: UInt32, blurHash: String) { (self.color, self.blurHash) = (color, blurHash) }

    init(of picture: sleeve_picture) {
        let thumbnail = Thumbnail(of: picture)
        (color, blurHash) = (thumbnail.dominantColor, BlurHash.encoded(thumbnail))
        isPlain = thumbnail.isPlain
    }
}

/// At most 32 by 32 pixels, the averages of a picture's areas.
struct Thumbnail {
    private static let side = 32

    let width, height: Int
    /// In rows.
    let pixels: [SIMD3<Int32>]

    init(width: Int, height: Int, pixels: [SIMD3<Int32>]) {
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    init(of picture: sleeve_picture) {
        let (sourceWidth, sourceHeight) = (Int(picture.width), Int(picture.height))
        let (width, height) = (min(sourceWidth, Self.side), min(sourceHeight, Self.side))
        var pixels: [SIMD3<Int32>] = []
        pixels.reserveCapacity(width * height)
        let source = picture.pixels!
        for row in 0..<height {
            let rows = row * sourceHeight / height..<(row + 1) * sourceHeight / height
            for column in 0..<width {
                let columns = column * sourceWidth / width..<(column + 1) * sourceWidth / width
                var sum = SIMD3<Int32>()
                for y in rows {
                    var place = source + (y * sourceWidth + columns.lowerBound) * 4
                    for _ in columns {
                        sum &+= SIMD3(Int32(place[0]), Int32(place[1]), Int32(place[2]))
                        place += 4
                    }
                }
                let count = Int32(rows.count * columns.count)
                pixels.append((sum &+ SIMD3(repeating: count / 2)) / SIMD3(repeating: count))
            }
        }
        self.init(width: width, height: height, pixels: pixels)
    }

    var isPlain: Bool {
        guard let first = pixels.first else { return false }
        return pixels.allSatisfy { pixel in (0..<3).allSatisfy { abs(pixel[$0] - first[$0]) <= 2 } }
    }

    /// The average of the most frequent kind of colour, of eight steps for each of red, green and blue. An average of all would be a grey
    /// that the picture does not have.
    var dominantColor: UInt32 {
        func kind(_ pixel: SIMD3<Int32>) -> Int { Int((pixel.x >> 5) << 6 | (pixel.y >> 5) << 3 | pixel.z >> 5) }
        var counts = [Int](repeating: 0, count: 512)
        for pixel in pixels { counts[kind(pixel)] += 1 }
        let most = counts.indices.max { counts[$0] < counts[$1] } ?? 0
        let sum = pixels.lazy.filter { kind($0) == most }.reduce(SIMD3<Int32>(), &+)
        let color = sum / SIMD3(repeating: Int32(max(counts[most], 1)))
        return UInt32(color.x) << 16 | UInt32(color.y) << 8 | UInt32(color.z)
    }
}
