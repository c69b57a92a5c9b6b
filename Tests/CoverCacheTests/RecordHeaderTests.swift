import Platform
import Testing

@testable import CoverCache

@Suite struct RecordHeaderTests {
    private let full = EntryMetadata(
        key: "https://covers.example/a%20b.jpg?x=1", mediaType: "image/webp", width: 640, height: 480,
        storedAt: 1_700_000_000_123, freshUntil: -5,
        fields: "ETag: \"x: y\"\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\n\nurl: http://other.example/\n")

    private func decode(_ metadata: EntryMetadata) -> EntryMetadata? {
        var bytes: [UInt8] = []
        metadata.encode(into: &bytes)
        return bytes.withUnsafeBytes { EntryMetadata(decoding: $0) }
    }

    @Test func `decoding returns the encoded metadata with every part, whatever the fields contain`() {
        #expect(decode(full) == full)
    }

    @Test func `decoding returns the encoded metadata with the required parts only`() {
        let brief = EntryMetadata(key: "http://a.example/", mediaType: "image/png", storedAt: 0)
        #expect(decode(brief) == brief)
    }

    @Test func `metadata without a key is rejected`() {
        #expect(Array("type: image/png\nstored: 1\n\n".utf8).withUnsafeBytes { EntryMetadata(decoding: $0) } == nil)
    }

    @Test func `unknown lines, which a later version may add, are ignored`() {
        let text = "url: http://a.example/\ncolour: red\nstored: 7\nnonsense\n\nETag: \"1\"\n"
        let metadata = Array(text.utf8).withUnsafeBytes { EntryMetadata(decoding: $0) }
        #expect(metadata?.key == "http://a.example/")
        #expect(metadata?.storedAt == 7)
        #expect(metadata?.fields == "ETag: \"1\"\n")
    }

    @Test(arguments: [false, true])
    func `a header starts with the format's name, and decoding returns every number`(isReference: Bool) throws {
        let body = picture(1)
        let digest = body.withUnsafeBytes { Digest(of: $0) }
        let bytes = RecordHeader.encode(
            full, digest: digest, bodyChecksum: 0xFEDC_BA98_7654_3210, bodyLength: 5_000, isReference: isReference)
        #expect(bytes.starts(with: Array("SLEEVE01".utf8)))
        let head = try #require(bytes.withUnsafeBytes { RecordHeader($0) })
        #expect(head.digest == digest)
        #expect(head.bodyChecksum == 0xFEDC_BA98_7654_3210)
        #expect(head.bodyLength == 5_000)
        #expect(head.isReference == isReference)
        #expect(head.metadataLength == bytes.count - RecordHeader.size)
        #expect(head.span == bytes.count + (isReference ? 0 : 5_000))
        #expect(bytes.withUnsafeBytes { RecordHeader.isIntact($0) })
    }

    @Test func `a truncated header is rejected`() {
        let bytes = RecordHeader.encode(
            full, digest: Digest(of: .init(start: nil, count: 0)), bodyChecksum: 0, bodyLength: 0, isReference: false)
        for length in 0..<RecordHeader.size {
            #expect(bytes[..<length].withUnsafeBytes { RecordHeader($0) } == nil, "length \(length)")
        }
        for length in RecordHeader.size..<bytes.count {
            #expect(bytes[..<length].withUnsafeBytes { !RecordHeader.isIntact($0) }, "length \(length)")
        }
    }

    @Test func `a record is charged in whole blocks of 4 KiB`() {
        #expect(RecordHeader.charge(1) == 4_096)
        #expect(RecordHeader.charge(4_096) == 4_096)
        #expect(RecordHeader.charge(4_097) == 8_192)
    }
}

@Suite struct SegmentScannerTests {
    /// A segment of the records of `bodies`, each under its number's URL.
    private func withSegment(_ bodies: [[UInt8]], _ body: (CacheFolder, [Int]) throws -> Void) throws {
        try withFolder { folder in
            _ = try CacheDirectory(creating: folder.path)
            var buffer = RecordBuffer(capacity: 0)
            var ends: [Int] = []
            for (number, bytes) in bodies.enumerated() { ends.append(append(url(number), bytes, to: &buffer)) }
            try write(buffer, to: folder.segment(1))
            try body(folder, ends)
        }
    }

