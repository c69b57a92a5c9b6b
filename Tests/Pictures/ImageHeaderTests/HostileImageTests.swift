import Testing

@testable import ImageHeader

/// Bodies that would exhaust a decoder's memory.
@Suite struct HostileImageTests {
    @Test func `gzip is no image, and is named in the description`() {
        let bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        bytes.withUnsafeBytes { bytes in
            #expect(ImageHeader(bytes) == nil)
            #expect(ImageHeader.describe(bytes) == "compressed data (gzip)")
        }
    }

    @Test func `the largest declared size costs nothing: only the header is read`() {
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
        png += Array("IHDR".utf8) + [0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 8, 2, 0, 0, 0]
        png.withUnsafeBytes { bytes in
            #expect(ImageHeader(bytes) == nil)
            #expect(ImageHeader.describe(bytes) == "a header that claims an impossible size")
        }
    }

    @Test(arguments: [1, 65_535, 65_536, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF])
    func `a side of more than 65,535 pixels is no image's, in any format whose size is read`(side: Int) {
        typealias Sample = ImageSample
        func box(_ type: String, _ numbers: [Int]) -> [UInt8] {
            Sample.box(type, ([0] + numbers).flatMap { Sample.big($0, 4) })
        }
        func isoMedia(_ brand: String) -> [UInt8] {
            let properties = Sample.box("iprp", Sample.box("ipco", box("ispe", [side, side])))
            return Sample.box("ftyp", Array(brand.utf8) + Sample.big(0, 4))
                + Sample.box("meta", Sample.big(0, 4) + properties)
        }
        var pictures = [
            "PNG": Sample.png.dropLast(8) + Sample.big(side, 4) + Sample.big(side, 4), "AVIF": isoMedia("avif"),
            "HEIC": isoMedia("heic"),
        ]
        if side <= 1 << 24 {
            let canvas = [0, 0, 0, 0] + Sample.little(side - 1, 3) + Sample.little(side - 1, 3)
            pictures["WebP"] = Sample.webP("VP8X", canvas)
        }
        for (name, picture) in pictures {
            let header = picture.withUnsafeBytes { ImageHeader($0) }
            let isPossible = side <= PixelSize.maximumSide
            #expect((header?.size != nil) == isPossible, "\(name)")
            #expect((header == nil) == !isPossible, "\(name)")
            if !isPossible {
                let text = picture.withUnsafeBytes { ImageHeader.describe($0) }
                #expect(text == "a header that claims an impossible size", "\(name)")
            }
        }
    }

    @Test func `a type is recognised from 64 KiB at most`() {
        func header(_ bytes: [UInt8]) -> ImageHeader? { bytes.withUnsafeBytes { ImageHeader($0) } }
        let svg = Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
        func commented(_ count: Int) -> [UInt8] {
            Array("<!--".utf8) + [UInt8](repeating: 0x78, count: count) + Array("-->".utf8) + svg
        }
        #expect(header(commented(60 << 10))?.mediaType == "image/svg+xml")
        #expect(header(commented(64 << 10)) == nil && header([UInt8](repeating: 0x20, count: 64 << 10) + svg) == nil)
        let text = [UInt8](repeating: 0x20, count: 64 << 10) + Array("{}".utf8)
        #expect(text.withUnsafeBytes { ImageHeader.describe($0) } == "an empty body")
        // JPEG's metadata are passed unseen, stray bytes are not.
        let segment: [UInt8] = [0xFF, 0xE1] + ImageSample.big(65_535, 2) + [UInt8](repeating: 0xFF, count: 65_533)
        let metadata = (0..<40).flatMap { _ in segment }
        func jpeg(_ bytes: [UInt8]) -> [UInt8] {
            Array(ImageSample.jpeg()[..<2]) + bytes + Array(ImageSample.jpeg()[2...])
        }
        #expect(header(jpeg(metadata))?.width == 640)
        for (count, width) in [(60 << 10, 640), (64 << 10, nil)] {
            let found = header(jpeg([0xFF, 0xE1] + ImageSample.big(2, 2) + [UInt8](repeating: 0, count: count)))
            #expect(found?.mediaType == "image/jpeg" && found?.width == width, "\(count)")
        }
        let free = (0..<9_000).flatMap { _ in ImageSample.box("free", []) }
        let avif = ImageSample.isoMedia("avif", "mif1")
        let (brand, meta) = (Array(avif[..<20]), Array(avif[20...]))
        #expect(header(brand + free[..<8_000] + meta)?.width == 640)
        #expect(header(brand + free + meta) == nil)
    }

    @Test func `one side suffices, and every number is a size or none`() {
        for side in [Int.min, -1, 0, 65_536, Int.max] {
            #expect(PixelSize(side, 1) == nil && PixelSize(1, side) == nil && PixelSize(side, side) == nil)
        }
        #expect(PixelSize(nil, 1) == nil && PixelSize(1, nil) == nil)
        #expect(PixelSize(65_535, 65_535)?.pixelCount == 4_294_836_225)
    }
}
