import Testing

@testable import ImageHeader

/// Images that are cut off.
@Suite struct CompletenessTests {
    private typealias Sample = ImageSample

    private func isComplete(_ bytes: some Sequence<UInt8>) -> Bool {
        Array(bytes).withUnsafeBytes { ImageHeader.isComplete($0) }
    }

    /// A thumbnail with an end of its own, two scans with stuffed bytes and a restart marker, and the end.
    private let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE1] + Sample.big(8, 2) + [0xFF, 0xD8, 1, 2, 0xFF, 0xD9]
        + [0xFF, 0xFF, 0xDA] + Sample.big(3, 2) + [0] + [5, 0xFF, 0, 0xD9, 0xFF, 0xD0, 7]
        + [0xFF, 0xDA] + Sample.big(3, 2) + [0] + [5, 6, 0xFF, 0xD9]
    private let gif: [UInt8] =
        Sample.gif + [0x80, 0, 0] + [UInt8](repeating: 0x3B, count: 6)
        + [0x21, 0xF9, 4, 0x3B, 0x3B, 0x3B, 0x3B, 0]
        + [0x2C] + [UInt8](repeating: 0, count: 8) + [0x81] + [UInt8](repeating: 0x3B, count: 12)
        + [2, 2, 0x3B, 0x3B, 1, 0x3B, 0, 0x3B]

    @Test func `an image that is cut anywhere is incomplete, and bytes after its end do no harm`() {
        let png =
            Sample.png + [8, 2, 0, 0, 0] + Sample.big(0, 4) + Sample.big(4, 4) + Array("IDAT".utf8) + Sample.big(1, 4)
            + Sample.big(2, 4) + Sample.big(0, 4) + Array("IEND".utf8)
        let avif = Sample.isoMedia("avif", "avifmif1") + Sample.box("mdat", [UInt8](repeating: 7, count: 20))
        let small =
            Sample.box("ftyp", Array("heic".utf8) + Sample.big(0, 4))
            + Sample.box("meta", [0, 0, 0, 0] + Sample.box("idat", [1, 2]))
        let bmp = Array("BM".utf8) + Sample.little(60, 4) + [UInt8](repeating: 0, count: 54)
        let svg = Array("<?xml version='1.0'?><s:svg a='>/'><g></g></s:svg >".utf8)
        for (name, bytes) in [
            ("JPEG", jpeg), ("PNG", png), ("GIF", gif), ("WebP", Sample.webPLossy), ("AVIF", avif),
            ("small HEIC", small), ("BMP", bmp),
            ("SVG", svg), ("empty SVG", Array("<svg width='1' b=\"/>\"/>".utf8)),
            ("JPEG XL in a box", Sample.jpegXLContainer(Sample.box("jxlc", Sample.jpegXL))),
        ] {
            #expect(isComplete(bytes), "\(name)")
            #expect(isComplete(bytes + [0, 1, 2, 3, 0xFF]), "\(name)")
            #expect(isComplete(bytes + bytes), "\(name)")
            // Its type is in the first bytes.
            for length in (name == "SVG" ? 28 : 12)..<bytes.count {
                #expect(!isComplete(bytes.prefix(length)), "\(name) cut to \(length)")
            }
        }
    }

    @Test func `lengths that some programs write are those of whole images`() {
        let chunks = Array("WEBPVP8L".utf8) + Sample.little(5, 4) + [1, 2, 3, 4, 5]
        func webP(_ length: Int, _ rest: [UInt8]) -> [UInt8] { Array("RIFF".utf8) + Sample.little(length, 4) + rest }
        // The chunk's length is odd: a byte should follow it.
        for length in [17, 18, 25, 26] { #expect(isComplete(webP(length, chunks)), "\(length)") }
        for length in [18, 26] {
            #expect(isComplete(webP(length, chunks + [0])))
            for cut in 1...8 { #expect(!isComplete(webP(length, chunks.dropLast(cut))), "\(length), cut by \(cut)") }
        }
        // `bfSize` is 0.
        #expect(isComplete(Sample.bmp))
        // The last box reaches to the end.
        #expect(isComplete(Sample.isoMedia("avif", "avifmif1") + Sample.big(0, 4) + Array("mdat1".utf8)))
    }

    @Test func `of SVG, only comments and instructions follow the last end tag`() {
        let svg = "<svg><svg><a/></svg>"
        for tail in ["", "<g", "<g>", "<!-- </svg", "</sv"] {
            #expect(!isComplete(Array((svg + "<b/>" + tail).utf8)), "\(tail)")
        }
        for tail in ["", "\n", "<!-- <g> -->\n<?a b?>"] {
            #expect(isComplete(Array((svg + "</svg>" + tail).utf8)), "\(tail)")
        }
        let wide = Array("\u{FEFF}<svg><g/></svg>".utf16).flatMap { Sample.little(Int($0), 2) }
        #expect(isComplete(wide) && !isComplete(wide.dropLast(4)))
    }

    @Test func `what marks no end, and what is not understood, counts as complete`() {
        #expect(isComplete([]))
        #expect(isComplete(Sample.gif + [0, 0, 0] + Array("no block".utf8)))
        #expect(isComplete(Sample.jpegXL))
        for (_, bytes, type) in Sample.all where type == "image/tiff" { #expect(isComplete(bytes), "\(type)") }
        // The segments are damaged, and the end is there.
        #expect(isComplete([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 9, 9, 9, 9, 0xFF, 0xD9]))
    }

    @Test func `changed bytes never trap`() {
        let svg = Array("<svg a='b'><g/></svg><!-- -->".utf8)
        for bytes in [jpeg, gif, Sample.webPLossy, Sample.isoMedia("avif", "avifmif1") + Sample.box("mdat", [7]), svg] {
            for index in bytes.indices {
                for byte: UInt8 in [0, 1, 0x21, 0x2C, 0x3B, 0x3C, 0x3E, 0x7F, 0xDA, 0xFF] {
                    var changed = bytes
                    changed[index] = byte
                    _ = isComplete(changed)
                }
            }
        }
    }
}
