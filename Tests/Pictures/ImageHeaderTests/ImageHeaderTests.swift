import Testing

@testable import ImageHeader

/// The shortest header of each format's specification, cut after the size, or after the signature where the size is not read.
enum ImageSample {
    static func big(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    static func little(_ value: Int, _ size: Int) -> [UInt8] { big(value, size).reversed() }
    static func box(_ type: String, _ contents: [UInt8]) -> [UInt8] {
        big(contents.count + 8, 4) + type.utf8 + contents
    }

    /// SOI, a fill byte, APP0, `metadata` bytes of APP1, DHT, JPG, DAC, then the frame.
    static func jpeg(frame: UInt8 = 0xC0, metadata: Int = 300) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xFF, 0xE0] + big(4, 2) + [0xFF, 0xC0]
            + [0xFF, 0xE1] + big(metadata + 2, 2) + [UInt8](repeating: 0xFF, count: metadata)
            + [0xFF, 0xC4] + big(3, 2) + [0] + [0xFF, 0xC8] + big(8, 2) + [8, 0, 1, 0, 1, 3]
            + [0xFF, 0xCC] + big(8, 2) + [8, 0, 2, 0, 2, 3]
            + [0xFF, frame] + big(17, 2) + [8] + big(480, 2) + big(640, 2) + [3]
    }
    static let png =
        [0x89] + Array("PNG\r\n\u{1A}\n".utf8) + big(13, 4) + Array("IHDR".utf8) + big(640, 4) + big(480, 4)
    static let gif = Array("GIF89a".utf8) + little(640, 2) + little(480, 2)
    static func webP(_ type: String, _ data: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + little(data.count + 12, 4) + Array("WEBP\(type)".utf8) + little(data.count, 4) + data
    }
    /// The two bits of scaling above each lossy size are set.
    static let webPLossy = webP(
        "VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A] + little(640 | 0x4000, 2) + little(480 | 0x8000, 2))
    /// Its pixels have alpha values: the bit above the lengths is set.
    static let webPLossless = webP("VP8L", [0x2F] + little(639 | 479 << 14 | 1 << 28, 4))
    static let webPExtended = webP("VP8X", [0, 0, 0, 0] + little(639, 3) + little(479, 3))
    static func isoMedia(_ major: String, _ compatible: String) -> [UInt8] {
        let extent = box("ispe", big(0, 4) + big(640, 4) + big(480, 4))
        let properties = box("pixi", [0, 0, 0, 0]) + extent + extent
        return box("ftyp", Array(major.utf8) + big(0, 4) + compatible.utf8)
            + box("meta", big(0, 4) + box("hdlr", [0]) + box("iprp", box("ipco", properties)))
    }
    /// As cjxl 0.7 writes it.
    static let jpegXL: [UInt8] = [0xFF, 0x0A, 0xF8, 0x3E, 0x90, 0x50, 0x5C, 0x08]
    static func jpegXLContainer(_ codestream: [UInt8]) -> [UInt8] {
        box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", Array("jxl ".utf8) + big(0, 4) + Array("jxl ".utf8))
            + codestream
    }
    static let bmp = Array("BM".utf8) + little(0, 12) + little(40, 4) + little(640, 4) + little(-480, 4)
    static let bmpCore = Array("BM".utf8) + little(0, 12) + little(12, 4) + little(640, 2) + little(480, 2)

    /// Formats of which only the type is known.
    static let unsized: Set = ["image/jxl", "image/bmp", "image/tiff", "image/svg+xml"]
    /// Name, bytes and media type; each is 640 by 480 pixels.
    static let all: [(String, [UInt8], String)] = [
        ("JPEG", jpeg(), "image/jpeg"), ("progressive JPEG", jpeg(frame: 0xC2), "image/jpeg"),
        ("JPEG with 65 KB of metadata", jpeg(metadata: 65_000), "image/jpeg"),
        ("PNG", png, "image/png"), ("GIF", gif, "image/gif"),
        ("lossy WebP", webPLossy, "image/webp"), ("lossless WebP", webPLossless, "image/webp"),
        ("extended WebP", webPExtended, "image/webp"),
        ("AVIF", isoMedia("avif", "avifmif1"), "image/avif"),
        ("AVIF, HEIF first", isoMedia("mif1", "avif"), "image/avif"),
        ("HEIC", isoMedia("heic", "mif1heic"), "image/heic"), ("HEIF", isoMedia("mif1", "mif1"), "image/heif"),
        ("JPEG XL", jpegXL, "image/jxl"),
        ("JPEG XL in a box", jpegXLContainer(box("jxlc", jpegXL)), "image/jxl"),
        ("BMP", bmp, "image/bmp"), ("old BMP", bmpCore, "image/bmp"),
        ("TIFF II", Array("II".utf8) + little(42, 2) + little(8, 4), "image/tiff"),
        ("TIFF MM", Array("MM".utf8) + big(42, 2) + big(8, 4), "image/tiff"),
        ("SVG", Array("<svg width=\"640\" height='480px'>".utf8), "image/svg+xml"),
    ]
}

