import Platform
import Testing

@testable import CoverSizes

struct LikenessTests {
    /// A picture of soft waves and discs; another one for each number.
    private struct Scene {
        var number: Int
        /// Part of the picture that is shown: its place and its side, where the side of all is 1.
        var left = 0.0
        var side = 1.0
        /// Of the side, and its colour.
        var frame = (width: 0.0, color: white)
        var isMirrored = false
        /// Green becomes red, blue green, and red blue.
        var isTurned = false
        var hasSticker = false
        var isGrey = false

        private struct Wave {
            var x, y, width, phase: Double

            func height(_ x: Double, _ y: Double) -> Double { 45 * sin(self.x * x + self.y * y + phase) }
        }

        /// Written for builds without optimisation, where an array for each number of a pixel takes most of the time.
        func pixels(_ size: Int) -> Pixels {
            var generator = SplitMix64(seed: UInt64(number))
            func random(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &generator) }
            let waves = (0..<12).map { _ in
                Wave(x: random(-9...9), y: random(-9...9), width: random(-9...9), phase: random(0...6))
            }
            // A disc, which has an edge.
            let middle = (0.3 + waves[0].width / 40, 0.4 + waves[1].width / 40)
            return Pixels(width: size, height: size) { x, y in
                var (x, y) = ((Double(x) + 0.5) / Double(size), (Double(y) + 0.5) / Double(size))
                if min(x, y) < frame.width || max(x, y) > 1 - frame.width { return frame.color }
                x = left + (x - frame.width) / (1 - 2 * frame.width) * side
                y = left + (y - frame.width) / (1 - 2 * frame.width) * side
                if isMirrored { x = 1 - x }
                if hasSticker, x > 0.72, y > 0.8 { return [0, 0, 0] }
                var (red, green, blue) = (120.0, 120.0, 120.0)
                var index = 0
                while index < 12 {
                    red += waves[index].height(x, y)
                    green += waves[index + 1].height(x, y)
                    blue += waves[index + 2].height(x, y)
                    index += 3
                }
                if hypot(x - middle.0, y - middle.1) < 0.2 { (red, green, blue) = (255 - red, 255 - green, 255 - blue) }
                if isGrey {
                    red = 0.299 * red + 0.587 * green + 0.114 * blue
                    (green, blue) = (red, red)
                }
                let color = [byte(red), byte(green), byte(blue)]
                return isTurned ? [color[1], color[2], color[0]] : color
            }
        }

        private func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value))) }

        func likeness(_ size: Int = 256) throws -> Likeness {
            try #require(Likeness(pixels(size).jpeg(isGrey: isGrey)))
        }
    }

    private static func flat(_ color: [UInt8]) throws -> Likeness {
        try #require(Likeness(Pixels(width: 300, height: 300) { _, _ in color }.jpeg()))
    }

    @Test(arguments: 1...4)
    func `one picture is the same in all sizes and codings`(_ number: Int) throws {
        let scene = Scene(number: number)
        let (large, pixels) = (try scene.likeness(500), scene.pixels(300))
        let png = PNGWriter(width: 300, height: 300, colorType: 2) { x, y in pixels[x, y].map { UInt16($0) } }.bytes
        for other in [try scene.likeness(250), try scene.likeness(192), try #require(Likeness(png))] {
            #expect(large.verdict(with: other) == .same)
            #expect(other.verdict(with: large) == .same)
        }
    }

    @Test(arguments: 1...4)
    func `one design is recognised in a frame, cropped, in grey and under a sticker`(_ number: Int) throws {
        let picture = try Scene(number: number).likeness()
        for color in [white, [0, 0, 0]] {
            #expect(picture.verdict(with: try Scene(number: number, frame: (0.04, color)).likeness()) >= .alike)
        }
        #expect(picture.verdict(with: try Scene(number: number, left: 0.01, side: 0.97).likeness()) >= .alike)
        #expect(picture.verdict(with: try Scene(number: number, isGrey: true).likeness()) == .alike)
        #expect(picture.verdict(with: try Scene(number: number, hasSticker: true).likeness()) == .alike)
    }

    @Test func `other pictures, mirrored ones and other colours are different`() throws {
        let others = try (1...16).map { try Scene(number: $0).likeness() }
        for number in 1...8 {
            let picture = others[number - 1]
            for other in number..<number + 8 {
                #expect(picture.verdict(with: others[other]) == .different, "\(number), \(other + 1)")
            }
            #expect(picture.verdict(with: try Scene(number: number, isMirrored: true).likeness()) == .different)
            #expect(picture.verdict(with: try Scene(number: number, isTurned: true).likeness()) == .different)
        }
    }

    @Test func `a picture of one colour, a ramp or a few pixels proves nothing`() throws {
        let ramp = Pixels(width: 300, height: 300) { x, _ in [UInt8](repeating: UInt8(x / 2), count: 3) }
        let plain = try [Self.flat(white), Self.flat([200, 40, 40]), #require(Likeness(ramp.jpeg()))]
        for picture in plain {
            for other in plain + [try Scene(number: 1).likeness()] { #expect(picture.verdict(with: other) == .plain) }
        }
    }

    /// Covers of an artist have one layout, in which a few letters differ.
    @Test func `a name on a ground is the same only if the small type below it is, too`() throws {
        func cover(_ period: Int) throws -> Likeness {
            let pixels = Pixels(width: 300, height: 300) { x, y in
                let isName = (90..<210).contains(x) && (130..<160).contains(y) && x / 10 % 2 == 0
                let isType = (100..<200).contains(x) && (172..<176).contains(y) && x / period % 2 == 0
                return [UInt8](repeating: isName ? 20 : isType ? 200 : 244, count: 3)
            }
            return try #require(Likeness(pixels.jpeg()))
        }
        let picture = try cover(4)
        #expect(picture.verdict(with: picture) == .same)
        #expect(picture.verdict(with: try cover(6)) == .alike)
    }

    @Test(arguments: [(1, 1), (1, 900), (900, 1), (2, 3), (31, 33), (192, 191), (193, 192), (7, 7)])
    func `pictures of any size are described`(_ width: Int, _ height: Int) throws {
        let picture = try #require(
            Likeness(
                Pixels(width: width, height: height) { x, y in [UInt8(x * 7 & 255), UInt8(y * 5 & 255), 90] }.jpeg()))
        #expect(picture.verdict(with: picture) != .different)
    }

    @Test func `what is stored gives the same picture, and other bytes none`() throws {
        for scene in [Scene(number: 3), Scene(number: 3, frame: (0.03, white))] {
            let picture = try scene.likeness()
            #expect(Likeness(stored: picture.stored) == picture)
        }
        for count in [0, 3, 4, 1_155, 1_157, 2_304, 5_000] {
            #expect(Likeness(stored: [UInt8](repeating: 7, count: count)) == nil, "\(count)")
        }
    }

    @Test func `what cannot be read has no likeness`() throws {
        let jpeg = try Scene(number: 1).pixels(300).jpeg()
        #expect(Likeness([UInt8](jpeg.prefix(jpeg.count / 2))) == nil)
        #expect(Likeness([UInt8]("GIF89a".utf8)) == nil)
        #expect(Likeness([]) == nil)
    }
}

extension Likeness {
    fileprivate init?(_ bytes: [UInt8]) {
        guard let likeness = bytes.withUnsafeBytes({ Likeness($0) }) else { return nil }
        self = likeness
    }
}
