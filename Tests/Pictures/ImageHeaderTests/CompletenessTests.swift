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
        for (name, bytes) in [("JPEG", jpeg), ("PNG", png), ("GIF", gif), ("WebP", Sample.webPLossy)] {
            #expect(isComplete(bytes), "\(name)")
            #expect(isComplete(bytes + [0, 1, 2, 3, 0xFF]), "\(name)")
            #expect(isComplete(bytes + bytes), "\(name)")
            // Its type is in the first 12 bytes.
            for length in 12..<bytes.count { #expect(!isComplete(bytes.prefix(length)), "\(name) cut to \(length)") }
        }
    }

    @Test func `what marks no end, and what is not understood, counts as complete`() {
        #expect(isComplete([]))
        #expect(isComplete(Array("<svg/>".utf8)))
        #expect(isComplete(Sample.gif + [0, 0, 0] + Array("no block".utf8)))
        for (_, bytes, type) in Sample.all where !["jpeg", "png", "gif", "webp"].contains(type.dropFirst(6)) {
            #expect(isComplete(bytes), "\(type)")
        }
        // The segments are damaged, and the end is there.
        #expect(isComplete([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 9, 9, 9, 9, 0xFF, 0xD9]))
    }

    @Test func `changed bytes never trap`() {
        for bytes in [jpeg, gif, Sample.webPLossy] {
            for index in bytes.indices {
                for byte: UInt8 in [0, 0x21, 0x2C, 0x3B, 0x7F, 0xDA, 0xFF] {
                    var changed = bytes
                    changed[index] = byte
                    _ = isComplete(changed)
                }
            }
        }
    }
}
