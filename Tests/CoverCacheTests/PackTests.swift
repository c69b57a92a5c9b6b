import Foundation
import Platform
import Testing

@testable import CoverCache

@Suite struct PackTests {
    private struct Contents: Equatable {
        var covers: [String: [UInt8]] = [:]
        var metadata: [EntryMetadata] = []
        var damaged: [String?] = []
        var problems: [String] = []
    }

    /// Covers 1 to 3, and 4 with the bytes of 2, as a pack.
    private func pack(_ folder: CacheFolder) throws -> [UInt8] {
        try folder.written { writer in
            for number in 1...3 { try writer.store(url(number), picture(number)) }
            try writer.store(url(4), picture(2))
            let entry = try #require(try folder.reader().entry(url(3)))
            _ = try writer.renew([
                Renewal(
                    confirming: entry, validatedAt: 1_800_000_000_000, freshUntil: 1_900_000_000_000,
                    fields: "etag: \"x\"\n")
            ])
        }
        var bytes: [UInt8] = []
        var pack = PackWriter { bytes += $0 }
        let reader = try folder.reader()
        var entries: [CachedEntry] = []
        let last = try reader.entries(byBlobAfter: nil, limit: 100) { entries.append($0) }
        #expect(last == nil)
        for entry in entries {
            let body = try #require(try reader.bytes(entry.metadata.key))
            try pack.add(entry, body: pack.hasBody(entry.digest) ? nil : body)
        }
        try pack.finish()
        #expect(pack.length == bytes.count && pack.records == 4)
        return bytes
    }

    @Test func `bytes that contain a record are not packed: damage before it would plant a cover`() throws {
        try withFolder { folder in
            let planted = picture(2).withUnsafeBytes { body in
                RecordHeader.encode(
                    EntryMetadata(key: url(2), mediaType: "image/jpeg", storedAt: 1), digest: Digest(of: body),
                    bodyChecksum: Checksum.of(body), bodyLength: body.count, isReference: false)
            }
            try folder.written { try $0.store(url(1), picture(1) + planted + picture(2)) }
            let entry = try #require(try folder.reader().entry(url(1)))
            var pack = PackWriter { _ in }
            let body = try #require(try folder.reader().bytes(url(1)))
            #expect(throws: CacheError.embedsRecord) { try pack.add(entry, body: body) }
            #expect(pack.records == 0)
            try pack.add(entry, body: picture(1))
        }
    }

    private func read(_ bytes: [UInt8], _ folder: CacheFolder) throws -> Contents {
        let path = folder.root + "/pack"
        try Bytes.write(bytes, to: path)
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        let reader = try PackReader(descriptor: descriptor, path: path)
        var contents = Contents()
        while true {
            let items = try reader.next(1)
            if items.isEmpty { return contents }
            for item in items {
                switch item {
                case .cover(let metadata, let body):
                    contents.covers[metadata.key] = body
                    contents.metadata.append(metadata)
                case .damage(let defect):
                    contents.damaged.append(defect.key)
                    contents.problems.append("\(defect)")
                }
            }
        }
    }

    private let all = [url(1): picture(1), url(2): picture(2), url(3): picture(3), url(4): picture(2)]

