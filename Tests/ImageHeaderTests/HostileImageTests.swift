import Testing

@testable import ImageHeader

/// Bodies that would have a decoder take up memory without end.
@Suite struct HostileImageTests {
    @Test("gzip is told apart from an image, whatever the response calls it")
    func gzip() {
        let bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        bytes.withUnsafeBytes { bytes in
            #expect(ImageHeader(bytes) == nil)
            #expect(ImageHeader.describe(bytes) == "compressed data (gzip)")
        }
    }

    @Test("a picture that says it is as large as can be costs nothing: only its header is read")
    func giants() {
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
            #expect(header == nil || header?.width == nil, "no entity is expanded")
        }
    }
}
