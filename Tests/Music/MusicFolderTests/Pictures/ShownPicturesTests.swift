import Testing

@testable import MusicFolder

@Suite struct ShownPicturesTests {
    @Test func `JPEG, PNG, WebP and GIF are shown beside music, and no other type`() {
        for type in ["jpeg", "png", "webp", "gif"] { #expect(ShownPictures.refusal(ofFile: "image/\(type)") == nil) }
        for type in ["bmp", "tiff", "avif", "jxl", "heic", "svg+xml"] {
            #expect(ShownPictures.refusal(ofFile: "image/\(type)") != nil)
        }
    }
}
