import Foundation
import SQLite
import Platform
import Testing

@testable import CoverCache

@Suite struct RepairTests {
    /// Three covers, and a fourth URL with the bytes of the first, in one segment of two blocks a record.
    private func withFour(_ body: (CacheFolder) throws -> Void) throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.put(url(number), picture(number)) }
                _ = try writer.commit()
                try writer.store(url(4), picture(1))
            }
            try body(folder)
        }
    }

    private let all = [url(1): picture(1), url(2): picture(2), url(3): picture(3), url(4): picture(1)]
    private let block = RecordHeader.alignment

    @Test func `a repair of an intact cache changes nothing`() throws {
        try withFour { folder in
            try folder.written { try $0.checkpoint() }
            let index = try Bytes.of(folder.index)
            try folder.abandoned { writer in
                let report = try writer.repair()
                #expect(report.found.defects == [] && report.rebuiltEntries == nil)
                #expect(report.dropped == 0 && report.rewritten == 0)
            }
            #expect(try Bytes.of(folder.index) == index)
            #expect(Bytes.length(folder.index + "-wal") == 0)
        }
    }

    @Test func `a repair drops damaged covers; the others keep their times and their order of use`() throws {
        try withFour { folder in
            try folder.written { writer in
                let entry = try #require(try folder.reader().entry(url(2)))
                _ = try writer.renew([Renewal(confirming: entry, validatedAt: 300, freshUntil: 400, fields: "a: b\n")])
            }
            let before = try #require(try folder.reader().entry(url(2)))
            try Bytes.flip(folder.segment(1), at: 2 * 2 * block + 2_500)
            try folder.written { writer in
                let report = try writer.repair()
                #expect(report.found.defects.compactMap(\.key) == [url(3)])
                #expect(report.dropped == 1 && report.rewritten == 0 && report.rebuiltEntries == nil)
                #expect(try writer.verify().defects == [])
            }
            let after = try #require(try folder.reader().entry(url(2)))
            #expect(after.validatedAt == 300 && after.metadata.freshUntil == 400 && after.metadata.fields == "a: b\n")
            #expect(after == before)
            #expect(try folder.contents() == all.filter { $0.key != url(3) })
            // Its blocks are given back.
            #expect(Bytes.allocated(folder.segment(1)) == 5 * block)
        }
    }

    @Test func `a repair drops the covers of a lost segment`() throws {
        try withFolder { folder in
            let writers = try (0..<2).map { _ in try CacheWriter(directory: folder.path) }
            for (number, writer) in writers.enumerated() { try writer.store(url(number), picture(number)) }
            for writer in writers { try writer.close() }
            try Bytes.remove(folder.segment(1))
            try folder.written { writer in
                let report = try writer.repair()
                #expect(report.dropped == 1 && report.found.defects.compactMap(\.key) == [url(0)])
            }
            #expect(try folder.contents() == [url(1): picture(1)])
            #expect(try folder.defects() == [])
        }
    }

    @Test func `a repair drops nothing while the folder of segments is elsewhere`() throws {
        try withFour { folder in
            let (segments, elsewhere) = (folder.path + "/segments", folder.root + "/elsewhere")
            try FileManager.default.moveItem(atPath: segments, toPath: elsewhere)
            try folder.written { writer in
                let found = try writer.verify()
                #expect(found.defects.count == 4)
                #expect(throws: CacheError.noSegments(segments)) { _ = try writer.repair() }
                #expect(throws: CacheError.noSegments(segments)) { try writer.drop(url(1), segment: 1, offset: 0) }
            }
            try FileManager.default.removeItem(atPath: segments)
            try FileManager.default.moveItem(atPath: elsewhere, toPath: segments)
            #expect(try folder.contents() == all)
        }
    }

    @Test func `a damaged record without a body is written again`() throws {
        try withFour { folder in
            try Bytes.flip(folder.segment(1), at: 3 * 2 * block + 80)
            try folder.written { writer in
                let report = try writer.repair()
                #expect(report.found.defects.compactMap(\.key) == [url(4)])
                #expect(report.dropped == 0 && report.rewritten == 1 && report.rebuiltEntries == nil)
                #expect(try writer.verify().defects == [])
            }
            try folder.deleteIndex()
            #expect(try folder.contents() == all)
        }
    }

    @Test func `a repair does not wait for other processes, nor they for it`() throws {
        try withFour { folder in
            try Bytes.flip(folder.segment(1), at: 2_500)
            try folder.written { writer in
                let lock = try FileLock(path: folder.path + "/writer.lock")
                var checked = 0
                let report = try writer.repair { _, _ in
                    checked += 1
                    #expect((try? lock.tryLock()) == true)
                    lock.unlock()
                    try? folder.written { try $0.store(url(5), picture(5)) }
                }
                #expect(checked == 3 && report.dropped == 1 && report.rebuiltEntries == nil)
            }
            #expect(try folder.contents() == [url(2): picture(2), url(3): picture(3), url(5): picture(5)])
        }
    }

    @Test func `a cover that the index has lost is restored, an evicted or removed one is not`() throws {
        try withFour { folder in
            try folder.written { writer in
                try writer.store(url(5), picture(5))
                // The bytes of the first stay for the fourth.
                _ = try writer.remove([url(1), url(5)], includingPinned: false)
            }
            let lost = 2 * block
            try Connection(folder.index).execute(
                """
                DELETE FROM entries WHERE url = '\(url(2))';
                DELETE FROM blobs WHERE id NOT IN (SELECT blob FROM entries);
                UPDATE state SET live = live - \(lost), blobs = blobs - 1;
                UPDATE segments SET live = live - \(lost);
                """)
            try folder.written { writer in
                #expect(try writer.verify().defects.map(\.key) == [url(2)])
                let report = try writer.repair()
                #expect(report.rebuiltEntries == 3)
            }
            #expect(try folder.contents() == all.filter { $0.key != url(1) })
            #expect(try folder.defects() == [])
        }
    }

    @Test(
        arguments: [
            "UPDATE blobs SET offset = (SELECT offset FROM blobs WHERE id = 2) WHERE id = 1",
            "UPDATE blobs SET offset = offset + 4096 WHERE id = 1",
            "UPDATE blobs SET offset = offset - 4096 WHERE id = 3",
            "UPDATE blobs SET offset = (SELECT scanned FROM segments) WHERE id = 3",
            "UPDATE blobs SET segment = 9 WHERE id = 1",
            "UPDATE blobs SET span = span - 1 WHERE id = 1",
            "UPDATE blobs SET body = body + 1, length = length - 1 WHERE id = 1",
            "UPDATE blobs SET checksum = checksum + 1 WHERE id = 1",
            "UPDATE blobs SET tag = tag + 1 WHERE id = 1",
            "UPDATE blobs SET digest = zeroblob(32) WHERE id = 1",
            "UPDATE blobs SET pinned = 1 WHERE id = 1",
            "UPDATE entries SET tag = tag + 1 WHERE id = 1",
            "UPDATE entries SET url = 'http://else.example/' WHERE id = 1",
            "UPDATE entries SET blob = 2 WHERE id = 1",
            "UPDATE entries SET blob = 99 WHERE id = 1",
            "UPDATE entries SET blob = 2 WHERE id = 4",
            "UPDATE entries SET blob = 3 - blob WHERE id IN (1, 2)",
            "UPDATE entries SET offset = 0 WHERE id = 4",
            "UPDATE state SET live = live + 4096",
            "UPDATE state SET blobs = 7",
            "UPDATE segments SET live = 0",
            "UPDATE totals SET bytes = bytes + 1",
            "DELETE FROM totals",
            "DELETE FROM entries WHERE id = 1",
            "DELETE FROM blobs WHERE id = 1",
        ])
    func `a repair mends an index that is wrong, and loses no cover`(change: String) throws {
        try withFour { folder in
            try Connection(folder.index).execute(change)
            try folder.written { writer in
                let report = try writer.repair()
                #expect(!report.found.defects.isEmpty && report.rebuiltEntries != nil)
            }
            #expect(try folder.contents() == all)
            #expect(try folder.defects() == [])
        }
    }

    @Test func `entries without a record get one, and a removed URL whose blob has others does not come back`() throws {
        try withFour { folder in
            // What a process leaves that is killed between a download of damaged bytes and its next group.
            try Bytes.flip(folder.segment(1), at: 2_500)
            try folder.abandoned { try $0.store(url(5), picture(1)) }
            try folder.written { writer in
                let found = try writer.verify().defects
                #expect(found.map(\.key) == [url(1)], "\(found)")
                let report = try writer.repair()
                #expect(report.rewritten == 1 && report.dropped == 0 && report.rebuiltEntries == nil)
                #expect(try writer.verify().defects == [])
            }
            try folder.deleteIndex()
            #expect(try folder.contents().count == 5)
        }
    }

    @Test func `a cover that was moved to a record of its own URL keeps its times`() throws {
        try withFour { folder in
            try Bytes.flip(folder.segment(1), at: 2_500)
            try folder.written { writer in
                try writer.store(url(4), picture(1), storedAt: 1_700_000_000_500)
                let entry = try #require(try folder.reader().entry(url(4)))
                _ = try writer.renew([Renewal(confirming: entry, validatedAt: 300, freshUntil: 400, fields: "a: b\n")])
            }
            try folder.written { writer in
                #expect(try writer.verify().defects == [])
                let report = try writer.repair()
                #expect(report.rebuiltEntries == nil)
            }
            #expect(try folder.reader().entry(url(4))?.validatedAt == 300)
            #expect(try folder.contents() == all)
        }
    }

    @Test func `bytes that match their checksum but not their digest are dropped`() throws {
        try withFolder { folder in
            try folder.written { writer in
                let wrong = picture(2).withUnsafeBytes { Digest(of: $0) }
                let metadata = EntryMetadata(key: url(1), mediaType: "image/jpeg", storedAt: 1_700_000_000_000)
                _ = try picture(1).withUnsafeBytes { try writer.put(metadata, body: $0, digest: wrong) }
                _ = try writer.commit()
                let report = try writer.repair()
                #expect(report.dropped == 1)
                #expect(try writer.verify().defects == [])
            }
        }
    }

    @Test func `a rebuild gives back all blocks of damaged covers`() throws {
        try withFour { folder in
            for record in 0..<2 { try Bytes.flip(folder.segment(1), at: record * 2 * block + record * 2_500) }
            try folder.written { writer in
                _ = try writer.rebuild()
                #expect(try writer.verify().defects == [])
            }
            #expect(try folder.contents() == [url(3): picture(3)])
            #expect(Bytes.allocated(folder.segment(1)) == 2 * block)
        }
    }

    @Test(arguments: ["DELETE FROM state", "UPDATE state SET capacity = -1"])
    func `an index without its counters is set aside`(change: String) throws {
        try withFour { folder in
            try Connection(folder.index).execute(change)
            try CacheWriter.open(folder.path).close()
            #expect(try folder.contents() == all)
            #expect(try folder.defects() == [])
        }
    }

    @Test func `opening frees nothing that a row names, and brings no removed URL back`() throws {
        try withFour { folder in
            try folder.written { writer in _ = try writer.remove([url(1)], includingPinned: false) }
            try Connection(folder.index).execute(
                """
                INSERT INTO freed(segment, offset, length) VALUES (1, 4096, 16384);
                UPDATE segments SET scanned = 0;
                """)
            #expect(try folder.contents() == all.filter { $0.key != url(1) })
            #expect(try folder.defects() == [])
        }
    }
}
