import Platform
import Testing

@testable import CoverCache

@Suite struct CacheWriterTests {
    @Test func `a committed cover is read back byte for byte, with its metadata`() throws {
        try withFolder { folder in
            let body = picture(1)
            let metadata = EntryMetadata(
                key: url(1), mediaType: "image/png", width: 30, height: 40, storedAt: 5, freshUntil: 6,
                fields: "ETag: \"x\"\n")
            try folder.written { writer in
                let digest = try body.withUnsafeBytes { try writer.put(metadata, body: $0) }
                #expect(try writer.commit() == [.stored(digest, deduplicated: false)])
                #expect(digest == body.withUnsafeBytes { Digest(of: $0) })
            }
            guard case .hit(let entry, let read) = try folder.reader().cover(for: url(1)) else {
                Issue.record("not a hit")
                return
            }
            #expect(read == body)
            #expect(entry.metadata == metadata)
            #expect(entry.bytes == body.count)
            #expect(entry.validatedAt == 5)
        }
    }

    @Test(arguments: [0, 1, 3_900, 4_096, 65_536, 1_000_003])
    func `a cover of any length is read back`(length: Int) throws {
        try withFolder { folder in
            let body = picture(length, bytes: length)
            try folder.written { try $0.store(url(1), body) }
            #expect(try folder.reader().bytes(url(1)) == body)
        }
    }

