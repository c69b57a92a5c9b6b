import Testing

@testable import ImageHeader

/// The shortest header of each format's specification, cut after the size.
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
        func extent(_ width: Int, _ height: Int) -> [UInt8] { box("ispe", big(0, 4) + big(width, 4) + big(height, 4)) }
        let properties = extent(160, 120) + box("pixi", [0, 0, 0, 0]) + extent(640, 480) + extent(64, 64)
        return box("ftyp", Array(major.utf8) + big(0, 4) + compatible.utf8)
            + box("meta", big(0, 4) + box("hdlr", [0]) + box("iprp", box("ipco", properties)))
    }
    /// As cjxl 0.7 writes it, cut after the size header.
    static let jpegXL: [UInt8] = [0xFF, 0x0A, 0xF8, 0x3E, 0x90, 0x50, 0x5C, 0x08]
    static func jpegXLContainer(_ codestream: [UInt8]) -> [UInt8] {
        box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", Array("jxl ".utf8) + big(0, 4) + Array("jxl ".utf8))
            + codestream
    }
    static let bmp =
        Array("BM".utf8) + little(0, 12) + little(40, 4) + little(640, 4) + little(-480, 4)
    static let bmpCore = Array("BM".utf8) + little(0, 12) + little(12, 4) + little(640, 2) + little(480, 2)
    static func tiff(isLittle: Bool, type: Int) -> [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] { isLittle ? little(value, size) : big(value, size) }
        func entry(_ tag: Int, _ value: Int) -> [UInt8] {
            let bytes = type == 3 ? number(value, 2) + [0xAA, 0xAA] : number(value, 4)
            return number(tag, 2) + number(type, 2) + number(1, 4) + bytes
        }
        return Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(10, 4) + [0, 0]
            + number(3, 2) + entry(254, 0) + entry(256, 640) + entry(257, 480)
    }

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
        ("JPEG XL in a box without a length", jpegXLContainer(big(0, 4) + Array("jxlc".utf8) + jpegXL), "image/jxl"),
        ("JPEG XL in parts", jpegXLContainer(box("jxlp", big(0, 4) + jpegXL)), "image/jxl"),
        ("BMP", bmp, "image/bmp"), ("old BMP", bmpCore, "image/bmp"),
        ("TIFF II SHORT", tiff(isLittle: true, type: 3), "image/tiff"),
        ("TIFF II LONG", tiff(isLittle: true, type: 4), "image/tiff"),
        ("TIFF MM SHORT", tiff(isLittle: false, type: 3), "image/tiff"),
        ("TIFF MM LONG", tiff(isLittle: false, type: 4), "image/tiff"),
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

    @Test(arguments: ImageSample.all.indices)
    func `each format is recognised with its size`(index: Int) {
        let (name, bytes, mediaType) = ImageSample.all[index]
        let found = header(bytes)
        #expect(found?.mediaType == mediaType, "\(name)")
        #expect(found?.width == 640 && found?.height == 480, "\(name)")
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

    @Test(
        arguments: [
            ("<svg/>", nil, nil),
            ("<svg width=\"100%\" height=\"100%\" viewBox=\"0 0 24.4 11.5\">", 24, 12),
            ("<svg width='127mm' height='12.7cm'>", 480, 480), ("<svg width='5in' height='360PT'>", 480, 480),
            ("<svg width='30pc' height='508Q'>", 480, 480), ("<svg width='+1.5e2px' height='.4'>", 150, 1),
            ("<svg width='10em' height='20'>", nil, nil), ("<svg width='0x10' height='5 in'>", nil, nil),
            ("<svg width='200' viewBox='0 0 100 50'>", 200, 100), ("<svg height='1in' viewBox='0 0 100 50'/>", 192, 96),
            ("<svg width='50%' height='30' viewBox='0 0 10 10'>", 30, 30),
            ("<svg viewBox='0 0\r\n 0 10' width='7' height='8'>", 7, 8), ("<svg viewBox='0 0 1 -1'>", nil, nil),
            ("<ns0:svg xmlns:ns0=\"http://www.w3.org/2000/svg\" width=\"5\" height=\"6\">", 5, 6),
            ("<!DOCTYPE svg [<!-- it's > ]> --><?p it's?><!ENTITY a 'b'>]><svg width='3' height='4'>", 3, 4),
            ("<svg\n viewBox = '0,0,30,40' xmlns=\"http://www.w3.org/2000/svg\">", 30, 40),
            ("\u{FEFF}<?xml version=\"1.0\"?>\n<!-- made > by hand -->\n<svg height=\"2\" width=\"1\"/>", 1, 2),
            (
                "<?xml version='1.0'?><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x>y\" [<!ENTITY a \"]>\">]> <svg width='3' height='4'>",
                3, 4
            ),
            ("<svg:svg xmlns:svg='http://www.w3.org/2000/svg' width='5' height='6'>", 5, 6),
            ("<svg width='1e' height='-1'>", nil, nil),
            ("<svg width='1' height='2", nil, nil),
        ] as [(String, Int?, Int?)])
    func `an SVG's size is its width and height, else its view box`(text: String, width: Int?, height: Int?) {
        let found = header(text)
        #expect(found?.mediaType == "image/svg+xml")
        #expect(found?.width == width && found?.height == height)
    }

    @Test(arguments: [true, false], [true, false])
    func `an SVG in UTF-16 has the same size, in either byte order, with a byte order mark or without`(
        isBig: Bool, hasMark: Bool
    ) {
        let text = (hasMark ? "\u{FEFF}" : "") + "<?xml version='1.0' encoding='UTF-16'?><svg width='7' height='8'/>"
        let bytes = text.utf16.flatMap {
            isBig ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)]
        }
        #expect(header(bytes) == ImageHeader("image/svg+xml", 7, 8))
        #expect(header(bytes.dropLast(40) + [0])?.width == nil)
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

    /// The size headers that cjxl 0.7 writes for images of these sizes.
    @Test(
        arguments: [
            ([0x7F, 0x40], 256, 256), ([0x41, 0x40], 8, 8), ([0x60, 0x02, 0x98, 0x82], 333, 77),
            ([0x3A, 0x1F, 0x02, 0x09], 1_200, 1_000), ([0xBA, 0x12, 0x01], 600, 600),
        ] as [([UInt8], Int, Int)])
    func `a JPEG XL's size is read from each form of its size header`(bytes: [UInt8], width: Int, height: Int) {
        let found = header([0xFF, 0x0A] + bytes)
        #expect(found?.mediaType == "image/jxl" && found?.width == width && found?.height == height)
    }

    @Test func `a JPEG XL container without a codestream has no size`() {
        let empty = ImageHeader("image/jxl")
        #expect(header(ImageSample.jpegXLContainer([])) == empty)
        #expect(header(ImageSample.jpegXLContainer(ImageSample.box("jxlc", [0xFF, 0xD8]))) == empty)
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
