import Platform
import Testing

@testable import CoverCache

@Suite struct IndexTotalsTests {
    /// The totals, and the same counted from all rows.
    private func check(_ writer: CacheWriter, _ folder: CacheFolder) throws {
        let statistics = try writer.statistics()
        var (entries, entryBytes, blobs): (Int, Int, [Digest: Int]) = (0, 0, [:])
        var pinned: Set<Digest> = []
        try folder.reader().entries { entry in
            entries += 1
            entryBytes += entry.bytes
            blobs[entry.digest] = entry.bytes
            if entry.isPinned { pinned.insert(entry.digest) }
        }
        #expect(statistics.entries == entries && statistics.entryBytes == entryBytes)
        #expect(statistics.blobs == blobs.count && statistics.bytes == blobs.values.reduce(0, +))
        #expect(statistics.pinnedBlobs == pinned.count)
        #expect(statistics.pinnedBytes == pinned.reduce(0) { $0 + (blobs[$1] ?? 0) })
        let charge = try writer.pinnedCharge()
        #expect(charge >= statistics.pinnedBytes && charge <= statistics.charged)
    }

    @Test(arguments: 1...6)
    func `the totals are those of the rows, whatever is stored, pinned, removed, evicted and rebuilt`(
        seed: Int
    ) throws {
        try withFolder { folder in
            var random = Randomness(seed: UInt64(seed))
            func anyURL() -> String { url(Int.random(in: 0..<40, using: &random)) }
            try folder.written(capacity: 1 << 20) { writer in
                for _ in 0..<120 {
                    if Int.random(in: 0..<10, using: &random) == 0 { try check(writer, folder) }
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0..<5:
                        let number = Int.random(in: 0..<30, using: &random)
                        try writer.store(anyURL(), picture(number, bytes: 1_000 * (1 + number % 7)))
                    case 5, 6: _ = try writer.pin([anyURL(), anyURL()])
                    case 7: _ = try writer.unpin([anyURL(), anyURL()])
                    case 8: _ = try writer.remove([anyURL(), anyURL()], includingPinned: Bool.random(using: &random))
                    default: try writer.evict(to: Int.random(in: 0..<400_000, using: &random))
                    }
                }
                try check(writer, folder)
                _ = try writer.rebuild()
                try check(writer, folder)
                #expect(try writer.verify().defects.isEmpty)
            }
        }
    }
}
