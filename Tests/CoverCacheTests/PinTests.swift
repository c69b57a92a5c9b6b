import Foundation
import SQLite
import Testing

@testable import CoverCache

@Suite struct PinTests {
    private let charge = RecordHeader.charge(5_200)

    private func pinned(_ folder: CacheFolder) throws -> Set<String> {
        var keys: Set<String> = []
        try folder.reader().entries { if $0.isPinned { keys.insert($0.metadata.key) } }
        return keys
    }

    /// Covers 1 to 10, of which these are pinned.
    private func fill(_ folder: CacheFolder, pinning numbers: Int...) throws {
        try folder.written { writer in
            for number in 1...10 { try writer.store(url(number), picture(number), storedAt: 100) }
            #expect(try writer.pin(numbers.map(url)) == numbers.map { _ in true })
            try writer.savePins()
        }
    }

    // MARK: Eviction

    @Test func `pinned covers are not evicted, and unpinned ones are again`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 2, 5)
            #expect(try folder.written { try $0.evict(to: 0).blobs } == 8)
            #expect(try folder.contents() == [url(2): picture(2), url(5): picture(5)])
            try folder.written { writer in
                #expect(try writer.unpin([url(2), url(9)]) == [true, false])
                try writer.evict(to: 0)
            }
            #expect(try folder.reader().keys() == [url(5)])
        }
    }

    @Test func `a cover of two URLs is kept until both are unpinned, and only the pinned URL is listed as pinned`()
        throws
    {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.store(url(number), picture(1)) }
                _ = try writer.pin([url(1), url(2)])
                #expect(try pinned(folder) == [url(1), url(2)])
                _ = try writer.unpin([url(1)])
                #expect(try writer.evict(to: 0).blobs == 0)
                _ = try writer.unpin([url(2)])
                #expect(try writer.evict(to: 0).blobs == 1)
            }
        }
    }

    @Test func `evicting passes over a hundred thousand pins without reading them`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 1)
            let plan = try folder.written { writer in
                try writer.reading { database in
                    let sql = "EXPLAIN QUERY PLAN SELECT id FROM blobs WHERE pinned = 0 ORDER BY used LIMIT 200"
                    return try database.texts(sql, column: 3)
                }
            }
            #expect(plan.count == 1 && plan[0].contains("blobs_evictable"), "\(plan)")
        }
    }

    // MARK: What a pin survives

    @Test func `a pin survives new bytes, a renewal, a removal and a new download of its URL`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 3)
            try folder.written { writer in
                try writer.store(url(3), picture(33), storedAt: 200)
                #expect(try writer.evict(to: 0).blobs == 9)
                let entry = try #require(try folder.reader().entry(url(3)))
                let renewal = Renewal(confirming: entry, validatedAt: 300, freshUntil: 400, fields: "")
                #expect(try writer.renew([renewal]) == [true])
                #expect(try writer.evict(to: 0).blobs == 0)
                // Damaged bytes cost the entry, not the pin.
                let location = try #require(try folder.reader().location(of: url(3)))
                try Bytes.flip(location.path, at: location.offset)
                #expect(try writer.rebuild() == 0)
                try writer.store(url(3), picture(3), storedAt: 500)
                #expect(try writer.evict(to: 0).blobs == 0)
            }
            #expect(try folder.contents() == [url(3): picture(3)])
        }
    }

    @Test func `a pin survives the death of the process that set it`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                _ = try writer.pin([url(1)])
                try writer.savePins()
            }
            #expect(try folder.written { try $0.evict(to: 0).blobs } == 0)
        }
    }

    @Test(arguments: [true, false])
    func `a rebuilt index has the pins, whether the old one was there or lost`(isLost: Bool) throws {
        try withFolder { folder in
            try fill(folder, pinning: 4, 7)
            if isLost { try folder.deleteIndex() } else { #expect(try folder.written { try $0.rebuild() } == 10) }
            try folder.written { try $0.evict(to: 0) }
            #expect(try pinned(folder) == [url(4), url(7)])
            #expect(try folder.contents().count == 2)
        }
    }

    @Test func `a corrupt index that is set aside loses no pin, and one that was unpinned stays unpinned`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 4, 7)
            try folder.written { writer in
                _ = try writer.unpin([url(4)])
                try writer.savePins()
            }
            try Bytes.write([UInt8](repeating: 0x5A, count: 20_000), to: folder.index)
            let writer = try CacheWriter.open(folder.path)
            #expect(try writer.evict(to: 0).blobs == 9)
            try writer.close()
            #expect(try pinned(folder) == [url(7)])
        }
    }

    @Test func `unpinning everything also forgets URLs without a cover`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 1, 2)
            try folder.written { writer in
                _ = try writer.remove([url(1)], includingPinned: true)
                _ = try writer.pin([url(99)])
                #expect(try writer.unpinAll() == 2)
                try writer.savePins()
                try writer.store(url(99), picture(99))
                #expect(try writer.evict(to: 0).blobs == 10)
            }
        }
    }

    // MARK: A full cache

    @Test func `a cover that does not fit beside the pinned ones is refused, and nothing is evicted or replaced`()
        throws
    {
        try withFolder { folder in
            try folder.written(capacity: 10 * charge) { writer in
                for number in 1...9 { try writer.store(url(number), picture(number), storedAt: 100) }
                _ = try writer.pin((1...8).map(url))
                #expect(try writer.store(url(10), picture(10, bytes: 20_000)) == [.noRoom])
                #expect(try writer.store(url(1), picture(11, bytes: 40_000), storedAt: 200) == [.noRoom])
                #expect(try writer.statistics().entries == 9)
                #expect(try writer.store(url(12), picture(12)) != [.noRoom])
                #expect(try writer.statistics().charged <= 10 * charge)
                #expect(try writer.verify().defects.isEmpty)
            }
            #expect(try folder.contents()[url(1)] == picture(1))
        }
    }

    @Test func `making room leaves a part of what is not pinned`() throws {
        try withFolder { folder in
            try folder.written(capacity: 100 * charge) { writer in
                for number in 1...99 { try writer.put(url(number), picture(number)) }
                _ = try writer.commit()
                _ = try writer.pin((1...90).map(url))
                try writer.makeRoom(writer.headroom)
                let kept = try writer.statistics().entries
                #expect(kept > 92 && kept < 99)
            }
        }
    }

    @Test func `a capacity below the pinned covers keeps them and stores nothing else`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 1, 2, 3, 4)
            try folder.written(capacity: 2 * charge) { writer in
                #expect(try writer.statistics().entries == 4)
                #expect(try writer.store(url(20), picture(20)) == [.noRoom])
                try writer.makeRoom(writer.headroom)
            }
            #expect(try folder.contents().count == 4)
        }
    }

    // MARK: Earlier programs

    @Test func `an index of an earlier program gets the pins and the totals`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 1)
            try folder.written { writer in
                _ = try writer.unpinAll()
                try writer.savePins()
                try writer.reading { database in
                    let triggers = try database.texts("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
                    for name in triggers { try database.execute("DROP TRIGGER \(name)") }
                    try database.execute(
                        """
                        DROP TABLE pins; DROP TABLE totals; DROP TABLE removed; DROP INDEX blobs_evictable; DROP INDEX entries_stored;
                        CREATE INDEX blobs_used ON blobs(used);
                        """)
                }
            }
            try folder.written { writer in
                #expect(try writer.statistics().entries == 10)
                _ = try writer.pin([url(6)])
                #expect(try writer.evict(to: 0).blobs == 9)
                #expect(try writer.statistics().pinnedBlobs == 1)
            }
        }
    }
}
