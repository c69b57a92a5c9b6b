import Testing

@testable import CoverCache

@Suite struct EvictionTests {
    @Test func `without uses, covers are evicted in the order of storing`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...10 { try writer.store(url(number), picture(number)) }
                let charge = RecordHeader.charge(5_200)
                #expect(try writer.evict(to: 4 * charge) == (6, 6 * charge))
                #expect(try writer.statistics().charged == 4 * charge)
            }
            #expect(try folder.reader().keys() == (7...10).map(url))
        }
    }

    @Test func `a cover that was read or looked up is evicted after those that were not`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...10 { try writer.store(url(number), picture(number)) }
                let reader = try folder.reader()
                _ = try reader.cover(for: url(2))
                _ = try reader.cover(for: url(3), counting: false)
                _ = try reader.status(of: [url(4), url(1)])
                writer.record(try #require(reader.takeUsage(minimum: 1)))
                try writer.evict(to: 4 * RecordHeader.charge(5_200))
            }
            #expect(try folder.reader().keys() == [url(1), url(2), url(4), url(10)])
        }
    }

    @Test func `the reader hands its uses over once, and only if there are enough`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let reader = try folder.reader()
            #expect(reader.takeUsage(minimum: 1) == nil)
            _ = try reader.bytes(url(1))
            _ = try reader.bytes(url(2))
            #expect(reader.takeUsage(minimum: 3) == nil)
            let usage = try #require(reader.takeUsage(minimum: 2))
            #expect(usage.hits == 1 && usage.misses == 1 && usage.uses.count == 1)
            #expect(reader.takeUsage(minimum: 1) == nil)
        }
    }

    @Test func `evicting a blob removes all its entries and frees their records`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.put(url(number), picture(1)) }
                _ = try writer.commit()
                #expect(try writer.evict(to: 0).blobs == 1)
                let statistics = try writer.statistics()
                #expect(statistics.entries == 0 && statistics.blobs == 0 && statistics.charged == 0)
            }
            #expect(try folder.reader().keys().isEmpty)
        }
    }

    @Test(arguments: 1...8)
    func `no commit exceeds the capacity, whatever is put`(seed: Int) throws {
        try withFolder { folder in
            var random = Randomness(seed: UInt64(seed))
            let capacity = 2 << 20
            try folder.written(capacity: capacity) { writer in
                for step in 0..<300 {
                    let size = Int.random(in: 0...(seed.isMultiple(of: 2) ? 400_000 : 20_000), using: &random)
                    if writer.pendingBytes + size > writer.groupLimit {
                        _ = try writer.commit()
                        #expect(try writer.statistics().charged <= capacity, "step \(step)")
                    }
                    try writer.put(url(Int.random(in: 0..<200, using: &random)), blank(step, size))
                    if Int.random(in: 0..<20, using: &random) == 0 { try writer.makeRoom(writer.groupLimit) }
                }
                _ = try writer.commit()
                writer.reclaimSpace()
                let statistics = try writer.statistics()
                #expect(statistics.charged <= capacity && statistics.charged > capacity / 4)
                let segments = folder.segmentNames.map { "\(folder.path)/segments/\($0)" }
                #expect(segments.reduce(0) { $0 + Bytes.allocated($1) } <= capacity)
                #expect(try writer.verify().defects.isEmpty)
            }
        }
    }

    @Test func `spared covers stay, older ones make room for them, and then nothing has room`() throws {
        try withFolder { folder in
            let charge = RecordHeader.charge(5_200)
            try folder.written(capacity: 20 * charge) { writer in
                for number in 1...10 { try writer.store(url(number), picture(number)) }
                writer.spareFromNow()
                var stored: [String] = []
                for number in 11...40 {
                    let metadata = EntryMetadata(key: url(number), mediaType: "image/jpeg", storedAt: 1)
                    let outcome = try writer.store([(metadata, picture(number))])[0].get()
                    if case .stored = outcome { stored.append(url(number)) } else { #expect(outcome == .noRoom) }
                }
                #expect(stored.count == 20)
                #expect(try folder.reader().keys() == stored)
                #expect(try writer.noRoom(for: 5_000) == .full(capacity: 20 * charge))
                #expect(try writer.noRoom(for: 20 * charge) == .noRoom(pinned: 0, capacity: 20 * charge))
                writer.spareNothing()
                try writer.store(url(50), picture(50))
                #expect(try folder.reader().keys().last == url(50))
            }
        }
    }

    @Test func `new blobs that are evicted are counted, also if they get the rows of old ones`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 0..<20 { try writer.store(url(number), picture(number)) }
            }
            try folder.written { writer in
                try writer.evict(to: 0)
                for number in 20..<30 { try writer.store(url(number), picture(number)) }
                #expect(writer.evictedNewBlobs == 0)
                try writer.evict(to: 0)
                #expect(writer.evictedNewBlobs == 10)
            }
        }
    }

    @Test func `the index counts towards the capacity`() throws {
        try withFolder { folder in
            let capacity = 16 << 20
            let fields = "x: \(String(repeating: "y", count: 3_000))\n"
            try folder.written(capacity: capacity) { writer in
                for start in stride(from: 0, to: 6_000, by: 100) {
                    _ = try writer.store(
                        (start..<start + 100).map { number in
                            (
                                EntryMetadata(
                                    key: url(number), mediaType: "image/jpeg", storedAt: 1, fields: fields),
                                picture(number, bytes: 500)
                            )
                        })
                    let statistics = try writer.statistics()
                    // The first MiB of the index and of its log do not count.
                    #expect(statistics.onDisk <= capacity + 2 << 20, "\(start): \(statistics)")
                }
                let statistics = try writer.statistics()
                #expect(statistics.charged > capacity / 4 && statistics.charged < capacity * 3 / 4, "\(statistics)")
            }
        }
    }

    @Test func `groups that are committed together do not exceed the capacity, however large they are`() throws {
        try withFolder { folder in
            let capacity = 200_000 & ~4_095
            try folder.written(capacity: capacity) { writer in
                try writer.store(url(0), picture(0))
                var groups: [CacheWriter.Group] = []
                for number in 1...3 {
                    try writer.put(url(number), picture(number, bytes: 120_000))
                    groups.append(try #require(writer.seal()))
                }
                for group in groups { try group.sync() }
                #expect(try writer.commit(groups).count == 3)
                #expect(try writer.statistics().charged <= capacity)
                #expect(try writer.verify().defects.isEmpty)
            }
        }
    }

    /// Faster to make than a picture, and as distinct.
    private func blank(_ seed: Int, _ size: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: seed), count: size)
        for (index, byte) in "\(seed)".utf8.enumerated() where index < size { bytes[index] = byte }
        return bytes
    }

    @Test func `eviction starts when the cache would be full, and goes down to nine tenths`() throws {
        try withFolder { folder in
            let charge = RecordHeader.charge(5_200)
            try folder.written(capacity: 100 * charge) { writer in
                for number in 1...95 { try writer.put(url(number), picture(number)) }
                _ = try writer.commit()
                try writer.makeRoom(5 * charge)
                #expect(try writer.statistics().blobs == 95)
                try writer.makeRoom(6 * charge)
                #expect(try writer.statistics().blobs == 90)
            }
        }
    }

    @Test func `a cache opened with a smaller capacity shrinks to it`() throws {
        try withFolder { folder in
            let charge = RecordHeader.charge(5_200)
            try folder.written { writer in for number in 1...20 { try writer.store(url(number), picture(number)) } }
            let kept = try folder.written(capacity: 10 * charge) { try $0.statistics() }
            #expect(kept.charged <= 10 * charge && kept.blobs >= 9)
            #expect(try folder.reader().keys().last == url(20))
        }
    }

    @Test func `recovered covers of a dead writer do not exceed the capacity`() throws {
        try withFolder { folder in
            let charge = RecordHeader.charge(5_200)
            try folder.abandoned(capacity: 10 * charge) { writer in
                for number in 1...10 { try writer.store(url(number), picture(number)) }
                for number in 11...14 { try writer.put(url(number), picture(number)) }
                try #require(writer.seal()).sync()
            }
            #expect(try folder.written { try $0.statistics().charged } <= 10 * charge)
        }
    }

    @Test func `a second URL of the only cover, if that fills the cache, is stored or refused, but not lost`() throws {
        try withFolder { folder in
            let body = picture(1, bytes: 60_000)
            try folder.written(capacity: RecordHeader.charge(60_200)) { writer in
                try writer.store(url(1), body)
                #expect(try writer.store(url(2), body) != [.lost])
            }
        }
    }

    @Test func `eviction frees the blocks of covers, and the remaining ones are intact`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...40 { try writer.put(url(number), picture(number, bytes: 40_000)) }
                _ = try writer.commit()
                let before = Bytes.allocated(folder.segment(1))
                try writer.evict(to: 10 * RecordHeader.charge(40_200))
                let after = Bytes.allocated(folder.segment(1))
                #expect(before >= 40 * 40_000)
                #expect(after <= 11 * RecordHeader.charge(40_200))
                #expect(try writer.verify().defects.isEmpty)
            }
            #expect(try folder.reader().contents().count == 10)
        }
    }

    @Test func `an empty segment is removed, and its number is not used again`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.written { try $0.evict(to: 0) }
            #expect(folder.segmentNames.isEmpty)
            try folder.written { try $0.store(url(2), picture(2)) }
            #expect(folder.segmentNames == ["0000000002.seg"])
            #expect(try folder.contents() == [url(2): picture(2)])
        }
    }

    @Test func `adjacent freed ranges become one hole, others stay separate`() {
        let ranges = [(1, 8_192, 4_096), (2, 12_288, 4_096), (1, 0, 4_096), (1, 4_096, 4_096), (1, 20_480, 8_192)]
        let merged = FreedRange.merged(ranges.map { FreedRange(segment: $0.0, offset: $0.1, length: $0.2) })
        #expect(
            merged == [
                FreedRange(segment: 1, offset: 0, length: 12_288),
                FreedRange(segment: 1, offset: 20_480, length: 8_192),
                FreedRange(segment: 2, offset: 12_288, length: 4_096),
            ])
    }
}
