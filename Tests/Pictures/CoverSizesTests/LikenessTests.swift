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
        /// Red, green and blue become the ones at these places.
        var channels = [0, 1, 2]
        var hasSticker = false
        var isGrey = false

        func pixels(_ size: Int) -> Pixels {
            var generator = SplitMix64(seed: UInt64(number))
            let waves = (0..<12).map { index in
                (0..<4).map {
                    $0 == 3 ? Double.random(in: 0...6, using: &generator) : Double.random(in: -9...9, using: &generator)
                }
                    + [Double(index % 3)]
            }
            return Pixels(width: size, height: size) { x, y in
                var place = [x, y].map { (Double($0) + 0.5) / Double(size) }
                if place.contains(where: { $0 < frame.width || $0 > 1 - frame.width }) { return frame.color }
                place = place.map { left + ($0 - frame.width) / (1 - 2 * frame.width) * side }
                if isMirrored { place[0] = 1 - place[0] }
                if hasSticker, place[0] > 0.72, place[1] > 0.8 { return [0, 0, 0] }
                var color = [120.0, 120, 120]
                for wave in waves {
                    color[Int(wave[4])] += 45 * sin(wave[0] * place[0] + wave[1] * place[1] + wave[3])
                }
                // A disc, which has an edge.
                let middle = (0.3 + waves[0][2] / 40, 0.4 + waves[1][2] / 40)
                if hypot(place[0] - middle.0, place[1] - middle.1) < 0.2 { color = color.map { 255 - $0 } }
                if isGrey {
                    let luma = 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2]
                    color = [luma, luma, luma]
                }
                return channels.map { UInt8(max(0, min(255, color[$0]))) }
            }
        }

        func likeness(_ size: Int = 400) throws -> Likeness {
            try #require(Likeness(pixels(size).jpeg(isGrey: isGrey)))
        }
    }

    private static func flat(_ color: [UInt8]) throws -> Likeness {
        try #require(Likeness(Pixels(width: 300, height: 300) { _, _ in color }.jpeg()))
    }

    @Test(arguments: 1...8)
    func `one picture is the same in all sizes and codings`(_ number: Int) throws {
        let scene = Scene(number: number)
        let (large, pixels) = (try scene.likeness(800), scene.pixels(300))
        let png = PNGWriter(width: 300, height: 300, colorType: 2) { x, y in pixels[x, y].map { UInt16($0) } }.bytes
        for other in [try scene.likeness(250), try scene.likeness(192), try #require(Likeness(png))] {
            #expect(large.verdict(with: other) == .same)
            #expect(other.verdict(with: large) == .same)
        }
    }

    @Test(arguments: 1...8)
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
        for number in 1...8 {
            let picture = try Scene(number: number).likeness()
            for other in number + 1...number + 8 {
                #expect(picture.verdict(with: try Scene(number: other).likeness()) == .different, "\(number), \(other)")
            }
            #expect(picture.verdict(with: try Scene(number: number, isMirrored: true).likeness()) == .different)
            #expect(picture.verdict(with: try Scene(number: number, channels: [1, 2, 0]).likeness()) == .different)
        }
    }

    @Test func `a picture of one colour, a ramp or a few pixels proves nothing`() throws {
        let ramp = Pixels(width: 300, height: 300) { x, _ in [UInt8](repeating: UInt8(x / 2), count: 3) }
        let plain = try [Self.flat(white), Self.flat([200, 40, 40]), #require(Likeness(ramp.jpeg()))]
        for picture in plain {
            for other in plain + [try Scene(number: 1).likeness()] { #expect(picture.verdict(with: other) == .plain) }
        }
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
