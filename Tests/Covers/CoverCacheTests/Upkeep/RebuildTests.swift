import Foundation
import Platform
import SQLite
import Testing

@testable import CoverCache

/// An index that is lost or corrupt is made again from `entries.jsonl` and the covers' files.
@Suite struct RebuildTests {
    private enum Loss: CaseIterable {
        case missing, empty, garbage, halfGarbage, withoutCounters, wildCounter, killedRebuild
    }

    private func lose(_ loss: Loss, _ folder: CacheFolder) throws {
        switch loss {
        case .withoutCounters: return try folder.execute("DELETE FROM state")
        case .wildCounter: return try folder.execute("UPDATE state SET clock = -1")
        default: try folder.deleteIndex()
        }
        switch loss {
        case .empty: try Bytes.write([], to: folder.index)
        case .garbage: try Bytes.write(picture(1, bytes: 9_000), to: folder.index)
        case .halfGarbage:
            try Bytes.write(Array("SQLite format 3\u{0}".utf8) + picture(1, bytes: 9_000), to: folder.index)
        // What a killed process has created: an index without a capacity.
        case .killedRebuild: _ = try IndexFile.openForWriting(CacheDirectory(creating: folder.path))
        default: break
        }
    }

    /// Entries with all kinds of metadata; two share their bytes.
    private func fill(_ folder: CacheFolder) throws -> [CachedEntry] {
        try folder.written(capacity: 1 << 30) { writer in
            let rich = EntryMetadata(
                key: url(1), mediaType: "image/gif", width: 3, height: 4, storedAt: 5, freshUntil: 6,
                fields: "ETag: \"é\\\u{1}\"\nrequest URL: http://x/\t\n")
            _ = try picture(1).withUnsafeBytes { try writer.put(rich, body: $0) }
            for number in 2...20 { try writer.put(url(number), picture(max(2, number - 1)), storedAt: Int64(number)) }
        }
        return try entries(folder)
    }

    private func entries(_ folder: CacheFolder) throws -> [CachedEntry] {
        var entries: [CachedEntry] = []
        try folder.reader().entries { entries.append($0) }
        return entries
    }

    @Test func `a rebuild has left its marker before it begins, so that one that is killed is swept after`() throws {
        try withFolder { folder in
            _ = try fill(folder)
            try folder.deleteIndex()
            var markers: [String] = []
            let notice = { (notice: CacheNotice) in if notice == .rebuilding { markers = folder.markers } }
            try folder.abandoned(notice: notice) { _ in }
            #expect(markers.count == 1 && folder.markers == [])
        }
    }

