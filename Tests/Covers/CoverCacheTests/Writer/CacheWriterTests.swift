import Foundation
import Platform
import SQLite
import Testing

@testable import CoverCache

@Suite struct CacheWriterTests {
    @Test func `a group's sync reaches the entry log, whether files are synced together or one by one`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill([1])
                try writer.put(url(2), picture(2))
                let group = try #require(writer.seal())
                #expect(Array(group.files) == [folder.file(picture(2)), folder.log])
                try group.sync()
                _ = try writer.commit([group])
            }
        }
    }

    @Test func `a committed cover is read back byte for byte, with its metadata, and its file has its bytes alone`()
        throws
    {
        try withFolder { folder in
            let body = picture(1)
            let metadata = EntryMetadata(
                key: url(1), mediaType: "image/png", width: 30, height: 40, storedAt: 5, freshUntil: 6,
                fields: "ETag: \"é\"\n")
            try folder.written { writer in
                let digest = try body.withUnsafeBytes { try writer.put(metadata, body: $0) }
                #expect(digest == Digest(of: body))
                #expect(try writer.commit() == [.stored(digest, deduplicated: false)])
            }
            guard case .hit(let entry, let read) = try folder.reader().cover(for: url(1)) else {
                Issue.record("not a hit")
                return
            }
            #expect(read == body && entry.metadata == metadata && entry.bytes == body.count && entry.validatedAt == 5)
            let name = Digest(of: body).description
            #expect(try Bytes.of("\(folder.path)/covers/\(name.prefix(2))/\(name)") == body)
        }
    }

    @Test func `covers of any length are read back, the empty one too`() throws {
        try withFolder { folder in
            let lengths = [0, 1, 3_900, 4_096, 65_536, 1_000_003]
            try folder.written { writer in
                for length in lengths { try writer.put(url(length), picture(length, bytes: length)) }
            }
            try folder.expect(Dictionary(uniqueKeysWithValues: lengths.map { (url($0), picture($0, bytes: $0)) }))
        }
    }

    // MARK: Groups

    @Test func `a cover is not visible before it is committed`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let reader = try folder.reader()
                try writer.put(url(1), picture(1))
                #expect(try reader.bytes(url(1)) == nil)
                let group = try #require(writer.seal())
                try group.sync()
                #expect(try reader.bytes(url(1)) == nil && reader.status(of: [url(1)])[0] == nil)
                #expect(try writer.totals().entries == 0)
                _ = try writer.commit([group])
                #expect(try reader.bytes(url(1)) == picture(1))
            }
        }
    }

    @Test func `puts proceed while a group is synced, and each group becomes visible with its own commit`() throws {
        try withFolder { folder in
            try folder.written { writer in
                let reader = try folder.reader()
                try writer.put(url(1), picture(1))
                let first = try #require(writer.seal())
                #expect(writer.pendingBytes == 0 && first.length == charge)
                try writer.put(url(2), picture(2))
                try writer.put(url(3), picture(1))
                let second = try #require(writer.seal())
                try first.sync()
                try second.sync()
                #expect(try writer.commit([first]).count == 1)
                #expect(try reader.keys() == [url(1)])
                #expect(
                    try writer.commit([second]) == [
                        .stored(Digest(of: picture(2)), deduplicated: false),
                        .stored(Digest(of: picture(1)), deduplicated: true),
                    ])
            }
            try folder.expect([url(1): picture(1), url(2): picture(2), url(3): picture(1)])
        }
    }

    @Test func `without a put there is no group to seal or commit, and no file`() throws {
        try withFolder { folder in
            try folder.written { writer in
                #expect(writer.seal() == nil)
                let outcomes = try writer.commit()
                #expect(outcomes.isEmpty)
            }
            try folder.expect([:])
        }
    }

    @Test func `a group ends before it is longer than its limit, counting what it holds in memory`() throws {
        try withFolder { folder in
            try folder.written(capacity: 32 * charge) { writer in
                #expect(writer.groupLimit == 2 * charge)
                #expect(!writer.isGroupFull(before: 1_000_000), "a group has one cover at least")
                try writer.put(url(1), picture(1))
                #expect(!writer.isGroupFull(before: charge) && writer.isGroupFull(before: charge + 1))
                _ = try writer.commit()
                for number in 2...3 { try writer.put(url(number), picture(1)) }
                #expect(writer.isGroupFull(before: 0))
            }
        }
    }

    @Test func `an abandoned group leaves no file, but for those that rows or other groups name`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                for number in 1...3 { try writer.put(url(10 + number), picture(number)) }
                let first = try #require(writer.seal())
                try writer.put(url(20), picture(3))
                let second = try #require(writer.seal())
                writer.abandon(first)
                #expect(folder.fileNames == Set([1, 3].map { Digest(of: picture($0)).description }))
                try second.sync()
                #expect(try writer.commit([second]) == [.stored(Digest(of: picture(3)), deduplicated: false)])
            }
            try folder.expect([url(1): picture(1), url(20): picture(3)])
        }
    }

    @Test func `a group that fails to commit replaces nothing, and leaves no file`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...20)
                // No page may be added: the transaction fails as on a full disk.
                try writer.index.connection.execute("PRAGMA max_page_count = 1")
                for number in 1...200 {
                    var metadata = metadata(url(number))
                    metadata.fields = String(repeating: "f", count: 8_000)
                    _ = try picture(1_000 + number).withUnsafeBytes { try writer.put(metadata, body: $0) }
                }
                #expect(throws: CacheError.diskFull("the index")) { try writer.commit() }
                try writer.index.connection.execute("PRAGMA max_page_count = 1000000")
                #expect(folder.fileNames.count == 20)
                try writer.store(url(21), picture(21))
            }
            try folder.expect(pictures(1...21))
        }
    }

    @Test func `on a full disk the last covers of a group are given up for the rows of the others`() throws {
        try withFolder { folder in
            var stored: [Int] = []
            try folder.written { writer in
                try writer.fill(1...20)
                try writer.index.connection.execute("PRAGMA max_page_count = 1")
                let first = try #require(try putGroup(writer, 21...120))
                let second = try #require(try putGroup(writer, 121...220))
                let outcomes = try writer.commit([first, second])
                try writer.index.connection.execute("PRAGMA max_page_count = 1000000")
                stored = zip(21..., outcomes).filter { $1 != .unstored(.diskFull("the index")) }.map(\.0)
                #expect(outcomes.count == 200 && stored.count < 200 && !stored.isEmpty)
                #expect(stored == Array(21..<21 + stored.count) && folder.fileNames.count == 20 + stored.count)
            }
            try folder.expect(pictures(Array(1...20) + stored))
        }
    }

    private func putGroup(_ writer: CacheWriter, _ numbers: ClosedRange<Int>) throws -> PutGroup? {
        for number in numbers { try writer.put(url(number), picture(number)) }
        let group = writer.seal()
        try group?.sync()
        return group
    }

    @Test func `a put that fails leaves no file and no marker, and the next one works`() throws {
        try withFolder { folder in
            try folder.written { writer in
                let name = Digest(of: picture(1)).description.prefix(2)
                try Bytes.write([1], to: "\(folder.path)/covers/\(name)")
                #expect(throws: CacheError.self) { try writer.put(url(1), picture(1)) }
                #expect(folder.markers == [])
                try Bytes.remove("\(folder.path)/covers/\(name)")
                try writer.store(url(1), picture(1))
            }
            try folder.expect(pictures([1]))
        }
    }

    @Test func `a writer can be released without close while a group is open`() async throws {
        await #expect(processExitsWith: .success) {
            try withFolder { folder in
                for round in 0..<20 { _ = try folder.abandoned { try $0.put(url(round), picture(round)) } }
                try folder.expect([:])
            }
        }
    }

    // MARK: Equal bytes

    @Test(arguments: [true, false])
    func `the same bytes under two URLs are one cover with two entries`(inOneGroup: Bool) throws {
        try withFolder { folder in
            let body = picture(1, bytes: 50_000)
            try folder.written { writer in
                let digest = try writer.put(url(1), body)
                var outcomes = inOneGroup ? [] : try writer.commit()
                try writer.put(url(2), body)
                outcomes += try writer.commit()
                #expect(outcomes == [.stored(digest, deduplicated: false), .stored(digest, deduplicated: true)])
                let statistics = try writer.statistics()
                #expect(statistics.blobs == 1 && statistics.entries == 2)
                #expect(statistics.liveBytes == 50_000 && statistics.deduplicatedBytes == 50_000)
                #expect(statistics.chargedBytes == 53_248)
            }
            try folder.expect([url(1): body, url(2): body])
        }
    }

    @Test func `storing the same bytes for the same URL again takes no space and counts as validation`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1), storedAt: 100)
                let before = try writer.statistics()
                #expect(
                    try writer.store(url(1), picture(1), storedAt: 200) == [
                        .stored(Digest(of: picture(1)), deduplicated: true)
                    ])
                let after = try writer.statistics()
                #expect(after.chargedBytes == before.chargedBytes && after.entries == 1 && after.blobs == 1)
            }
            let entry = try #require(try folder.reader().entry(for: url(1)))
            #expect(entry.metadata.storedAt == 100 && entry.validatedAt == 200)
        }
    }

    @Test(arguments: [[], [1, 2, 3], [UInt8](repeating: 0, count: 5_000)] as [[UInt8]])
    func `a file that has other bytes than its name says is replaced when the cover arrives`(rotten: [UInt8]) throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...2 { try writer.store(url(number), picture(1)) }
                try Bytes.write(rotten, to: folder.file(picture(1)))
                #expect(try folder.reader().isDamaged(url(2)))
                try writer.store(url(3), picture(1))
            }
            try folder.expect([url(1): picture(1), url(2): picture(1), url(3): picture(1)])
        }
    }

    // MARK: New content of a URL

    @Test func `of two puts for one URL in one group, the last one stays`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...2 { try writer.put(url(1), picture(number)) }
                #expect(try writer.commit().count == 2)
            }
            try folder.expect([url(1): picture(2)])
        }
    }

    @Test func `a cover that one put of a group replaces and a later one names again keeps its file`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.put(url(1), picture(2))
                try writer.put(url(2), picture(1))
                try writer.put(url(2), picture(3))
                try writer.put(url(3), picture(1))
                _ = try writer.commit()
            }
            try folder.expect([url(1): picture(2), url(2): picture(3), url(3): picture(1)])
        }
    }

    @Test func `shared content stays when one of its URLs gets new content`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for (key, cover) in [(1, 1), (2, 1), (1, 3), (2, 4), (3, 4), (3, 5)] {
                    try writer.store(url(key), picture(cover))
                }
            }
            try folder.expect([url(1): picture(3), url(2): picture(4), url(3): picture(5)])
        }
    }

    @Test func `a clock that was set back does not keep the content from before, nor evict by it`() throws {
        try withFolder { folder in
            let now = WallClock.milliseconds()
            try folder.written { writer in
                for (number, time) in [(1, now), (2, now + 1 << 38), (3, now - 1 << 38)] {
                    try writer.store(url(number), picture(number), storedAt: time)
                }
                try writer.store(url(2), picture(4), storedAt: now)
                try writer.evict(to: 2 * charge)
            }
            try folder.expect([url(2): picture(4), url(3): picture(3)])
            try folder.deleteIndex()
            try folder.expect([url(2): picture(4), url(3): picture(3)])
        }
    }

    // MARK: Capacity and counts

    @Test func `a cover larger than the whole capacity is refused with both numbers, and the cache is as before`()
        throws
    {
        try withFolder { folder in
            try folder.written(capacity: 64 << 10) { writer in
                try writer.store(url(1), picture(1))
                let error = #expect(throws: CacheError.self) { try writer.put(url(2), picture(2, bytes: 70_000)) }
                #expect(error == .largerThanCapacity(bytes: 70_000, capacity: 65_536))
                #expect(writer.pendingBytes == 0)
            }
            try folder.expect(pictures([1]))
        }
    }

    @Test func `the capacity is stored until another one is given`() throws {
        try withFolder { folder in
            let first = try folder.written { $0.capacity }
            #expect(first == IndexWriter.defaultCapacity)
            #expect(try folder.written(capacity: 1 << 20) { $0.capacity } == 1 << 20)
            #expect(try folder.written { $0.capacity } == 1 << 20)
            #expect(try folder.written(capacity: 2 << 20) { $0.capacity } == 2 << 20)
            #expect(try folder.written { try $0.statistics().capacity } == 2 << 20)
            try folder.written(capacity: .max) { try $0.store(url(1), picture(1)) }
            try folder.expect(pictures([1]))
        }
    }

    @Test func `the statistics count entries, covers, bytes, uses and times`() throws {
        try withFolder { folder in
            try folder.written { writer in
                #expect(try writer.statistics().oldest == nil)
                try writer.put(url(1), picture(1, bytes: 10_000), storedAt: 300)
                try writer.put(url(2), picture(2, bytes: 20_000), storedAt: 100)
                try writer.put(url(3), picture(2, bytes: 20_000), storedAt: 200)
                _ = try writer.commit()
                let reader = try folder.reader()
                _ = try reader.bytes(url(1))
                _ = try reader.status(of: [url(2), url(8), url(9)])
                _ = try reader.cover(digest: Digest(of: picture(1, bytes: 10_000)), counting: false)
                writer.noteUsage(try #require(reader.takeUsage(minimum: 4)))
                try writer.writeDeferred()
                let statistics = try writer.statistics()
                #expect(statistics.entries == 3 && statistics.blobs == 2)
                #expect(statistics.liveBytes == 30_000 && statistics.deduplicatedBytes == 20_000)
                let files = [folder.file(picture(1, bytes: 10_000)), folder.file(picture(2, bytes: 20_000))]
                #expect(statistics.chargedBytes == files.reduce(0) { $0 + Bytes.allocated($1) })
                #expect(statistics.hits == 2 && statistics.misses == 2)
                #expect(statistics.oldest == 100 && statistics.newest == 300)
                #expect(statistics.diskBytes > statistics.chargedBytes)
            }
        }
    }
}
