import ImageHeader
import Platform
import Testing

@testable import CoverSizes

struct SmallPictureTests {
    /// Red above left, blue above right, green below left, white below right.
    private static func quarters(_ width: Int, _ height: Int) -> Pixels {
        Pixels(width: width, height: height) { x, y in
            y < height / 2 ? (x < width / 2 ? red : blue) : (x < width / 2 ? green : white)
        }
    }

    // MARK: Size

    @Test(arguments: [
        (600, 400, 300, 300, 200), (400, 600, 300, 200, 300), (1_000, 333, 150, 150, 50), (900, 2, 150, 150, 1),
    ])
    func `the longest side has the wanted length, and the other its share`(
        _ width: Int, _ height: Int, _ longest: Int, _ smallWidth: Int, _ smallHeight: Int
    ) throws {
        let picture = try SmallPicture.reduce(Self.quarters(width, height).jpeg(), to: longest).made()
        #expect((picture.width, picture.height) == (smallWidth, smallHeight))
        let pixels = try Pixels(jpeg: picture.bytes)
        #expect((pixels.width, pixels.height) == (smallWidth, smallHeight))
    }

    @Test func `a picture is never enlarged`() throws {
        let png = PNGWriter(width: 20, height: 10, colorType: 2) { _, _ in [255, 0, 0] }.bytes
        let picture = try SmallPicture.reduce(png, to: 300).made()
        #expect((picture.width, picture.height) == (20, 10))
    }