@Suite struct ImageHeaderTests {
    private func header(_ bytes: some Sequence<UInt8>) -> ImageHeader? {
        Array(bytes).withUnsafeBytes { ImageHeader($0) }
    }
    private func header(_ text: String) -> ImageHeader? { header(text.utf8) }
    private func describe(_ bytes: some Sequence<UInt8>) -> String {
        Array(bytes).withUnsafeBytes { ImageHeader.describe($0) }
    }

    @Test func `the first 64 KiB of a picture never say that it is none, however late its header ends`() {
        func mayBegin(_ start: [UInt8]) -> Bool {
            (start + [UInt8](repeating: 0x20, count: 70_000)).prefix(64 << 10).withUnsafeBytes {
                ImageHeader.mayBegin(with: $0)
            }
        }
        for (name, bytes, _) in ImageSample.all { #expect(mayBegin(bytes), "\(name)") }
        let comment = "<?xml version='1.0'?><!-- "
        let late: [(String, [UInt8])] = [
            ("AVIF", ImageSample.box("ftyp", Array("avif".utf8) + ImageSample.big(0, 4))),
            ("TIFF", Array("II".utf8) + ImageSample.little(42, 2) + ImageSample.little(90_000, 4)),
            ("SVG", Array(comment.utf8)), ("SVG in UTF-16", comment.utf8.flatMap { [0, $0] }),
        ]
        for (name, bytes) in late { #expect(mayBegin(bytes), "\(name)") }
        let others: [(String, [UInt8])] = [
            ("MP3", Array("ID3".utf8) + [4, 0]), ("Ogg", Array("OggS".utf8)), ("FLAC", Array("fLaC".utf8)),
            ("MPEG-4 audio", ImageSample.box("ftyp", Array("M4A ".utf8) + ImageSample.big(0, 4))),
            ("HTML", Array("<!DOCTYPE html><html><body>".utf8)), ("JSON", Array("{".utf8)), ("blanks", []),
        ]
        for (name, bytes) in others { #expect(!mayBegin(bytes), "\(name)") }
    }

    @Test(arguments: ImageSample.all.indices)
    func `each format is recognised with its size, or without one where none is read`(index: Int) {
        let (name, bytes, mediaType) = ImageSample.all[index]
        let found = header(bytes)
        #expect(found?.mediaType == mediaType, "\(name)")
        let size = ImageSample.unsized.contains(mediaType) ? nil : PixelSize(640, 480)
        #expect(found?.size == size, "\(name)")
    }

    @Test func `a truncated image has the same type, without a size, or is no image`() {
        for (name, bytes, mediaType) in ImageSample.all where bytes.count < 1000 {
            for length in 0..<bytes.count {
                guard let found = header(bytes.prefix(length)) else { continue }
                #expect(found.mediaType == mediaType || mediaType == "image/avif", "\(name) cut to \(length)")
                #expect((found.width == nil) == (found.height == nil), "\(name) cut to \(length)")
            }
            #expect(header([]) == nil)
        }
    }

    @Test func `changed bytes never trap, and give both lengths or none`() {
        var random = SplitMix64(seed: 7)
        for (name, bytes, _) in ImageSample.all where bytes.count < 1000 {
            for _ in 0..<500 {
                var changed = bytes
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let index = Int.random(in: 0..<changed.count, using: &random)
                    changed[index] =
                        [0, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)
                        ?? 0
                }
                let found = header(changed)
                #expect((found?.width == nil) == (found?.height == nil), "\(name)")
                #expect(!describe(changed).isEmpty)
            }
        }
    }

    @Test func `a signature before random bytes never traps`() {
        var random = SplitMix64(seed: 11)
        let signatures: [[UInt8]] = ImageSample.all.map { Array($0.1.prefix(16)) } + [[], Array("<?xml <!-- ".utf8)]
        for signature in signatures {
            for _ in 0..<200 {
                let tail = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                let found = header(signature + tail)
                #expect((found?.width ?? 1) > 0 && (found?.height ?? 1) > 0)
            }
        }
    }

    @Test(arguments: [
        "", " \n", "<!DOCTYPE html><html><body><svg width=\"1\" height=\"1\"></svg></body></html>", "<html>",
        "{\"a\": 1}", "[1]",
        "BMW is a car, this is text long enough for a header", "GIF89b1234", "II*", "RIFFxxxxWAVEfmt ", "<svgs/>",
        "<!-- <svg> --><rss></rss>", "<!-- <svg width='1' height='1'>", "plain text",
    ])
    func `bytes that are no image give nil`(text: String) {
        #expect(header(text) == nil)
    }

    @Test func `a video in the same container is no image`() {
        #expect(header(ImageSample.box("ftyp", Array("isom".utf8) + [0, 0, 0, 0] + Array("mp42avc1".utf8))) == nil)
    }

    @Test(arguments: [
        "<svg/>", "<svg width='200' height=\"100\" viewBox='0 0 100 50'>",
        "<svg:svg xmlns:svg='http://www.w3.org/2000/svg'>",
        "<!DOCTYPE svg [<!-- it's > ]> --><?p it's?><!ENTITY a 'b'>]><svg width='3' height='4'>",
        "\u{FEFF}<?xml version=\"1.0\"?>\n<!-- made > by hand -->\n<svg height=\"2\" width=\"1\"/>",
        "<?xml version='1.0'?><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x>y\" [<!ENTITY a \"]>\">]> <svg>",
    ])
    func `an SVG is recognised by its root element, whatever precedes it`(text: String) {
        #expect(header(text) == ImageHeader("image/svg+xml"))
    }

    @Test(arguments: [true, false], [true, false])
    func `an SVG in UTF-16 is recognised, in either byte order, with a byte order mark or without`(
        isBig: Bool, hasMark: Bool
    ) {
        let text = (hasMark ? "\u{FEFF}" : "") + "<?xml version='1.0' encoding='UTF-16'?><svg width='7' height='8'/>"
        let bytes = text.utf16.flatMap {
            isBig ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)]
        }
        #expect(header(bytes) == ImageHeader("image/svg+xml"))
        #expect(header(bytes.dropLast(60)) == nil)
    }