    @Test(arguments: Loss.allCases)
    private func `a lost or corrupt index is rebuilt with all entries, their metadata and order`(loss: Loss) throws {
        try withFolder { folder in
            let expected = try fill(folder)
            let before = try folder.written { try $0.statistics() }
            try lose(loss, folder)
            var isRebuilt = false
            let writer = try CacheWriter.open(folder.path) { isRebuilt = $0 == .rebuilding }
            let after = try writer.statistics()
            #expect(isRebuilt && after.capacity == 1 << 30)
            #expect(
                after.blobs == before.blobs && after.chargedBytes == before.chargedBytes
                    && after.liveBytes == before.liveBytes
                    && after.deduplicatedBytes == before.deduplicatedBytes)
            try writer.close()
            #expect(try entries(folder).map(\.metadata) == expected.map(\.metadata))
            #expect(try entries(folder).map(\.digest) == expected.map(\.digest))
            try folder.expect(
                Dictionary(uniqueKeysWithValues: (1...20).map { (url($0), picture($0 < 3 ? $0 : $0 - 1)) }), "\(loss)")
            // Order of use: that of storing.
            #expect(try folder.written { try $0.evict(to: charge).covers } == 18)
            #expect(try folder.reader().keys() == [url(20)])
        }
    }

    @Test func `a corrupt index is set aside, the one of an earlier time is deleted`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...2) }
            try folder.deleteIndex()
            for suffix in [".bad-1-1", ".bad-1-1-wal"] { try Bytes.write([1], to: folder.index + suffix) }
            let garbage = picture(9, bytes: 9_000)
            try Bytes.write(garbage, to: folder.index)
            try folder.expect(pictures(1...2))
            let aside = try CacheDirectory.names(in: folder.path).filter { $0.contains(".bad-") }
            #expect(aside.count == 1)
            #expect(try Bytes.of(folder.path + "/" + aside[0]) == garbage)
        }
    }

    @Test func `a rebuild has the last capacity that was set, or the one that is given`() throws {
        try withFolder { folder in
            try folder.written(capacity: 1 << 30) { try $0.fill(1...10) }
            try folder.written(capacity: 10 * charge) { _ in }
            try folder.deleteIndex()
            let capacity = try folder.written { $0.capacity }
            #expect(capacity == 10 * charge)
            try folder.expect(pictures(1...10))
            try folder.deleteIndex()
            try folder.written(capacity: 4 * charge) { #expect($0.capacity == 4 * charge) }
            try folder.expect(pictures(7...10))
        }
    }

    @Test func `a cache without index and log is empty, and its files are swept`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...2) }
            try folder.deleteIndex()
            try Bytes.remove(folder.log)
            try folder.expect([:])
        }
    }

    // MARK: The entry log

    @Test func `of a URL the last line counts, whatever its time; lines of evicted covers say nothing`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1), storedAt: 900)
                try writer.store(url(1), picture(2), storedAt: 100)
                try writer.store(url(2), picture(3))
                try writer.evict(to: charge)
                try writer.store(url(4), picture(4))
                try writer.store(url(5), picture(5))
                _ = try writer.remove([url(4)], includingPinned: false)
            }
            try folder.expect([url(2): picture(3), url(5): picture(5)])
            try folder.deleteIndex()
            try folder.expect([url(2): picture(3), url(5): picture(5)])
        }
    }

    @Test func `a renewal that a confirmation made is lost with the index, its entry is not`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1), storedAt: 100)
                try writer.store(url(1), picture(1), storedAt: 200)
            }
            try folder.deleteIndex()
            try folder.expect(pictures([1]))
            #expect(try folder.reader().entry(for: url(1))?.validatedAt == 200)
        }
    }

    private static let torn = [
        #"{"url":"http://covers.example/9.jpg","dig"#, "{", "\u{0}\u{0}\u{0}", "no JSON", #"{"url":7}"#, "[]", "null",
        #"{"url":"http://covers.example/1.jpg"}"#, #"{"url":"http://covers.example/1.jpg","digest":"12","bytes":5000}"#,
        #"{"url":"","removed":true}"#, #"{"url":"http://covers.example/1.jpg","removed":false}"#,
        #"{"url":"http://covers.example/1.jpg","digest":""# + String(repeating: "0", count: 64) + #"","bytes":-1}"#,
        #"{"url":"http://covers.example/1.jpg","removed":1e99}"#, String(repeating: "x", count: 3 << 20),
    ]

    @Test(arguments: torn.indices)
    func `a torn or damaged line costs nothing but itself, wherever it is`(number: Int) throws {
        let line = Array(Self.torn[number].utf8)
        try withFolder { folder in
            try folder.written { try $0.fill(1...2) }
            let lines = try Bytes.of(folder.log)
            let first = lines.firstIndex(of: UInt8(ascii: "\n"))! + 1
            try Bytes.write(lines[..<first] + line + [10, 255, 10] + lines[first...] + line, to: folder.log)
            // The torn last line is not continued.
            try folder.written { try $0.store(url(3), picture(3)) }
            try folder.deleteIndex()
            try folder.expect(pictures(1...3))
        }
    }

    @Test func `a changed bit of the log gives no URL the cover of another, and costs one entry at most`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(0...9) }
            try folder.deleteIndex()
            let bytes = try Bytes.of(folder.log)
            var random = SplitMix64(seed: 3)
            for _ in 0..<60 {
                let (offset, bit) = (
                    Int.random(in: bytes.indices, using: &random), Int.random(in: 0..<8, using: &random)
                )
                try folder.copied { copy in
                    try Bytes.flip(copy.log, at: offset, bit: bit)
                    let contents = try copy.contents()
                    #expect(contents.count >= 8, "a changed line feed costs two")
                    for (key, body) in contents {
                        #expect(body == pictures(0...9)[key], "bit \(bit) of byte \(offset)")
                    }
                }
            }
            // Every bit of a line that is read.
            let line = EntryLine(metadata(url(1)), Digest(of: picture(1)), bytes: 5_000).json.dropLast()
            for index in line.indices {
                for bit in 0..<8 {
                    var changed = line
                    changed[index] ^= UInt8(1 << bit)
                    guard case .stored(let read) = EntryLog.Line(changed) else { continue }
                    let isRight = read.metadata.key == url(1) && read.digest == Digest(of: picture(1))
                    #expect(isRight, "bit \(bit) of byte \(index)")
                }
            }
        }
    }

    @Test func `numbers of a log that are out of range trap nowhere`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...1) }
            let digest = Digest(of: picture(1)).description
            for number in ["9223372036854775807", "-9223372036854775808", "1e400", "-1", "4611686018427387904"] {
                let line = """
                    {"url":"\(url(2))","digest":"\(digest)","bytes":5000,"stored":\(number),"validated":\(number),"fresh":\(number)}
                    {"url":"\(url(3))","digest":"\(digest)","bytes":5000,"width":\(number),"height":\(number)}
                    {"url":"\(url(4))","digest":"\(Digest(of: picture(4)))","bytes":\(number)}
                    {"capacity":\(number)}

                    """
                try Bytes.write(try Bytes.of(folder.log) + line.utf8, to: folder.log)
            }
            try folder.deleteIndex()
            try folder.expect([url(1): picture(1), url(2): picture(1), url(3): picture(1)])
            try folder.written { writer in
                let renewals = try entries(folder).map {
                    Renewal($0, validatedAt: 1, freshUntil: nil, fields: "")
                }
                #expect(try writer.renew(renewals) == [true, true, true])
            }
        }
    }

    @Test func `a capacity that no cover fits into is no capacity`() throws {
        try withFolder { folder in
            try folder.written(capacity: 1 << 30) { try $0.fill(1...2) }
            try Bytes.write(try Bytes.of(folder.log) + EntryLog.Line.capacity(4_095).bytes, to: folder.log)
            try folder.deleteIndex()
            try folder.written { #expect($0.capacity == 1 << 30) }
            try folder.expect(pictures(1...2))
        }
    }

    @Test func `a cover whose file is missing or has another length is left out, and the rest of the files is swept`()
        throws
    {
        try withFolder { folder in
            try folder.written { try $0.fill(1...4) }
            try Bytes.remove(folder.file(picture(1)))
            try Bytes.truncate(folder.file(picture(2)), to: 10)
            try folder.deleteIndex()
            try folder.expect(pictures(3...4))
        }
    }

    @Test func `a cover with wrong bytes of the right length is a miss after a rebuild, and never its bytes`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...2) }
            try Bytes.flip(folder.file(picture(1)), at: 3)
            try folder.deleteIndex()
            #expect(try folder.contents() == pictures([2]))
            #expect(try folder.reader().isDamaged(url(1)))
        }
    }

    /// A refresh that is killed after it wrote the log and before it committed its rows.
    @Test func `a rebuild keeps the acknowledged content of a URL whose next one never got its rows`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...2) }
            let line = EntryLine(metadata(url(1)), Digest(of: picture(3)), bytes: 5_000).json
            try Bytes.write(try Bytes.of(folder.log) + line, to: folder.log)
            try folder.deleteIndex()
            try folder.expect(pictures(1...2))
        }
    }

    @Test func `a rebuild takes no cover that only old lines name, though its file is still there`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.store(url(1), picture(2))
            }
            // As if the writer had been killed before it unlinked it.
            try Bytes.write(picture(1), to: folder.file(picture(1)))
            try folder.deleteIndex()
            try folder.expect([url(1): picture(2)])
        }
    }

    @Test func `the log is written anew when most of its lines are old, and still rebuilds everything`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...3)
                for _ in 1...30 { try writer.put(url(4), picture(4)) }
                _ = try writer.commit()
                let before = Bytes.length(folder.log)
                try writer.compact()
                #expect(Bytes.length(folder.log) == before, "it is short")
                try folder.makeLogLong(writer)
                try writer.compact()
                #expect(try Bytes.text(folder.log).split(separator: "\n").count == 6)
                try writer.store(url(5), picture(5))
            }
            try folder.deleteIndex()
            try folder.expect(pictures(1...5))
        }
    }

    @Test func `every line of the log reads back as it was written`() {
        let digest = Digest(of: picture(1))
        let full = EntryMetadata(
            key: "https://covers.example/a%20b.jpg?x=1", mediaType: "image/webp", width: 640, height: 480,
            storedAt: 1_700_000_000_123, validatedAt: 1_700_000_000_999, freshUntil: 0,
            fields: "ETag: \"x: y\"\n\u{0}\u{1f}\u{7f}\\ é 🎵\r\n\n{\"url\":\"http://other.example/\"}\n")
        for metadata in [full, metadata(url(1))] {
            let line = EntryLine(metadata, digest, bytes: 5_000)
            guard case .stored(line) = EntryLog.Line(line.json.dropLast()) else {
                Issue.record("\(metadata)")
                continue
            }
        }
        #expect(!EntryLine(full, digest, bytes: 1).json.dropLast().contains(10), "one line")
        let unvalidated = EntryLine(metadata(url(1)), digest, bytes: 1).json
        #expect(!String(decoding: unvalidated, as: UTF8.self).contains("validated"))
    }
}
