import Platform
import Testing

@testable import CoverCache

@Suite struct VerificationTests {
    /// Three covers in one segment.
    private func withThree(_ body: (CacheFolder) throws -> Void) throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.put(url(number), picture(number)) }
                _ = try writer.commit()
            }
            try body(folder)
        }
    }

    private func damage(_ number: Int, in folder: CacheFolder) throws {
        let offset = try #require(try Bytes.find(picture(number), in: folder.segment(1)))
        try Bytes.flip(folder.segment(1), at: offset + 2_500)
    }

    @Test func `verifying an intact cache checks everything and finds no defect`() throws {
        try withThree { folder in
            try folder.written { writer in
                try writer.store(url(4), picture(1))
                var seen: [Int] = []
                let report = try writer.verify { done, total in
                    seen.append(done)
                    #expect(total == 3)
                }
                #expect(report.defects.isEmpty)
                #expect(report.entries == 4 && report.blobs == 3 && report.bytes == 15_000)
                #expect(seen == [1, 2, 3])
            }
        }
    }

    @Test(arguments: [1, 30, 75])
    func `a damaged header is found, of a record with a body and of one without`(offset: Int) throws {
        try withThree { folder in
            try folder.written { try $0.store(url(4), picture(1)) }
            // Each record is two blocks; the fourth has no body.
            try Bytes.flip(folder.segment(1), at: 8_192 + offset)
            try Bytes.flip(folder.segment(1), at: 3 * 8_192 + offset)
            let defects = try folder.defects()
            #expect(Set(defects.compactMap(\.key)) == [url(2), url(4)], "\(defects)")
        }
    }

    @Test func `a flipped byte is found, with the URL and the location`() throws {
        try withThree { folder in
            try damage(2, in: folder)
            let defects = try folder.defects()
            #expect(defects.count == 1)
            #expect(defects.first?.key == url(2))
            #expect(defects.first?.location.hasPrefix(folder.segment(1)) == true)
            #expect(defects.first.map { "\($0)".contains(url(2)) } == true)
        }
    }

    @Test func `what another process evicts or replaces during a verification is no defect`() throws {
        try withThree { folder in
            try folder.written { try $0.store(url(4), picture(3)) }
            try folder.written { writer in
                let report = try writer.verify { done, _ in
                    guard done == 1 else { return }
                    try? folder.written { other in
                        try other.evict(to: 3 * 4_096)
                        try other.store(url(4), picture(4))
                    }
                }
                #expect(report.blobs == 3)
                #expect(report.defects == [])
            }
            #expect(try folder.contents() == [url(3): picture(3), url(4): picture(4)])
        }
    }

    @Test func `a deleted segment is found: every cover of it is gone`() throws {
        try withThree { folder in
            try Bytes.remove(folder.segment(1))
            let defects = try folder.defects()
            #expect(defects.compactMap(\.key) == [url(1), url(2), url(3)])
        }
    }

    @Test func `a truncated segment is found`() throws {
        try withThree { folder in
            try Bytes.truncate(folder.segment(1), to: 2 * RecordHeader.charge(5_200))
            #expect(try folder.defects().compactMap(\.key) == [url(3)])
        }
    }

    @Test func `a rebuild drops damaged covers, keeps the rest, and leaves no defect`() throws {
        try withThree { folder in
            try damage(2, in: folder)
            try folder.written { writer in
                let entries = try writer.rebuild()
                #expect(entries == 2)
                #expect(try writer.verify().defects.isEmpty)
            }
            #expect(try folder.contents() == [url(1): picture(1), url(3): picture(3)])
        }
    }

    @Test func `bytes that contain a record plant no cover when the header before them rots`() throws {
        try withFolder { folder in
            let planted = picture(2).withUnsafeBytes { body in
                RecordHeader.encode(
                    EntryMetadata(key: url(2), mediaType: "image/jpeg", storedAt: 1), digest: Digest(of: body),
                    bodyChecksum: Checksum.of(body), bodyLength: body.count, isReference: false)
            }
            let metadata = EntryMetadata(key: url(1), mediaType: "image/jpeg", storedAt: 1_700_000_000_000)
            let front = RecordHeader.encode(
                metadata, digest: Digest(of: .init(start: nil, count: 0)), bodyChecksum: 0, bodyLength: 0,
                isReference: false)
            let body = picture(1, bytes: RecordHeader.alignment - front.count) + planted + picture(2)
            try folder.written { writer in
                #expect(throws: CacheError.embedsRecord) { try writer.put(url(1), body) }
                try writer.store(url(3), picture(3))
                // One byte further, no block begins with it.
                try writer.store(url(4), [0] + body)
            }
            try Bytes.flip(folder.segment(1), at: 1)
            try Bytes.flip(folder.segment(1), at: 8_193)
            try folder.deleteIndex()
            #expect(try folder.contents() == [:])
        }
    }

    @Test func `a rebuild of a cache without its segment leaves an empty cache that works`() throws {
        try withThree { folder in
            try Bytes.remove(folder.segment(1))
            try folder.written { writer in
                #expect(try writer.rebuild() == 0)
                try writer.store(url(7), picture(7))
            }
            #expect(try folder.contents() == [url(7): picture(7)])
        }
    }

    @Test func `a rebuild restores every entry's metadata`() throws {
        try withFolder { folder in
            let metadata = EntryMetadata(
                key: url(1), mediaType: "image/gif", width: 3, height: 4, storedAt: 5, freshUntil: 6,
                fields: "ETag: \"é\"\n")
            try folder.written { writer in
                _ = try picture(1).withUnsafeBytes { try writer.put(metadata, body: $0) }
                try writer.put(url(2), picture(1), storedAt: 9)
                _ = try writer.commit()
                let before = try writer.statistics()
                #expect(try writer.rebuild() == 2)
                let after = try writer.statistics()
                #expect(after.blobs == before.blobs && after.charged == before.charged)
                #expect(after.entryBytes == before.entryBytes)
            }
            #expect(try folder.reader().entry(url(1))?.metadata == metadata)
            #expect(try folder.reader().entry(url(2))?.metadata.storedAt == 9)
        }
    }

    @Test func `a rebuild keeps the newest content of each URL`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1), storedAt: 1)
                try writer.store(url(1), picture(2), storedAt: 2)
                try writer.store(url(2), picture(3), storedAt: 1)
                #expect(try writer.rebuild() == 2)
            }
            #expect(try folder.contents() == [url(1): picture(2), url(2): picture(3)])
        }
    }

    @Test func `a rebuild does not restore evicted covers`() throws {
        try withThree { folder in
            try folder.written { writer in
                try writer.evict(to: RecordHeader.charge(5_200))
                #expect(try writer.rebuild() == 1)
            }
            #expect(try folder.contents() == [url(3): picture(3)])
        }
    }

    @Test func `a rebuild finds shared bytes that lie in a later segment than the entry that shares them`() throws {
        try withFolder { folder in
            try folder.abandoned { first in
                try first.store(url(1), picture(1))
                try folder.written { try $0.store(url(2), picture(2)) }
                try first.store(url(3), picture(2))
                #expect(folder.segmentNames.count == 2)
            }
            #expect(try folder.written { try $0.rebuild() } == 3)
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(2), url(3): picture(2)])
        }
    }

    @Test func `a rebuild keeps shared bytes whose own URL has newer content in an earlier segment`() throws {
        try withFolder { folder in
            try folder.abandoned { first in
                try first.store(url(1), picture(1))
                try folder.written { second in
                    try second.store(url(2), picture(2), storedAt: 100)
                    try second.store(url(3), picture(2), storedAt: 100)
                }
                try first.store(url(2), picture(4), storedAt: 200)
            }
            #expect(try folder.written { try $0.rebuild() } == 3)
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(4), url(3): picture(2)])
        }
    }

    @Test func `other processes store covers while a rebuild verifies bytes`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.written { writer in
                let entries = try writer.rebuild { segment in
                    if segment == 1 { try folder.written { try $0.store(url(2), picture(2)) } }
                }
                #expect(entries == 2)
            }
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(2)])
        }
    }

    @Test func `a rebuild by one process does not lose covers that another is about to commit`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                try writer.put(url(2), picture(2))
                let group = try #require(writer.seal())
                try group.sync()
                _ = try folder.written { try $0.rebuild() }
                #expect(try writer.commit([group]).count == 1)
                try writer.close()
            }
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(2)])
            #expect(try folder.defects().isEmpty)
        }
    }
}
