import Platform
import Testing

@testable import CoverCache

@Suite struct CacheReaderTests {
    @Test func `a cache that was never written cannot be read`() throws {
        try withFolder { folder in
            #expect(throws: (any Error).self) { try folder.reader() }
        }
    }

    @Test func `a key that was never stored is a miss`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            guard case .miss = try folder.reader().cover(for: url(2)) else {
                Issue.record("not a miss")
                return
            }
        }
    }

    @Test func `damaged bytes are never returned, whichever byte of a cover is damaged`() throws {
        try withFolder { folder in
            let body = picture(1, bytes: 600)
            try folder.written { try $0.store(url(1), body) }
            let reader = try folder.reader()
            let start = try #require(try Bytes.find(body, in: folder.segment(1)))
            for offset in body.indices {
                try Bytes.flip(folder.segment(1), at: start + offset)
                guard case .damaged(segment: 1, offset: 0) = try reader.cover(for: url(1)) else {
                    Issue.record("byte \(offset)")
                    return
                }
                try Bytes.flip(folder.segment(1), at: start + offset)
            }
            #expect(try reader.bytes(url(1)) == body)
        }
    }

    @Test(arguments: [true, false])
    func `missing bytes count as damaged`(wholly: Bool) throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            if wholly { try Bytes.remove(folder.segment(1)) } else { try Bytes.truncate(folder.segment(1), to: 1_000) }
            guard case .damaged = try folder.reader().cover(for: url(1)) else {
                Issue.record("not damaged")
                return
            }
        }
    }

    @Test func `covers whose segment is gone or too short are missing, and are stored again`() throws {
        try withFolder { folder in
            try folder.written { for number in 1...3 { try $0.store(url(number), picture(number)) } }
            let keys = (1...3).map(url)
            try Bytes.truncate(folder.segment(1), to: 2 * RecordHeader.charge(5_200) + 5_000)
            #expect(try folder.reader().status(of: keys).map { $0 != nil } == [true, true, false])
            try Bytes.remove(folder.segment(1))
            #expect(try folder.reader().status(of: keys) == [nil, nil, nil])
            try folder.written { for number in 1...3 { try $0.store(url(number), picture(number)) } }
            #expect(try folder.reader().status(of: keys).allSatisfy { $0 != nil })
            #expect(try folder.contents().count == 3)
        }
    }

    @Test(arguments: [true, false])
    func `a cover with shared bytes whose own record is gone is neither fresh nor confirmed until it is stored again`(
        isSegmentGone: Bool
    ) throws {
        try withFolder { folder in
            let keys = [url(1), url(2)]
            try folder.written { writer in
                for key in keys { try writer.store(key, picture(1)) }
            }
            if isSegmentGone {
                try Bytes.remove(folder.segment(1))
            } else {
                try Bytes.truncate(folder.segment(1), to: RecordHeader.charge(5_200))
            }
            let reader = try folder.reader()
            #expect(try reader.status(of: keys).map { $0 != nil } == [!isSegmentGone, false])
            let entries = try keys.map { try #require(try reader.entry(for: $0)) }
            try folder.written { writer in
                let renewals = entries.map { Renewal(confirming: $0, validatedAt: 300, freshUntil: 400, fields: "") }
                #expect(try writer.renew(renewals) == [!isSegmentGone, false])
                #expect(try zip(keys, entries).map { try writer.isIntact($0, $1.digest) } == [!isSegmentGone, false])
                for key in keys { try writer.store(key, picture(1)) }
                #expect(try zip(keys, entries).map { try writer.isIntact($0, $1.digest) } == [true, true])
                #expect(try writer.verify().defects == [])
            }
            try folder.deleteIndex()
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(1)])
        }
    }

    @Test func `a damaged cover counts as a miss, not as a hit`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try Bytes.flip(folder.segment(1), at: 2_000)
            let reader = try folder.reader()
            _ = try reader.cover(for: url(1))
            let usage = try #require(reader.takeUsage(minimum: 1))
            #expect(usage.hits == 0 && usage.misses == 1 && usage.uses.isEmpty)
        }
    }

    @Test func `dropping a cover removes every URL that shares it, and it can be stored again`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.put(url(1), picture(1))
                try writer.put(url(2), picture(1))
                try writer.put(url(3), picture(3))
                _ = try writer.commit()
            }
            try Bytes.flip(folder.segment(1), at: 2_000)
            try folder.written { writer in
                try writer.drop(url(1), segment: 1, offset: 0)
                let statistics = try writer.statistics()
                #expect(statistics.entries == 1 && statistics.blobs == 1)
                try writer.store(url(1), picture(1))
            }
            #expect(try folder.contents() == [url(1): picture(1), url(3): picture(3)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `dropping a damaged record keeps the entry if it has been replaced meanwhile`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.store(url(1), picture(2))
                try writer.drop(url(1), segment: 1, offset: 0)
                try writer.drop(url(2), segment: 1, offset: 0)
            }
            #expect(try folder.contents() == [url(1): picture(2)])
        }
    }

    @Test func `the status of many keys is in the order of the keys`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1, bytes: 10))
                try writer.store(url(2), picture(2, bytes: 20))
            }
            let statuses = try folder.reader().status(of: [url(2), url(9), url(1), url(2)])
            #expect(statuses.map { $0?.bytes } == [20, nil, 10, 20])
            #expect(statuses[2]?.digest == picture(1, bytes: 10).withUnsafeBytes { Digest(of: $0) })
        }
    }

    @Test func `entries are listed in the order of storing`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in [5, 3, 9, 1] { try writer.store(url(number), picture(number)) }
            }
            #expect(try folder.reader().keys() == [5, 3, 9, 1].map(url))
        }
    }

    @Test func `a reader sees commits and evictions that follow its opening`() throws {
        try withFolder { folder in
            try folder.written { writer in
                let reader = try folder.reader()
                #expect(try reader.keys().isEmpty)
                try writer.store(url(1), picture(1))
                #expect(try reader.bytes(url(1)) == picture(1))
                try writer.evict(to: 0)
                #expect(try reader.bytes(url(1)) == nil)
            }
        }
    }
}
