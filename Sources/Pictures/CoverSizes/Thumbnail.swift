/// At most 32 by 32 pixels, the averages of a picture's areas.
struct Thumbnail {
    private static let side = 32
    /// About how many rows and columns of a larger area count, evenly spaced: the most frequent colour of a picture needs no more.
    private static let samples = 3

    let width, height: Int
    /// In rows.
    let pixels: [SIMD3<Int32>]

    init(width: Int, height: Int, pixels: [SIMD3<Int32>]) {
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    /// - Parameter source: rows of red, green, blue, and a byte without meaning.
    init(width sourceWidth: Int, height sourceHeight: Int, of source: UnsafePointer<UInt8>) {
        let (width, height) = (min(sourceWidth, Self.side), min(sourceHeight, Self.side))
        func step(_ length: Int, _ count: Int) -> Int { max(1, (length + count / 2) / count) }
        let acrossStep = step(sourceWidth, width * Self.samples)
        let downStep = step(sourceHeight, height * Self.samples)
        var pixels: [SIMD3<Int32>] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            let rows = stride(from: row * sourceHeight / height, to: (row + 1) * sourceHeight / height, by: downStep)
            for column in 0..<width {
                let (first, end) = (column * sourceWidth / width, (column + 1) * sourceWidth / width)
                var (sum, count) = (SIMD3<Int32>(), Int32(0))
                for y in rows {
                    for x in stride(from: first, to: end, by: acrossStep) {
                        let place = source + (y * sourceWidth + x) * 4
                        sum &+= SIMD3(Int32(place[0]), Int32(place[1]), Int32(place[2]))
                        count &+= 1
                    }
                }
                pixels.append((sum &+ SIMD3(repeating: count / 2)) / SIMD3(repeating: count))
            }
        }
        self.init(width: width, height: height, pixels: pixels)
    }

    var isPlain: Bool {
        guard let first = pixels.first else { return false }
        return pixels.allSatisfy { pixel in (0..<3).allSatisfy { abs(pixel[$0] - first[$0]) <= 2 } }
    }

    /// Red, green and blue, 8 bits each: the average of the most frequent kind of colour, of eight steps for each of red, green and blue. An average of all would be a grey
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
