import Platform
import Testing

@testable import CoverCache

@Suite struct RecoveryTests {
    @Test func `a renewal read before a rebuild concerns no other cover; one with damaged bytes does nothing`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.store(url(number), picture(number)) }
                try writer.evict(to: 2 * RecordHeader.charge(5_200))
                let renewals = try [2, 3].map { number in
                    let entry = try #require(try folder.reader().entry(url(number)))
                    return Renewal(confirming: entry, validatedAt: 300, freshUntil: 400, fields: "")
                }
                // The rows of the two blobs are now those that the first two had.
                #expect(try writer.rebuild() == 2)
                #expect(try writer.renew(renewals) == [true, true])
                #expect(try folder.reader().contents().count == 2)

                let location = try #require(try folder.reader().location(of: url(2)))
                try Bytes.flip(location.path, at: location.offset)
                #expect(try writer.renew(renewals) == [false, true])
                #expect(try folder.reader().keys() == [url(2), url(3)])
                try writer.store(url(2), picture(2))
                #expect(try writer.renew(renewals) == [true, true])
            }
        }
    }

    @Test(arguments: [-1, 100])
    func `covers that share damaged bytes are whole after a download of one, and survive a rebuild`(position: Int)
        throws
    {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.store(url(number), picture(1)) }
                // The last byte of the metadata, or one of the body.
                let location = try #require(try folder.reader().location(of: url(1)))
                try Bytes.flip(location.path, at: location.offset + position)
                #expect(
                    try writer.store(url(4), picture(1)) == [
                        .stored(picture(1).withUnsafeBytes { Digest(of: $0) }, deduplicated: false)
                    ])
            }
            let expected = Dictionary(uniqueKeysWithValues: (1...4).map { (url($0), picture(1)) })
            #expect(try folder.contents() == expected)
            #expect(try folder.defects().isEmpty)
            try folder.deleteIndex()
            #expect(try folder.contents() == expected)
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `bytes that two URLs share survive power loss after one of them got newer ones`(isInOrder: Bool) throws {
        try withFolder { folder in
            try folder.undoing {
                try folder.abandoned { first in
                    try first.store(url(1), picture(1))
                    func storeShared(_ writer: CacheWriter) throws {
                        try writer.store(url(2), picture(2), storedAt: 100)
                        try writer.store(url(3), picture(2), storedAt: 100)
                    }
                    if isInOrder { try storeShared(first) } else { try folder.abandoned { try storeShared($0) } }
                    try first.store(url(2), picture(4), storedAt: 200)
                }
            }
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(4), url(3): picture(2)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `covers that a dead writer synced but did not commit are recovered intact`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                for number in 2...5 { try writer.put(url(number), picture(number)) }
                try #require(writer.seal()).sync()
            }
            #expect(try folder.contents() == Dictionary(uniqueKeysWithValues: (1...5).map { (url($0), picture($0)) }))
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `covers that a dead writer did not sync are absent, and harm nothing`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                try writer.put(url(2), picture(2))
                #expect(writer.seal() != nil)
                try writer.put(url(3), picture(3))
            }
            try folder.written { try $0.store(url(4), picture(4)) }
            #expect(try folder.contents() == [url(1): picture(1), url(4): picture(4)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a synced group is recovered even if an earlier one never reached the disk`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.put(url(1), picture(1))
                let first = writer.seal()
                try writer.put(url(2), picture(2))
                try #require(writer.seal()).sync()
                #expect(first != nil)
            }
            #expect(try folder.contents() == [url(2): picture(2)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a dead writer's shared bytes are recovered as one blob`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.put(url(1), picture(1))
                try writer.put(url(2), picture(1))
                try #require(writer.seal()).sync()
            }
            try folder.written { writer in
                let statistics = try writer.statistics()
                #expect(statistics.blobs == 1 && statistics.entries == 2)
            }
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(1)])
        }
    }

    @Test func `a torn record is cut off, the records before it are recovered, and the next one takes its offset`()
        throws
    {
        try withFolder { folder in
            try folder.abandoned { writer in
                for number in 1...3 { try writer.put(url(number), picture(number)) }
                try #require(writer.seal()).sync()
            }
            let path = folder.segment(1)
            try Bytes.truncate(path, to: Bytes.length(path) - RecordHeader.alignment)
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(2)])
            #expect(Bytes.length(path) == 2 * RecordHeader.charge(5_200))
            try folder.written { try $0.store(url(4), picture(4)) }
            #expect(folder.segmentNames == ["0000000001.seg"])
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(2), url(4): picture(4)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a record of the right length whose bytes never reached the disk is not recovered`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                for number in 1...3 { try writer.put(url(number), picture(number)) }
                try #require(writer.seal()).sync()
            }
            let offset = try #require(try Bytes.find(picture(3), in: folder.segment(1)))
            try Bytes.overwrite(folder.segment(1), at: offset + 904, with: [UInt8](repeating: 0, count: 4_096))
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(2)])
        }
    }

    @Test func `garbage after the last commit is cut off and harms nothing`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let length = Bytes.length(folder.segment(1))
            try Bytes.overwrite(folder.segment(1), at: RecordHeader.charge(length), with: picture(9, bytes: 10_000))
            #expect(try folder.contents() == [url(1): picture(1)])
            #expect(Bytes.length(folder.segment(1)) == RecordHeader.charge(length))
        }
    }

    @Test func `records of a live writer are left to it`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.put(url(1), picture(1))
                let group = try #require(writer.seal())
                try group.sync()
                #expect(try folder.contents().isEmpty)
                let digest = picture(1).withUnsafeBytes { Digest(of: $0) }
                #expect(try writer.commit([group]) == [.stored(digest, deduplicated: false)])
                #expect(try folder.contents() == [url(1): picture(1)])
            }
        }
    }

    @Test func `an older record of a dead writer does not replace a newer entry`() throws {
        try withFolder { folder in
            try folder.abandoned { dead in
                try dead.put(url(1), picture(1), storedAt: 100)
                try dead.put(url(2), picture(2), storedAt: 300)
                try #require(dead.seal()).sync()
                try folder.written { writer in
                    try writer.store(url(1), picture(3), storedAt: 200)
                    try writer.store(url(2), picture(4), storedAt: 200)
                }
            }
            #expect(try folder.contents() == [url(1): picture(3), url(2): picture(2)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `repeated opening recovers nothing twice`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.put(url(1), picture(1))
                try #require(writer.seal()).sync()
            }
            let first = try folder.written { try $0.statistics() }
            let second = try folder.written { try $0.statistics() }
            #expect(first.charged == second.charged && first.entries == second.entries && second.entries == 1)
        }
    }

    @Test func `opening does not recover an evicted cover`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...4 { try writer.store(url(number), picture(number)) }
                try writer.evict(to: 2 * RecordHeader.charge(5_200))
            }
            #expect(try folder.contents().keys.sorted() == [url(3), url(4)])
        }
    }

    @Test func `a compaction that was killed after copying a record brings no removed URL back`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.store(url(2), picture(1))
                // The bytes stay for the second.
                _ = try writer.remove([url(1)], includingPinned: false)
            }
            let record = try Bytes.of(folder.segment(1)).prefix(RecordHeader.charge(5_200))
            try Bytes.write(Array(record), to: folder.segment(2))
            #expect(try folder.contents() == [url(2): picture(1)])
            #expect(try folder.defects() == [])
            // The copy is given back.
            try folder.written { _ in }
            #expect(Bytes.allocated(folder.segment(2)) == 0)
        }
    }
}
