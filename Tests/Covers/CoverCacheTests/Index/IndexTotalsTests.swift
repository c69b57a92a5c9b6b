import Platform
import Testing

@testable import CoverCache

@Suite struct IndexTotalsTests {
    /// The totals, and the same counted from all rows.
    private func check(_ writer: CacheWriter, _ folder: CacheFolder) throws {
        let statistics = try writer.statistics()
        var (entries, entryBytes, covers): (Int, Int, [Digest: Int]) = (0, 0, [:])
        var pinned: Set<Digest> = []
        try folder.reader().entries { entry in
            entries += 1
            entryBytes += entry.bytes
            covers[entry.digest] = entry.bytes
            if entry.isPinned { pinned.insert(entry.digest) }
        }
        #expect(statistics.entries == entries)
        #expect(statistics.liveBytes + statistics.deduplicatedBytes == entryBytes)
        #expect(statistics.blobs == covers.count && statistics.liveBytes == covers.values.reduce(0, +))
        #expect(statistics.pinned == pinned.count)
        #expect(statistics.pinnedBytes == pinned.reduce(0) { $0 + (covers[$1] ?? 0) })
        let files = covers.keys.map { writer.covers.path(of: $0) }
        #expect(statistics.chargedBytes == files.reduce(0) { $0 + Bytes.allocated($1) })
        #expect(folder.fileNames == Set(covers.keys.map(\.description)))
        #expect(try writer.verify().defects == [])
    }

    @Test(arguments: 1...4)
    func `the totals are those of the rows and files, whatever is stored, pinned, removed, evicted and rebuilt`(
        seed: Int
    ) throws {
        try withFolder { folder in
            var random = SplitMix64(seed: UInt64(seed))
            func anyURL() -> String { url(Int.random(in: 0..<40, using: &random)) }
            for _ in 0..<2 {
                try folder.written(capacity: 150_000) { writer in
                    try check(writer, folder)
                    for _ in 0..<60 {
                        if Int.random(in: 0..<10, using: &random) == 0 { try check(writer, folder) }
                        switch Int.random(in: 0..<11, using: &random) {
                        case 0..<5:
                            for _ in 0..<Int.random(in: 1...3, using: &random) {
                                let number = Int.random(in: 0..<30, using: &random)
                                try writer.put(anyURL(), picture(number, bytes: 1_000 * (1 + number % 7)))
                            }
                            _ = try writer.commit()
                        case 5, 6: _ = try writer.pin([anyURL(), anyURL()])
                        case 7: _ = try writer.unpin([anyURL(), anyURL()])
                        case 8:
                            _ = try writer.remove([anyURL(), anyURL()], includingPinned: Bool.random(using: &random))
                        case 9:
                            guard let key = try folder.reader().keys().randomElement(using: &random) else { break }
                            let digest = try #require(try folder.reader().entry(for: key)?.digest)
                            try Bytes.flip(writer.covers.path(of: digest), at: 9)
                            try writer.dropDamaged(key)
                        default: try writer.evict(to: Int.random(in: 0..<100_000, using: &random))
                        }
                    }
                    try check(writer, folder)
                }
                try folder.deleteIndex()
            }
        }
    }
}
