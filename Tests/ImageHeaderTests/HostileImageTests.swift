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

    @Test func `the largest declared size costs nothing: only the header is read, and no entity is expanded`() {
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
        png += Array("IHDR".utf8) + [0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 8, 2, 0, 0, 0]
        png.withUnsafeBytes { bytes in
            let header = ImageHeader(bytes)
            #expect(header?.mediaType == "image/png" && header?.width == 0x7FFF_FFFF)
        }
        var laughs = "<!DOCTYPE svg [<!ENTITY a \"ha\">"
        for number in 0..<30 { laughs += "<!ENTITY b\(number) \"\(String(repeating: "&a;", count: 10))\">" }
        laughs += "]><svg width='&b29;' height='1e400'/>"
        Array(laughs.utf8).withUnsafeBytes { bytes in
            let header = ImageHeader(bytes)
            #expect(header == ImageHeader("image/svg+xml"), "the size is unknown")
        }
    }
}
