import Testing

@testable import CoverCache

@Suite struct RemovalTests {
    @Test func `a removed cover is gone, and its blocks are free`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...10 { try writer.put(url(number), picture(number, bytes: 40_000)) }
                _ = try writer.commit()
                let before = Bytes.allocated(folder.segment(1))
                let removal = try writer.remove([url(1), url(2), url(77)], includingPinned: false)
                #expect(removal == Removal(entries: 2, bytes: 2 * RecordHeader.charge(40_200), pinned: 0))
                #expect(Bytes.allocated(folder.segment(1)) <= before - removal.bytes)
                #expect(try writer.verify().defects.isEmpty)
            }
            #expect(try folder.reader().keys() == (3...10).map(url))
        }
    }

    @Test func `removing a URL keeps bytes that another one shares, also through a rebuild`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.store(url(number), picture(1)) }
                // The record with the bytes names the first URL.
                #expect(try writer.remove([url(1)], includingPinned: false).bytes == 0)
                #expect(try writer.rebuild() == 2)
                #expect(try writer.remove([url(3)], includingPinned: false).bytes == 4_096)
            }
            #expect(try folder.contents() == [url(2): picture(1)])
            try folder.written { try $0.remove([url(2)], includingPinned: false) }
            #expect(try folder.contents().isEmpty)
            #expect(folder.segmentNames.isEmpty)
        }
    }

    @Test func `a rebuild does not bring back what a removed cover had before it changed`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...2 { try writer.store(url(number), picture(1)) }
                // Its first bytes stay: the second URL has them.
                try writer.store(url(1), picture(9), storedAt: 1_800_000_000_000)
                _ = try writer.remove([url(1)], includingPinned: false)
                #expect(try writer.rebuild() == 1)
            }
            #expect(try folder.contents() == [url(2): picture(1)])
        }
    }

    @Test func `a pinned cover is removed only if that is asked for, with its pin`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...2 { try writer.store(url(number), picture(number)) }
                _ = try writer.pin([url(1)])
                let kept = try writer.remove([url(1), url(2)], includingPinned: false)
                #expect(kept.entries == 1 && kept.pinned == 1)
                #expect(try writer.remove([url(1)], includingPinned: true).entries == 1)
                try writer.store(url(1), picture(1))
                #expect(try writer.evict(to: 0).blobs == 1)
            }
        }
    }

    @Test func `a dry run counts the same and changes nothing`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...4 { try writer.store(url(number), picture(number)) }
                _ = try writer.pin([url(1)])
                let before = try writer.statistics()
                let keys = (1...3).map(url)
                let counted = try writer.remove(keys, includingPinned: false, dryRun: true)
                #expect(try writer.statistics().charged == before.charged)
                #expect(try folder.reader().keys() == (1...4).map(url))
                #expect(try writer.remove(keys, includingPinned: false) == counted)
            }
        }
    }

    @Test func `a rebuild frees the record of a removed cover whose bytes another record has, too`() throws {
        try withFolder { folder in
            // Two processes store the same bytes: each segment has a record with them.
            try folder.abandoned { first in
                try first.put(url(1), picture(1))
                try folder.written { second in
                    try second.put(url(2), picture(1))
                    try second.put(url(3), picture(3))
                    _ = try second.commit()
                }
                _ = try first.commit()
                _ = try first.remove([url(2)], includingPinned: false)
            }
            #expect(try folder.written { try $0.rebuild() } == 2)
            let charged = try folder.written { try $0.statistics().charged }
            let allocated = folder.segmentNames.reduce(0) { $0 + Bytes.allocated("\(folder.path)/segments/\($1)") }
            #expect(charged == 2 * RecordHeader.charge(5_200) && allocated == charged, "\(allocated)")
            #expect(try folder.contents() == [url(1): picture(1), url(3): picture(3)])
        }
    }

    @Test func `a removed cover whose hole a killed process did not punch stays removed`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                for number in 1...2 { try writer.store(url(number), picture(number)) }
                _ = try writer.remove([url(1)], includingPinned: false)
            }
            #expect(try folder.written { try $0.rebuild() } == 1)
            #expect(try folder.contents() == [url(2): picture(2)])
        }
    }
}