    private func write(_ buffer: borrowing RecordBuffer, to path: String) throws {
        let bytes = try buffer.withUnsafeBytes { Array($0) }
        try Bytes.write(bytes, to: path)
    }

    /// Returns the offset of the record's end, without its padding.
    private func append(
        _ key: String, _ body: [UInt8], stating other: [UInt8]? = nil, to buffer: inout RecordBuffer
    ) -> Int {
        let header = RecordHeader.encode(
            EntryMetadata(key: key, mediaType: "image/jpeg", storedAt: 1),
            digest: (other ?? body).withUnsafeBytes { Digest(of: $0) },
            bodyChecksum: body.withUnsafeBytes { Checksum.of($0) },
            bodyLength: body.count, isReference: false)
        let offset = body.withUnsafeBytes { buffer.append(header: header, body: $0) }
        return offset + header.count + body.count
    }

    private func scan(_ path: String, checking check: RecordState.Check = .checksum) throws -> (
        keys: [String], end: Int
    ) {
        let file = try #require(try SegmentFile(reading: path))
        var keys: [String] = []
        let end = try SegmentScanner.scan(file, 1, checking: check) { found in
            if case .record(let record) = found { keys.append(record.metadata.key) }
        }
        return (keys, end)
    }

    @Test func `a scan finds every record of a segment in order`() throws {
        try withSegment([picture(0, bytes: 10), picture(1, bytes: 9_000), picture(2, bytes: 4_096)]) { folder, _ in
            let found = try scan(folder.segment(1))
            #expect(found.keys == [url(0), url(1), url(2)])
            #expect(found.end == Bytes.length(folder.segment(1)))
        }
    }

    @Test func `a record with one changed bit in its header, metadata or body is rejected, and the next one is found`()
        throws
    {
        try withSegment([picture(0, bytes: 200), picture(1, bytes: 200)]) { folder, ends in
            let path = folder.segment(1)
            let sound = try Bytes.of(path)
            for offset in 0..<ends[0] {
                for bit in 0..<8 {
                    try Bytes.overwrite(path, at: offset, with: [sound[offset] ^ UInt8(1 << bit)])
                    let keys = try scan(path).keys
                    #expect(keys == [url(1)], "offset \(offset) bit \(bit)")
                }
                try Bytes.overwrite(path, at: offset, with: [sound[offset]])
            }
            #expect(try scan(path).keys == [url(0), url(1)])
        }
    }

    @Test func `a scan of a segment that is cut in its last record ends after the record before`() throws {
        try withSegment([picture(0, bytes: 200), picture(1, bytes: 200)]) { folder, ends in
            let path = folder.segment(1)
            let sound = try Bytes.of(path)
            for length in stride(from: ends[1] - 1, to: 4_096, by: -1) {
                try Bytes.truncate(path, to: length)
                let found = try scan(path)
                #expect(found.keys == [url(0)] && found.end == 4_096, "length \(length)")
            }
            try Bytes.write(sound, to: path)
            #expect(try scan(path).end == 8_192)
        }
    }

    @Test func `a body with a matching checksum but another digest is rejected`() throws {
        try withFolder { folder in
            _ = try CacheDirectory(creating: folder.path)
            var buffer = RecordBuffer(capacity: 0)
            _ = append(url(1), picture(1), stating: picture(2), to: &buffer)
            try write(buffer, to: folder.segment(1))
            #expect(try scan(folder.segment(1)).keys == [url(1)])
            #expect(try scan(folder.segment(1), checking: .digest).keys.isEmpty)
        }
    }

    @Test func `a scan skips holes and blank blocks between records`() throws {
        try withSegment([picture(0, bytes: 3_000), picture(1, bytes: 90_000), picture(2, bytes: 3_000)]) { folder, _ in
            let charge = RecordHeader.charge(90_000 + 200)
            let directory = try CacheDirectory(creating: folder.path)
            FreedRange(segment: 1, offset: 4_096, length: charge).punch(in: directory)
            #expect(try scan(folder.segment(1)).keys == [url(0), url(2)])
        }
    }
}