    @Test func `the pixels stay where they were`() throws {
        for longest in [30, 70, 99, 160, 300] {
            let pixels = try Pixels(jpeg: SmallPicture.reduce(Self.quarters(640, 640).jpeg(), to: longest).made().bytes)
            let (near, far) = (longest / 4, longest * 3 / 4)
            #expect(pixels.has(red, near, near) && pixels.has(blue, far, near), "\(longest)")
            #expect(pixels.has(green, near, far) && pixels.has(white, far, far), "\(longest)")
            // The edge between the colours is in the middle.
            #expect(
                pixels.has(red, longest / 2 - 8, near, within: 40)
                    && pixels.has(blue, longest / 2 + 8, near, within: 40))
        }
    }

    @Test func `an even area keeps its value in every size`() throws {
        let jpeg = try Pixels(width: 500, height: 300) { _, _ in [120, 120, 120] }.jpeg()
        for longest in [1, 2, 7, 64, 199, 499] {
            let pixels = try Pixels(jpeg: SmallPicture.reduce(jpeg, to: longest).made().bytes)
            #expect(pixels.values.allSatisfy { $0.allSatisfy { abs(Int($0) - 120) <= 1 } }, "\(longest)")
        }
    }

    @Test func `a small baseline JPEG is used as it is, unless its metadata make it large`() throws {
        let jpeg = try Self.quarters(100, 50).jpeg()
        #expect(SmallPicture.reduce(jpeg, to: 100).reason == .isSmall)
        #expect(SmallPicture.reduce(jpeg, to: 99).reason == nil)
        let long = inserting(0xE5, [UInt8](repeating: 0, count: 40_000), into: jpeg)
        #expect(try SmallPicture.reduce(long, to: 100).made().bytes.count < 5_000)
    }

    @Test func `a progressive JPEG becomes a baseline one`() throws {
        let picture = try SmallPicture.reduce(SamplePicture.progressive, to: 300).made()
        #expect(SmallPicture.reduce(picture.bytes, to: 300).reason == .isSmall)
        let pixels = try Pixels(jpeg: picture.bytes)
        #expect(pixels.has(red, 4, 8) && pixels.has(blue, 28, 8))
    }

    // MARK: Orientation

    /// The corners of the shown picture: above left, above right, below left, below right.
    private static let corners: [[[UInt8]]] = [
        [red, blue, green, white], [blue, red, white, green], [white, green, blue, red], [green, white, red, blue],
        [red, green, blue, white], [green, red, white, blue], [white, blue, green, red], [blue, white, red, green],
    ]

    @Test(arguments: 1...8, [false, true])
    func `a picture is turned as its Exif orientation says`(_ orientation: Int, _ isLittle: Bool) throws {
        let data = exif(UInt8(orientation), isLittle: isLittle)
        let quarters = Self.quarters(96, 64)
        let jpeg = inserting(0xE1, Array("Exif\0\0".utf8) + data, into: try quarters.jpeg())
        let png = PNGWriter(width: 96, height: 64, colorType: 2, chunks: [("eXIf", data)]) { x, y in
            quarters[x, y].map { UInt16($0) }
        }.bytes
        for bytes in [jpeg, png] {
            let picture = try SmallPicture.reduce(bytes, to: 48).made()
            let isTurned = orientation > 4
            #expect((picture.width, picture.height) == (isTurned ? (32, 48) : (48, 32)))
            let pixels = try Pixels(jpeg: picture.bytes)
            let (right, bottom) = (picture.width - 6, picture.height - 6)
            let found = [(5, 5), (right, 5), (5, bottom), (right, bottom)]
            for (corner, place) in zip(Self.corners[orientation - 1], found) {
                #expect(pixels.has(corner, place.0, place.1), "\(place): \(pixels[place.0, place.1])")
            }
        }
        // A small one is not used as it is, unless it is upright.
        #expect(SmallPicture.reduce(jpeg, to: 96).reason == (orientation == 1 ? .isSmall : nil))
    }

    @Test func `damaged Exif metadata leave the picture upright`() throws {
        let jpeg = try Self.quarters(96, 64).jpeg()
        for length in 0..<26 {
            let bytes = inserting(0xE1, Array("Exif\0\0".utf8) + exif(6).prefix(length), into: jpeg)
            let picture = try SmallPicture.reduce(bytes, to: 48).made()
            #expect(picture.width == (length >= 20 ? 32 : 48), "\(length)")
        }
        let unknown = inserting(0xE1, Array("Exif\0\0".utf8) + exif(9), into: jpeg)
        #expect(try SmallPicture.reduce(unknown, to: 48).made().width == 48)
    }

    // MARK: Colours

    @Test func `grey stays grey`() throws {
        let grey = try Pixels(width: 64, height: 64) { x, _ in [UInt8](repeating: UInt8(x * 4), count: 3) }.jpeg(
            isGrey: true)
        let png = PNGWriter(width: 64, height: 64, colorType: 4, bitDepth: 16) { x, _ in [UInt16(x) << 10, .max] }.bytes
        for bytes in [grey, png] {
            let pixels = try Pixels(jpeg: SmallPicture.reduce(bytes, to: 32).made().bytes)
            #expect(pixels.isGrey && pixels.has([126, 126, 126], 15, 16, within: 8))
        }
    }

    @Test(arguments: [SamplePicture.cmyk, SamplePicture.ycck, SamplePicture.webP])
    func `inks and WebP become the colours that they show`(_ bytes: [UInt8]) throws {
        for longest in [16, 300] {
            let pixels = try Pixels(jpeg: SmallPicture.reduce(bytes, to: longest).made().bytes)
            #expect(
                pixels.has(red, 2, 2, within: 30) && pixels.has(blue, pixels.width - 3, 2, within: 30),
                "\(pixels[2, 2])")
        }
    }

    @Test func `alpha is on white`() throws {
        let png = PNGWriter(width: 32, height: 16, colorType: 6) { x, _ in
            x < 16 ? [255, 0, 0, 255] : [0, 0, 255, 128]
        }
        let grey = PNGWriter(width: 32, height: 16, colorType: 4) { x, _ in x < 16 ? [0, 0] : [0, 128] }
        for bytes in [png.bytes, SamplePicture.webPAlpha] {
            let pixels = try Pixels(jpeg: SmallPicture.reduce(bytes, to: 300).made().bytes)
            #expect(pixels.has(red, 4, 8) && pixels.has([127, 127, 255], 28, 8), "\(pixels[28, 8])")
        }
        let pixels = try Pixels(jpeg: SmallPicture.reduce(grey.bytes, to: 300).made().bytes)
        #expect(pixels.has(white, 4, 8) && pixels.has([127, 127, 127], 28, 8))
    }

    @Test(arguments: [false, true])
    func `every kind of PNG is read`(_ isInterlaced: Bool) throws {
        let palette: [UInt8] = red + blue
        func half(_ x: Int, _ left: [UInt16], _ right: [UInt16]) -> [UInt16] { x < 20 ? left : right }
        let pictures: [(name: String, png: PNGWriter)] =
            [1, 2, 4, 8].map { depth in
                (
                    "palette \(depth)",
                    PNGWriter(
                        width: 40, height: 24, colorType: 3, bitDepth: depth, isInterlaced: isInterlaced,
                        chunks: [("PLTE", palette)]
                    ) { x, _ in half(x, [0], [1]) }
                )
            } + [
                (
                    "colours 8",
                    PNGWriter(width: 40, height: 24, colorType: 2, isInterlaced: isInterlaced) { x, _ in
                        half(x, [255, 0, 0], [0, 0, 255])
                    }
                ),
                (
                    "colours 16",
                    PNGWriter(width: 40, height: 24, colorType: 2, bitDepth: 16, isInterlaced: isInterlaced) { x, _ in
                        half(x, [.max, 0, 0], [0, 0, .max])
                    }
                ),
                (
                    "alpha 16",
                    PNGWriter(width: 40, height: 24, colorType: 6, bitDepth: 16, isInterlaced: isInterlaced) { x, _ in
                        half(x, [.max, 0, 0, .max], [0, 0, .max, .max])
                    }
                ),
            ]
        for (name, png) in pictures {
            for longest in [20, 300] {
                let pixels = try Pixels(jpeg: SmallPicture.reduce(png.bytes, to: longest).made().bytes)
                #expect(pixels.has(red, 2, 2) && pixels.has(blue, pixels.width - 3, 2), "\(name) \(longest)")
            }
        }
        // A palette's colours may be transparent.
        let clear = PNGWriter(
            width: 40, height: 24, colorType: 3, isInterlaced: isInterlaced, chunks: [("PLTE", palette), ("tRNS", [0])]
        ) { x, _ in half(x, [0], [1]) }
        let pixels = try Pixels(jpeg: SmallPicture.reduce(clear.bytes, to: 300).made().bytes)
        #expect(pixels.has(white, 4, 4) && pixels.has(blue, 36, 4))
    }

    // MARK: Profiles

    /// An ICC profile of a header and a description.
    private static func profile(_ space: String, _ name: String) -> [UInt8] {
        var profile = [UInt8](repeating: 0, count: 128)
        profile.replaceSubrange(16..<20, with: Array(space.utf8))
        let text = Array("desc\0\0\0\0".utf8) + Array(name.utf8)
        return profile + [0, 0, 0, 1] + Array("desc".utf8) + [0, 0, 0, 144, 0, 0, 0, UInt8(text.count)] + text
    }

    @Test(arguments: [("RGB ", "Display P3", true), ("RGB ", "sRGB IEC61966-2.1", false), ("CMYK", "Coated", false)])
    func `a profile is kept unless it is that of sRGB or of other pixels`(
        _ space: String, _ name: String, _ isKept: Bool
    ) throws {
        let profile = Self.profile(space, name)
        let jpeg = try Self.quarters(400, 400).jpeg(profile: profile)
        let small = try SmallPicture.reduce(jpeg, to: 100).made().bytes
        #expect((small.firstRange(of: profile) != nil) == isKept)
        // A description that leads out of the profile.
        var damaged = profile
        damaged[136] = 0x7F
        _ = try SmallPicture.reduce(Self.quarters(400, 400).jpeg(profile: damaged), to: 100).made()
    }

    @Test func `the profile of a WebP is kept, and that of a grey JPEG`() throws {
        let profile = Self.profile("RGB ", "Display P3")
        let data = SamplePicture.webP[12...]
        func number(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(count >> (8 * $0) & 255) } }
        // RFC 9649 section 2.7: an extended header with the flag of a profile, the profile, the picture.
        let padding = [UInt8](repeating: 0, count: profile.count & 1)
        let content =
            Array("WEBPVP8X".utf8) + number(10) + [0x20, 0, 0, 0, 31, 0, 0, 15, 0, 0]
            + Array("ICCP".utf8) + number(profile.count) + profile + padding + data
        let small = try SmallPicture.reduce(Array("RIFF".utf8) + number(content.count) + content, to: 16).made().bytes
        #expect(small.firstRange(of: profile) != nil)

        let grey = Self.profile("GRAY", "Dot Gain 20%")
        let jpeg = try Self.quarters(64, 64).jpeg(isGrey: true, profile: grey)
        #expect(try SmallPicture.reduce(jpeg, to: 32).made().bytes.firstRange(of: grey) != nil)
    }

    @Test func `the parts of a JPEG's profile are joined by their numbers`() throws {
        let (profile, jpeg) = (Self.profile("RGB ", "Display P3"), try Self.quarters(400, 400).jpeg())
        func part(_ number: UInt8, _ bytes: ArraySlice<UInt8>) -> [UInt8] {
            [0xFF, 0xE2, 0, UInt8(bytes.count + 16)] + Array("ICC_PROFILE\0".utf8) + [number, 2] + bytes
        }
        let parts = part(2, profile[100...]) + part(1, profile[..<100])
        let small = try SmallPicture.reduce(Array(jpeg[..<2] + parts + jpeg[2...]), to: 100).made().bytes
        #expect(small.firstRange(of: profile) != nil)
    }

    @Test func `what follows a chunk of odd length in a WebP is read, as the chunk is padded`() throws {
        func number(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(count >> (8 * $0) & 255) } }
        let exif = exif(6)
        let content =
            Array("WEBPVP8X".utf8) + number(10) + [0x08, 0, 0, 0, 31, 0, 0, 15, 0, 0] + SamplePicture.webP[12...]
            + Array("ODD ".utf8) + number(3) + [1, 2, 3, 0] + Array("EXIF".utf8) + number(exif.count) + exif
        let small = try SmallPicture.reduce(Array("RIFF".utf8) + number(content.count) + content, to: 16).made()
        #expect(small.width == 8 && small.height == 16, "it is turned")
    }

    // MARK: What cannot be made smaller

    @Test func `other formats and animations are used as they are`() {
        let gif = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3B]
        for bytes in [gif, Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8), [], SamplePicture.animatedWebP] {
            #expect(SmallPicture.reduce(bytes, to: 300).reason == .format)
        }
    }

    @Test(arguments: [(UInt8(2), true), (1, false)])
    func `an animated PNG is used as it is, and one of a single frame is not`(frames: UInt8, isAnimated: Bool) {
        var writer = PNGWriter(width: 400, height: 400, colorType: 0) { x, y in [UInt16((x + y) % 256)] }
        writer.chunks = [("acTL", [0, 0, 0, frames, 0, 0, 0, 0])]
        #expect((SmallPicture.reduce(writer.bytes, to: 300).reason == .format) == isAnimated)
        #expect(
            writer.bytes[..<64].withUnsafeBytes { ImageHeader.isAnimated($0) } == isAnimated, "its beginning says so")
    }

    @Test func `a picture of a few bytes that claims billions of pixels is refused`() throws {
        let png = PNGWriter(width: 1, height: 1, colorType: 6) { _, _ in [1, 2, 3, 4] }
        var header = png.bytes
        header.replaceSubrange(16..<24, with: [0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF])
        var jpeg = try Self.quarters(64, 64).jpeg()
        let frame = try #require(jpeg.firstRange(of: [0xFF, 0xC0]))
        jpeg.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
        var row = header
        row.replaceSubrange(16..<24, with: [0, 0, 0x40, 1, 0, 0, 0, 1])
        for bytes in [header, jpeg, row] {
            #expect(SmallPicture.reduce(bytes, to: 300).reason == .tooLarge)
        }
    }

    private static func samples() throws -> [[UInt8]] {
        let png = PNGWriter(width: 40, height: 24, colorType: 6) { x, y in [UInt16(x * 6), UInt16(y * 10), 9, 200] }
        var interlaced = png
        interlaced.isInterlaced = true
        return [
            try quarters(96, 64).jpeg(profile: profile("RGB ", "Display P3")), SamplePicture.progressive,
            SamplePicture.cmyk,
            SamplePicture.ycck, SamplePicture.webP, SamplePicture.webPAlpha, png.bytes, interlaced.bytes,
        ]
    }

    @Test func `a picture that was cut off is damaged`() throws {
        for sample in try Self.samples() {
            for share in 1..<8 {
                let reason = SmallPicture.reduce(Array(sample.prefix(sample.count * share / 8)), to: 16).reason
                #expect(reason == .damaged || reason == .format)
            }
        }
    }

    @Test func `damaged bytes never crash`() throws {
        let isLong = getenv("SLEEVE_LONG_TESTS") != nil
        var random = SplitMix64(seed: 32)
        for sample in try Self.samples() {
            for _ in 0..<(isLong ? 20_000 : 60) {
                var bytes = sample
                for _ in 0...Int(random.next() % 4) {
                    let place = Int(random.next() % UInt64(bytes.count))
                    switch random.next() % 4 {
                    case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                    case 1: bytes[place] ^= 1 << UInt8(random.next() % 8)
                    case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 9)))
                    default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
                    }
                    if bytes.isEmpty { bytes = [0xFF] }
                }
                if case .made(let picture) = SmallPicture.reduce(bytes, to: 24) {
                    #expect(max(picture.width, picture.height) <= 24)
                }
            }
        }
    }
}
