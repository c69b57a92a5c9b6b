import Platform
import Testing

@testable import CoverCache

@Suite struct ReplacementTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let day: Int64 = 86_400_000

    /// A cache with covers 1 to `count`.
    private func withCovers(_ count: Int, _ body: (CacheFolder) throws -> Void) throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...count) }
            try body(folder)
        }
    }

    @Test func `one picture in place of three different covers replaces none, over processes, and one that was killed`()
        throws
    {
        try withCovers(4) { folder in
            #expect(try folder.written { try $0.refresh(1, 9) } == .stored(Digest(of: picture(9)), deduplicated: false))
            #expect(
                try folder.abandoned { try $0.refresh(2, 9) } == .stored(Digest(of: picture(9)), deduplicated: true))
            #expect(try folder.reader().bytes(url(1)) == picture(9))
            try folder.written { writer in
                let outcome = try #require(try writer.refresh(3, 9))
                guard case .withheld(let digest, let restored) = outcome else { throw CacheError.closed }
                #expect(digest == Digest(of: picture(9)))
                #expect(Set(restored.map(\.metadata.key)) == [url(1), url(2)])
                #expect(restored.allSatisfy { $0.metadata.storedAt == Self.now })
            }
            try folder.expect(pictures(1...4))
        }
    }

    @Test func `in one group, too, a placeholder replaces no cover, nor any that comes later`() throws {
        try withCovers(5) { folder in
            for withheld in [3, 5] {
                let outcomes = try folder.written { writer in
                    for number in 1...5 { try writer.putNew(number, 9) }
                    return try writer.commit()
                }
                #expect(outcomes.count { if case .withheld = $0 { true } else { false } } == withheld)
                try folder.expect(pictures(1...5))
            }
        }
    }

    @Test func `equal covers count once: what replaces them is what has become of one cover`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...6 { try writer.store(url(number), picture(number < 6 ? 1 : 2)) }
                for number in 1...6 { try writer.refresh(number, 9) }
            }
            #expect(try folder.contents() == Dictionary(uniqueKeysWithValues: (1...6).map { (url($0), picture(9)) }))
            #expect(try folder.defects() == [])
        }
    }

    @Test func `a picture of which two URLs are the first is theirs; what it replaced goes after two weeks`() throws {
        try withCovers(2) { folder in
            try folder.written { writer in
                for number in 1...2 { try writer.refresh(number, 9) }
                try writer.releaseReplaced(now: Self.now + 13 * Self.day)
                #expect(folder.fileNames.count == 3)
                #expect(try writer.verify().defects == [])
                #expect(try writer.statistics().deduplicatedBytes == 0)
                try writer.releaseReplaced(now: Self.now + 15 * Self.day)
            }
            try folder.expect([url(1): picture(9), url(2): picture(9)])
        }
    }

    @Test func `a cover that changes is kept to the end of the run, by its own writer, or a day if that was killed`()
        throws
    {
        try withCovers(2) { folder in
            try folder.abandoned { _ = try $0.refresh(1, 8) }
            try folder.written { writer in
                try writer.refresh(2, 9)
                #expect(folder.fileNames.count == 4)
                try writer.releaseReplaced(now: Self.now)
                #expect(folder.fileNames == Set([1, 8, 9].map { Digest(of: picture($0)).description }))
                try writer.releaseReplaced(now: Self.now + 2 * Self.day)
            }
            try folder.expect([url(1): picture(8), url(2): picture(9)])
        }
    }

    @Test func `a placeholder is known over runs; what it replaced alone in a run stays replaced`() throws {
        try withCovers(3) { folder in
            for number in 1...3 {
                try folder.written { writer in
                    try writer.refresh(number, 9)
                    try writer.releaseReplaced(now: Self.now)
                }
            }
            try folder.expect([url(1): picture(9), url(2): picture(2), url(3): picture(3)])
        }
    }

    @Test func `what was replaced makes room first, and then cannot be put back`() throws {
        try withCovers(3) { folder in
            try folder.written { writer in
                try writer.refresh(1, 9)
                try writer.evict(to: 3 * charge)
                #expect(folder.fileNames.count == 3)
                try writer.refresh(2, 9)
                try writer.refresh(3, 9)
            }
            try folder.expect([url(1): picture(9), url(2): picture(2), url(3): picture(3)])
        }
    }

    @Test func `a picture that a person or a pack gives is no placeholder, and one without an entry replaces nothing`()
        throws
    {
        try withCovers(3) { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.store(url(number), picture(9)) }
                for number in 4...7 { try writer.refresh(number, 9) }
            }
            try folder.expect(Dictionary(uniqueKeysWithValues: (1...7).map { (url($0), picture(9)) }))
        }
    }

    @Test func `an entry that has changed again, or was removed, is not put back`() throws {
        try withCovers(4) { folder in
            try folder.written { writer in
                try writer.refresh(1, 9)
                try writer.refresh(1, 8)
                try writer.refresh(2, 9)
                _ = try writer.remove([url(2)], includingPinned: false)
                try writer.refresh(3, 9)
                try writer.releaseReplaced(now: Self.now)
            }
            try folder.expect([url(1): picture(8), url(3): picture(3), url(4): picture(4)])
        }
    }

    @Test func `a pinned cover that is put back is pinned as before`() throws {
        try withCovers(3) { folder in
            try folder.written { writer in
                _ = try writer.pin([url(1)])
                for number in 1...3 { try writer.refresh(number, 9) }
                #expect(try writer.statistics().pinned == 1)
            }
            #expect(try folder.reader().entry(for: url(1))?.isPinned == true)
            try folder.expect(pictures(1...3))
        }
    }
}

extension CacheWriter {
    fileprivate func putNew(_ number: Int, _ cover: Int) throws {
        _ = try picture(cover).withUnsafeBytes { try put(metadata(url(number)), body: $0, replacing: .keeping) }
    }

    /// A refresh of a URL brings another cover.
    @discardableResult
    fileprivate func refresh(_ number: Int, _ cover: Int) throws -> PutOutcome? {
        try putNew(number, cover)
        return try commit().first
    }
}
