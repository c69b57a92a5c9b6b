import Platform
import Testing

@testable import CoverCache

@Suite struct RemovalTests {
    @Test func `a removed cover is gone, with its file`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...10)
                let removal = try writer.remove([url(1), url(2), url(77)], includingPinned: false)
                #expect([removal.entries, removal.bytes, removal.pinned] == [2, 2 * charge, 0])
            }
            try folder.expect(pictures(3...10))
        }
    }

    @Test func `removing a URL keeps bytes that another one shares, also through a rebuild`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.put(url(number), picture(1)) }
                _ = try writer.commit()
                #expect(try writer.remove([url(1)], includingPinned: false).bytes == 0)
            }
            try folder.deleteIndex()
            try folder.expect([url(2): picture(1), url(3): picture(1)])
            try folder.written { writer in
                let removal = try writer.remove([url(2), url(3)], includingPinned: false)
                #expect([removal.entries, removal.bytes, removal.pinned] == [2, charge, 0])
            }
            try folder.expect([:])
        }
    }

    @Test func `a rebuild does not bring back what a removed cover had before it changed`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...2 { try writer.store(url(number), picture(1)) }
                // Its first bytes stay: the second URL has them.
                try writer.store(url(1), picture(9))
                _ = try writer.remove([url(1)], includingPinned: false)
            }
            try folder.deleteIndex()
            try folder.expect([url(2): picture(1)])
        }
    }

    @Test func `a pinned cover is removed only if that is asked for, with its pin`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...2)
                _ = try writer.pin([url(1)])
                let kept = try writer.remove([url(1), url(2)], includingPinned: false)
                #expect([kept.entries, kept.bytes, kept.pinned] == [1, charge, 1])
                #expect(try writer.remove([url(1)], includingPinned: true).entries == 1)
                #expect(try writer.totals().pinned == 0)
                try writer.store(url(1), picture(1))
                #expect(try writer.evict(to: 0).covers == 1)
            }
        }
    }

    @Test func `a dry run counts the same and changes nothing`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...4)
                _ = try writer.pin([url(1)])
                let (keys, log) = ((1...3).map(url), try Bytes.of(folder.log))
                for includesPinned in [true, false] {
                    let counted = try writer.remove(keys, includingPinned: includesPinned, dryRun: true)
                    #expect(try folder.reader().contents() == pictures(1...4))
                    #expect(try writer.verify().defects == [] && writer.totals().pinned == 1)
                    #expect(try Bytes.of(folder.log) == log)
                    if !includesPinned { #expect(try writer.remove(keys, includingPinned: includesPinned) == counted) }
                }
            }
        }
    }

    @Test func `a put of bytes that are removed before its commit stores them`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.put(url(2), picture(1))
                _ = try writer.remove([url(1)], includingPinned: false)
                #expect(folder.fileNames == [])
                #expect(try writer.commit() == [.stored(Digest(of: picture(1)), deduplicated: false)])
            }
            try folder.expect([url(2): picture(1)])
        }
    }
}