    @Test func `a pack holds every cover with its metadata, and equal bytes once`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let contents = try read(bytes, folder)
            #expect(contents.covers == all && contents.damaged.isEmpty, "\(contents.problems)")
            #expect(bytes.count > 15_000 && bytes.count < 17_000)
            let renewed = try #require(contents.metadata.first { $0.key == url(3) })
            #expect(renewed.storedAt == 1_700_000_000_000 && renewed.validatedAt == 1_800_000_000_000)
            #expect(renewed.freshUntil == 1_900_000_000_000 && renewed.fields == "etag: \"x\"\n")
            #expect(contents.metadata.first { $0.key == url(1) }?.validatedAt == nil)
        }
    }

    @Test func `missing bytes cost the cover that they belonged to, and no other`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let start = try #require(Data(bytes).range(of: Data(picture(1)))?.lowerBound)
            for missing in [100, 4_000, 5_000] {
                var short = bytes
                short.removeSubrange(start..<start + missing)
                let contents = try read(short, folder)
                var others = all
                others[url(1)] = nil
                #expect(contents.covers == others, "\(missing): \(contents.problems)")
                #expect(contents.damaged == [url(1)], "\(missing): \(contents.problems)")
            }
        }
    }

    @Test func `a changed byte anywhere is detected, and costs no record but its own and those that share its bytes`()
        throws
    {
        try withFolder { folder in
            let bytes = try pack(folder)
            for offset in stride(from: 8, to: bytes.count, by: 97) {
                var changed = bytes
                changed[offset] ^= 0x10
                let contents = try read(changed, folder)
                #expect(!contents.damaged.isEmpty, "\(offset)")
                #expect(contents.covers.count >= 2, "\(offset): \(contents.problems)")
                for (key, body) in contents.covers { #expect(body == all[key], "\(offset)") }
            }
        }
    }

    @Test func `a damaged cover is named by its URL and its offset`() throws {
        try withFolder { folder in
            var bytes = try pack(folder)
            let offset = try #require(Data(bytes).range(of: Data(picture(2)))?.lowerBound)
            bytes[offset + 100] ^= 1
            let contents = try read(bytes, folder)
            #expect(contents.damaged == [url(2), url(4)])
            #expect(contents.problems[0].contains("/pack at ") && contents.problems[0].hasPrefix(url(2)))
            #expect(contents.covers == [url(1): picture(1), url(3): picture(3)])
        }
    }

    @Test func `a pack that is cut off anywhere is incomplete`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            for length in stride(from: 8, to: bytes.count, by: 211) + [bytes.count - 1] {
                let contents = try read(Array(bytes[..<length]), folder)
                #expect(!contents.damaged.isEmpty, "\(length)")
                for (key, body) in contents.covers { #expect(body == all[key], "\(length)") }
            }
        }
    }

    @Test func `a pack without one of its records is incomplete`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let second = try #require(Data(bytes).range(of: Data("SLEEVE01".utf8), in: 100..<bytes.count)?.lowerBound)
            let contents = try read(Array(bytes[..<8]) + Array(bytes[second...]), folder)
            #expect(contents.problems.count == 1)
            #expect(contents.problems[0].contains("records are missing"), "\(contents.problems)")
            #expect(contents.covers.count == 3)
        }
    }

    @Test func `bytes after the trailer are reported`() throws {
        try withFolder { folder in
            let contents = try read(try pack(folder) + [0], folder)
            #expect(contents.covers == all && contents.problems.count == 1)
        }
    }

    @Test(arguments: [([UInt8]("GIF89a, not a pack".utf8), false), ([], false), ([UInt8]("SLVPACK2".utf8), true)])
    func `another file and a newer pack are refused`(bytes: [UInt8], isNewer: Bool) throws {
        try withFolder { folder in
            let path = folder.root + "/pack"
            #expect(throws: isNewer ? CacheError.newerPack(path) : .notAPack(path)) { try read(bytes, folder) }
        }
    }

    @Test func `stored covers keep the times of the pack`() throws {
        try withFolder { folder in
            let metadata = try read(try pack(folder), folder).metadata
            try withFolder { other in
                try other.written { writer in
                    let results = try writer.store(metadata.map { ($0, self.all[$0.key] ?? []) })
                    #expect(results.count == 4)
                }
                for number in 1...4 {
                    let (before, after) = (
                        try folder.reader().entry(url(number)), try other.reader().entry(url(number))
                    )
                    #expect(before?.validatedAt == after?.validatedAt && before?.digest == after?.digest)
                    #expect(before?.metadata.freshUntil == after?.metadata.freshUntil)
                    #expect(before?.metadata.fields == after?.metadata.fields)
                }
            }
        }
    }
}