    @Test func `a size of AVIF or HEIC that not all items share is no size, wherever the others are`() {
        func size(_ extents: [(Int, Int)]) -> ImageHeader? {
            let properties = extents.flatMap { width, height in
                ImageSample.box("ispe", [0, width, height].flatMap { ImageSample.big($0, 4) })
            }
            return header(
                ImageSample.box("ftyp", Array("avif".utf8) + ImageSample.big(0, 4))
                    + ImageSample.box(
                        "meta", ImageSample.big(0, 4) + ImageSample.box("iprp", ImageSample.box("ipco", properties))))
        }
        #expect(size([(640, 480), (640, 480)]) == ImageHeader("image/avif", 640, 480))
        for extents in [
            [], [(0, 0)], [(160, 120), (640, 480)], [(640, 480), (160, 120), (160, 120)], [(640, 480), (480, 640)],
            [(640, 480), (0, 0), (640, 480)],
        ] {
            #expect(size(extents) == ImageHeader("image/avif"), "\(extents)")
        }
        #expect(size([(64, 64), (65_536, 64)]) == nil, "no decoder gets it")
    }

    @Test(
        arguments: [[], [0xFF], [0x3F, 0x3E], [0], [0xFF, 0x00], [0xFF, 0xFF, 0x00, 0x11], [0xFF, 0xD3]] as [[UInt8]])
    func `bytes between the segments of a JPEG do not hide its size`(stray: [UInt8]) {
        let segments: [[UInt8]] = [
            [0xFF, 0xD8], [0xFF, 0xE0, 0, 3, 0], [0xFF, 0xDB, 0, 2],
            [0xFF, 0xC1, 0, 17, 8, 0x01, 0xE0, 0x02, 0x80, 3],
        ]
        // The third byte of a JPEG is the first of a marker.
        let bytes = segments[0] + segments[1] + stray + segments[2] + stray + segments[3]
        #expect(header(bytes) == ImageHeader("image/jpeg", 640, 480))
    }

    @Test func `a JPEG that ends before its frame is still a JPEG`() {
        #expect(header([0xFF, 0xD8, 0xFF, 0xDA, 0, 2]) == ImageHeader("image/jpeg"))
        #expect(header([0xFF, 0xD8, 0xFF, 0xE0, 0, 0]) == ImageHeader("image/jpeg"))
    }

    @Test(arguments: [
        ("", "an empty body"), (" \r\n", "an empty body"), ("\n<!doctype HTML>", "an HTML page"),
        ("<HTML lang=en>", "an HTML page"),
        ("<!-- x --><head>", "an HTML page"), ("{\"error\": 1}", "JSON"), (" [1]", "JSON"),
        ("<?xml version='1.0'?><Error/>", "XML"), ("not found", "text"), ("Blocked: é", "text"),
        ("a\u{0}b", "unknown data"),
        ("\u{1}", "unknown data"),
    ])
    func `bytes that are no image are described`(text: String, expected: String) {
        #expect(describe(text.utf8) == expected)
    }
}

/// A generator that gives the same bytes in every run.
private struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
