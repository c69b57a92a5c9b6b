import Foundation
import Testing

@testable import CoverCache

@Suite struct PinTests {
    private func pinned(_ folder: CacheFolder) throws -> Set<String> {
        var keys: Set<String> = []
        try folder.reader().entries { if $0.isPinned { keys.insert($0.metadata.key) } }
        return keys
    }

    /// Covers 1 to 10, of which these are pinned.
    private func fill(_ folder: CacheFolder, pinning numbers: Int...) throws {
        try folder.written { writer in
            try writer.fill(1...10)
            #expect(try writer.pin(numbers.map(url)) == numbers.map { _ in true })
        }
    }

    // MARK: Eviction

    @Test func `pinned covers are not evicted, and unpinned ones are again`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 2, 5)
            #expect(try folder.written { try $0.evict(to: 0).covers } == 8)
            try folder.expect(pictures([2, 5]))
            try folder.written { writer in
                #expect(try writer.pin([url(2), url(11)]) == [false, true])
                #expect(try writer.unpin([url(2), url(9), url(11)]) == [true, false, true])
                try writer.evict(to: 0)
            }
            try folder.expect(pictures([5]))
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
                #expect(try writer.totals().pinned == 1 && writer.totals().pinnedBytes == 5_000)
                _ = try writer.unpin([url(1)])
                #expect(try writer.evict(to: 0).covers == 0)
                _ = try writer.unpin([url(2)])
                #expect(try writer.evict(to: 0).covers == 1)
            }
        }
    }

    @Test func `evicting passes over a hundred thousand pins without reading them`() throws {
        try withFolder { folder in
            try folder.written { writer in
                let plan = try writer.index.connection.texts(
                    "EXPLAIN QUERY PLAN SELECT id FROM covers WHERE pins = 0 AND used <= 9 ORDER BY used LIMIT 200",
                    column: 3)
                #expect(plan.count == 1 && plan[0].contains("covers_evictable"), "\(plan)")
            }
        }
    }

    @Test func `a pinned URL whose content changes pins the new content, and the old one is removed`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 3)
            try folder.written { writer in
                try writer.store(url(3), picture(33), storedAt: 200)
                #expect(try writer.totals().pinned == 1)
                #expect(try writer.evict(to: 0).covers == 9)
            }
            try folder.expect([url(3): picture(33)])
        }
    }

    // MARK: What a pin survives

    @Test func `a pin survives a renewal, damage and a new download of its URL`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 3)
            try folder.written { writer in
                let entry = try #require(try folder.reader().entry(for: url(3)))
                #expect(
                    try writer.renew([Renewal(entry, validatedAt: 300, freshUntil: 400, fields: "")]) == [
                        true
                    ])
                #expect(try writer.evict(to: 0).covers == 9)
                // Damaged bytes cost the entry, not the pin.
                try Bytes.flip(folder.file(picture(3)), at: 9)
                try writer.dropDamaged(url(3))
                #expect(try writer.totals().pinned == 0 && folder.reader().keys().isEmpty)
                try writer.store(url(3), picture(3), storedAt: 500)
                #expect(try writer.evict(to: 0).covers == 0)
            }
            try folder.expect(pictures([3]))
        }
    }

    @Test func `a pin survives the death of the process that set it`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                _ = try writer.pin([url(1)])
            }
            #expect(try folder.written { try $0.evict(to: 0).covers } == 0)
        }
    }

    @Test(arguments: [true, false])
    func `a rebuilt index has the pins, and one that was unpinned stays unpinned`(isCorrupt: Bool) throws {
        try withFolder { folder in
            try fill(folder, pinning: 4, 7, 8)
            try folder.written { writer in
                _ = try writer.unpin([url(8)])
                _ = try writer.pin([url(99)])
            }
            try folder.deleteIndex()
            if isCorrupt { try Bytes.write([UInt8](repeating: 0x5A, count: 20_000), to: folder.index) }
            try folder.written { writer in
                #expect(try writer.totals().pinned == 2)
                try writer.store(url(99), picture(99))
                try writer.evict(to: 0)
            }
            #expect(try pinned(folder) == [url(4), url(7), url(99)])
            try folder.expect(pictures([4, 7, 99]))
        }
    }

    @Test func `a pin survives the entry log's rewriting`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 4)
            try folder.written { writer in
                try folder.makeLogLong(writer)
                try writer.compact()
                #expect(Bytes.length(folder.log) < 10_000)
            }
            try folder.deleteIndex()
            try folder.written { _ in }
            #expect(try pinned(folder) == [url(4)])
        }
    }

    @Test func `unpinning everything also forgets URLs without a cover`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 1, 2)
            try folder.written { writer in
                _ = try writer.pin([url(99)])
                #expect(try writer.unpinAll() == 3)
                #expect(try writer.unpinAll() == 0)
                try writer.store(url(99), picture(99))
                #expect(try writer.evict(to: 0).covers == 11)
            }
            try folder.expect([:])
        }
    }

    // MARK: A full cache

    @Test func `a cover that does not fit beside the pinned ones is refused, and nothing is evicted or replaced`()
        throws
    {
        try withFolder { folder in
            try folder.written(capacity: 10 * charge) { writer in
                try writer.fill(1...9)
                _ = try writer.pin((1...8).map(url))
                let error = CacheError.noRoom(pinned: 8 * charge, capacity: 10 * charge)
                #expect(throws: error) { try writer.store(url(10), picture(10, bytes: 20_000)) }
                #expect(throws: error) { try writer.store(url(1), picture(11, bytes: 40_000), storedAt: 200) }
                #expect(try folder.reader().contents() == pictures(1...9))
                #expect(folder.markers == [])
                try writer.store(url(12), picture(12))
                #expect(try writer.totals().chargedBytes == 10 * charge)
            }
            try folder.expect(pictures([1, 2, 3, 4, 5, 6, 7, 8, 9, 12]))
        }
    }

    @Test func `making room leaves a part of what is not pinned`() throws {
        try withFolder { folder in
            try folder.written(capacity: 100 * charge) { writer in
                try writer.fill(1...99)
                _ = try writer.pin((1...90).map(url))
                try writer.makeRoom(writer.headroom)
                let kept = try writer.totals().entries
                #expect(kept > 92 && kept < 99)
            }
        }
    }

    @Test func `pins of any size are kept, also above the capacity; nothing else is stored then`() throws {
        try withFolder { folder in
            try fill(folder, pinning: 1, 2, 3, 4)
            try folder.written(capacity: 2 * charge) { writer in
                #expect(try writer.totals().entries == 4)
                #expect(throws: CacheError.noRoom(pinned: 4 * charge, capacity: 2 * charge)) {
                    try writer.store(url(20), picture(20))
                }
                try writer.makeRoom(writer.headroom)
                // The bytes are there.
                try writer.store(url(21), picture(1))
            }
            try folder.expect(pictures(1...4).merging([url(21): picture(1)]) { $1 })
        }
    }
}