    @Test func `a writer can be released without close while a group is open`() async throws {
        await #expect(processExitsWith: .success) {
            try withFolder { folder in
                for round in 0..<20 {
                    let writer = try CacheWriter(directory: folder.path, capacity: nil)
                    _ = try writer.put(url(round), picture(round))
                }
            }
        }
    }

    @Test func `a cover is not visible before it is committed`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let reader = try folder.reader()
                try writer.put(url(1), picture(1))
                #expect(try reader.bytes(url(1)) == nil)
                let group = try #require(writer.seal())
                try group.sync()
                #expect(try reader.bytes(url(1)) == nil)
                _ = try writer.commit([group])
                #expect(try reader.bytes(url(1)) == picture(1))
            }
        }
    }

    @Test func `puts proceed while a group is synced, and each group becomes visible with its own commit`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                let reader = try folder.reader()
                try writer.put(url(1), picture(1))
                let first = try #require(writer.seal())
                #expect(writer.pendingBytes == 0)
                try writer.put(url(2), picture(2))
                try writer.put(url(3), picture(1))
                let second = try #require(writer.seal())
                try first.sync()
                try second.sync()
                #expect(try writer.commit([first]).count == 1)
                #expect(try reader.keys() == [url(1)])
                let outcomes = try writer.commit([second])
                #expect(outcomes[0] == .stored(picture(2).withUnsafeBytes { Digest(of: $0) }, deduplicated: false))
                #expect(outcomes[1] == .stored(picture(1).withUnsafeBytes { Digest(of: $0) }, deduplicated: true))
                #expect(try reader.contents() == [url(1): picture(1), url(2): picture(2), url(3): picture(1)])
            }
        }
    }

    @Test func `without a put there is no group to seal or commit`() throws {
        try withFolder { folder in
            try folder.written { writer in
                #expect(writer.seal() == nil)
                let outcomes = try writer.commit()
                #expect(outcomes.isEmpty)
            }
            #expect(folder.segmentNames.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `the same bytes under two URLs are one blob with two entries`(inOneGroup: Bool) throws {
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
                #expect(statistics.bytes == 50_000 && statistics.entryBytes == 100_000)
                #expect(statistics.charged == RecordHeader.charge(50_200) + 4_096)
            }
            #expect(try folder.reader().contents() == [url(1): body, url(2): body])
        }
    }

    @Test func `storing the same bytes for the same URL again takes no space and counts as validation`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1), storedAt: 100)
                let before = try writer.statistics()
                let digest = picture(1).withUnsafeBytes { Digest(of: $0) }
                #expect(try writer.store(url(1), picture(1), storedAt: 200) == [.stored(digest, deduplicated: true)])
                let after = try writer.statistics()
                #expect(after.charged == before.charged && after.entries == 1 && after.blobs == 1)
            }
            let entry = try #require(try folder.reader().entry(url(1)))
            #expect(entry.metadata.storedAt == 100 && entry.validatedAt == 200)
        }
    }

    @Test func `of two puts for one URL in one group, the last one stays`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.put(url(1), picture(1))
                try writer.put(url(1), picture(2))
                #expect(try writer.commit().count == 2)
                #expect(try writer.statistics().blobs == 1)
            }
            #expect(try folder.contents() == [url(1): picture(2)])
        }
    }

    @Test func `new content of a URL frees the blocks of the old content`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1, bytes: 400_000))
                try writer.store(url(1), picture(2, bytes: 4_000))
                writer.reclaimSpace()
                let statistics = try writer.statistics()
                #expect(statistics.blobs == 1 && statistics.entries == 1 && statistics.bytes == 4_000)
                #expect(statistics.charged == RecordHeader.charge(4_200))
                #expect(Bytes.length(folder.segment(1)) > 400_000)
                #expect(Bytes.allocated(folder.segment(1)) < 100_000)
            }
            #expect(try folder.reader().bytes(url(1)) == picture(2, bytes: 4_000))
        }
    }

    @Test func `shared content stays when one of its URLs gets new content`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.store(url(2), picture(1))
                try writer.store(url(1), picture(3))
                try writer.store(url(2), picture(4))
                try writer.store(url(3), picture(4))
                try writer.store(url(3), picture(5))
                #expect(try writer.statistics().blobs == 3)
                writer.reclaimSpace()
                #expect(try writer.verify().defects.isEmpty)
            }
            #expect(try folder.reader().contents() == [url(1): picture(3), url(2): picture(4), url(3): picture(5)])
        }
    }

    @Test func `a cover larger than the whole capacity is refused with both numbers, and the cache is as before`()
        throws
    {
        try withFolder { folder in
            try folder.written(capacity: 64 << 10) { writer in
                try writer.store(url(1), picture(1))
                let error = #expect(throws: CacheError.self) { try writer.put(url(2), picture(2, bytes: 70_000)) }
                #expect(error == .largerThanCapacity(bytes: 70_000, capacity: 65_536))
                #expect("\(CacheError.largerThanCapacity(bytes: 70_000, capacity: 65_536))".contains("--capacity"))
                #expect(writer.pendingBytes == 0)
            }
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    @Test func `the capacity is stored until another one is given`() throws {
        try withFolder { folder in
            let first = try folder.written { $0.capacity }
            #expect(first == CacheWriter.defaultCapacity)
            #expect(try folder.written(capacity: 1 << 20) { $0.capacity } == 1 << 20)
            #expect(try folder.written { $0.capacity } == 1 << 20)
            #expect(try folder.written(capacity: 2 << 20) { $0.capacity } == 2 << 20)
            #expect(try folder.written { try $0.statistics().capacity } == 2 << 20)
        }
    }

    @Test func `the statistics count entries, blobs, bytes, uses and times`() throws {
        try withFolder { folder in
            try folder.written { writer in
                #expect(try writer.statistics().oldest == nil)
                try writer.store(url(1), picture(1, bytes: 10_000), storedAt: 300)
                try writer.store(url(2), picture(2, bytes: 20_000), storedAt: 100)
                try writer.store(url(3), picture(2, bytes: 20_000), storedAt: 200)
                let reader = try folder.reader()
                _ = try reader.bytes(url(1))
                _ = try reader.status(of: [url(2), url(8), url(9)])
                _ = try reader.cover(for: url(1), counting: false)
                writer.record(try #require(reader.takeUsage(minimum: 4)))
                try writer.writeDeferred()
                let statistics = try writer.statistics()
                #expect(statistics.entries == 3 && statistics.blobs == 2)
                #expect(statistics.bytes == 30_000 && statistics.entryBytes == 50_000)
                #expect(statistics.charged == RecordHeader.charge(10_200) + RecordHeader.charge(20_200) + 4_096)
                #expect(statistics.hits == 2 && statistics.misses == 2)
                #expect(statistics.oldest == 100 && statistics.newest == 300)
                #expect(statistics.onDisk >= 30_000)
            }
        }
    }

    @Test func `a reopened cache continues the segment and the counts`() throws {
        try withFolder { folder in
            for number in 1...5 { try folder.written { try $0.store(url(number), picture(number)) } }
            #expect(folder.segmentNames == ["0000000001.seg"])
            let expected = Dictionary(uniqueKeysWithValues: (1...5).map { (url($0), picture($0)) })
            #expect(try folder.contents() == expected)
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a bulk load leaves its log, the next writer to close checkpoints it, and nothing is lost`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            // While another connection is open, SQLite does not checkpoint when one closes.
            let reader = try folder.reader()
            try folder.written { writer in
                for number in 1...300 { try writer.store(url(number), picture(number, bytes: 100)) }
            }
            #expect(Bytes.length(folder.index + "-wal") > 1 << 20)
            try folder.written { _ in }
            #expect(Bytes.length(folder.index + "-wal") == 0)
            #expect(try reader.keys().count == 300)
        }
    }
}
