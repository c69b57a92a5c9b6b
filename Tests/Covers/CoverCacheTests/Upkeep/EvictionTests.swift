import Platform
import SQLite
import Testing

@testable import CoverCache

@Suite struct EvictionTests {
    // MARK: Order

    @Test func `without uses, covers are evicted in the order of storing, and their files with them`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...10)
                #expect(try writer.evict(to: 4 * charge) == EvictionSummary(covers: 6, bytes: 6 * charge))
                #expect(try writer.statistics().chargedBytes == 4 * charge)
            }
            try folder.expect(pictures(7...10))
        }
    }

    @Test func `a cover that was read, looked up or stored again is evicted after those that were not`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...10)
                let reader = try folder.reader()
                _ = try reader.cover(for: url(2))
                _ = try reader.cover(digest: Digest(of: picture(3)), counting: false)
                _ = try reader.cover(digest: Digest(of: picture(6)))
                _ = try reader.status(of: [url(4), url(1)])
                writer.noteUsage(try #require(reader.takeUsage(minimum: 1)))
                try writer.store(url(5), picture(5))
                try writer.evict(to: 6 * charge)
            }
            try folder.expect(pictures([1, 2, 4, 5, 6, 10]))
        }
    }

    @Test func `evicting a cover removes all its entries`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.put(url(number), picture(1)) }
                _ = try writer.commit()
                #expect(try writer.evict(to: 0).covers == 1)
                #expect(try writer.statistics().entries == 0)
            }
            try folder.expect([:])
        }
    }

    @Test func `new covers that are evicted are counted, also if they get the rows of old ones`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(0..<20) }
            try folder.written { writer in
                try writer.evict(to: 0)
                try writer.fill(20..<30)
                #expect(writer.evictedNewCovers == 0)
                try writer.evict(to: 0)
                #expect(writer.evictedNewCovers == 10)
            }
        }
    }

    // MARK: Capacity

    /// Faster to make than a picture, and as distinct.
    private func blank(_ seed: Int, _ size: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: seed), count: size)
        for (index, byte) in "\(seed)".utf8.enumerated() where index < size { bytes[index] = byte }
        return bytes
    }

    @Test(arguments: 1...4)
    func `no commit exceeds the capacity, whatever is put, and the cache is well used`(seed: Int) throws {
        try withFolder { folder in
            var random = SplitMix64(seed: UInt64(seed))
            let capacity = 2 << 20
            try folder.written(capacity: capacity) { writer in
                for step in 0..<200 {
                    let size = Int.random(in: 0...(seed.isMultiple(of: 2) ? 400_000 : 20_000), using: &random)
                    if writer.isGroupFull(before: size) {
                        _ = try writer.commit()
                        #expect(try writer.totals().chargedBytes <= capacity, "step \(step)")
                    }
                    try writer.put(url(Int.random(in: 0..<150, using: &random)), blank(step, size))
                    if Int.random(in: 0..<20, using: &random) == 0 { try writer.makeRoom(writer.groupLimit) }
                }
                _ = try writer.commit()
                let statistics = try writer.statistics()
                #expect(statistics.chargedBytes <= capacity && statistics.chargedBytes > capacity / 4)
                #expect(try writer.verify().defects == [])
                let files = try folder.reader().contents().values.map { folder.file($0) }
                #expect(Set(files).reduce(0) { $0 + Bytes.allocated($1) } == statistics.chargedBytes)
                #expect(folder.fileNames.count == statistics.blobs)
            }
        }
    }

    @Test func `groups that are not committed do not exceed the capacity, and what has no room leaves no file`()
        throws
    {
        try withFolder { folder in
            let capacity = 200_000 & ~4_095
            try folder.written(capacity: capacity) { writer in
                try writer.store(url(0), picture(0))
                try writer.put(url(1), picture(1, bytes: 120_000))
                let group = try #require(writer.seal())
                for number in 2...3 {
                    #expect(throws: CacheError.noRoom(pinned: 0, capacity: capacity)) {
                        try writer.put(url(number), picture(number, bytes: 120_000))
                    }
                }
                #expect(folder.fileNames.count == 2)
                try group.sync()
                let outcomes = try writer.commit([group])
                #expect(outcomes == [.stored(Digest(of: picture(1, bytes: 120_000)), deduplicated: false)])
                try writer.store(url(2), picture(2, bytes: 120_000))
                #expect(try writer.totals().chargedBytes <= capacity)
            }
            try folder.expect([url(2): picture(2, bytes: 120_000)])
        }
    }

    /// Bytes on the disk of all files of covers, with rows and without.
    private func fileBytes(_ folder: CacheFolder) -> Int {
        folder.fileNames.reduce(0) { $0 + Bytes.allocated("\(folder.path)/covers/\($1.prefix(2))/\($1)") }
    }

    @Test(arguments: [true, false])
    func `two writers stay within the capacity together, also before they commit`(isSparing: Bool) throws {
        try withFolder { folder in
            let capacity = 64 * charge
            try folder.written(capacity: capacity) { first in
                try folder.written { second in
                    if isSparing { for writer in [first, second] { writer.spareFromNow() } }
                    var refused = 0
                    for number in 0..<100 {
                        for (writer, number) in [(first, number), (second, 1_000 + number)] {
                            if writer.isGroupFull(before: 5_000) { _ = try writer.commit() }
                            do {
                                try writer.put(url(number), picture(number))
                            } catch CacheError.full {
                                refused += 1
                            }
                            #expect(fileBytes(folder) <= capacity, "\(number)")
                        }
                    }
                    #expect((refused > 0) == isSparing)
                    _ = (try first.commit(), try second.commit())
                    #expect(try first.totals().chargedBytes > capacity / 2)
                }
            }
        }
    }

    @Test func `files that a killed process has left count until they are swept`() throws {
        try withFolder { folder in
            let capacity = 64 * charge
            try folder.written(capacity: capacity) { writer in
                // Nobody sweeps while this one has files without rows.
                try writer.put(url(0), picture(0))
                try folder.abandoned { other in for number in 100..<104 { try other.put(url(number), picture(number)) }
                }
                writer.spareFromNow()
                #expect(throws: CacheError.full(capacity: capacity)) {
                    for number in 1..<100 {
                        try writer.put(url(number), picture(number))
                        #expect(fileBytes(folder) <= capacity)
                    }
                }
                _ = try writer.commit()
            }
            #expect(folder.markers == [] && fileBytes(folder) < capacity)
        }
    }

    @Test func `eviction starts when the cache would be full, and goes down to nine tenths`() throws {
        try withFolder { folder in
            try folder.written(capacity: 100 * charge) { writer in
                try writer.fill(1...95)
                try writer.makeRoom(5 * charge)
                #expect(try writer.totals().blobs == 95)
                try writer.makeRoom(6 * charge)
                #expect(try writer.totals().blobs == 90)
                try writer.makeRoom(30 * charge)
                #expect(try writer.totals().blobs == 75, "a quarter at most for what comes next")
            }
        }
    }

    @Test func `a cache opened with a smaller capacity shrinks to it`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...20) }
            var notices: [CacheNotice] = []
            try folder.abandoned(capacity: 10 * charge, notice: { notices.append($0) }) { writer in
                let bytes = try writer.totals().chargedBytes
                #expect(bytes == 10 * charge)
            }
            #expect(notices.count == 2 && notices.last == .evicted(covers: 10, capacity: 10 * charge), "\(notices)")
            try folder.expect(pictures(11...20))
        }
    }

    @Test func `a wrong count in the index does not evict covers at opening`() throws {
        try withFolder { folder in
            try folder.written(capacity: 10 * charge) { try $0.fill(1...5) }
            try folder.execute("UPDATE state SET charged = 1 << 40")
            try folder.abandoned(notice: { Issue.record("\($0)") }) { _ in }
            try folder.expect(pictures(1...5))
        }
    }

    @Test func `a count that falls below zero is no damage`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...5)
                try writer.index.connection.execute("UPDATE state SET charged = 20000, covers = 1")
                try writer.evict(to: 0)
            }
            #expect(try folder.written { try $0.totals().chargedBytes } == 0)
        }
    }

    @Test func `the index counts towards the capacity`() throws {
        try withFolder { folder in
            let capacity = 16 << 20
            let fields = "x: \(String(repeating: "y", count: 1_000))\n"
            try folder.written(capacity: capacity) { writer in
                for start in stride(from: 0, to: 5_000, by: 200) {
                    let covers = (start..<start + 200).map { number in
                        var metadata = metadata(url(number))
                        metadata.fields = fields
                        return ImportedCover(metadata, blank(number, 500))
                    }
                    _ = try writer.store(covers)
                    let statistics = try writer.statistics()
                    // The first MiB of the index, of its log and of the entry log do not count, nor does the rest of what is beside it.
                    #expect(statistics.diskBytes <= capacity + 5 << 20, "\(start): \(statistics)")
                }
                let statistics = try writer.statistics()
                let charged = statistics.chargedBytes
                #expect(charged > capacity / 8 && charged < capacity * 3 / 4, "\(statistics)")
            }
        }
    }

    @Test func `an entry whose fields are too long is not stored, renewed or rebuilt, and the others are`() throws {
        try withFolder { folder in
            var long = metadata(url(2))
            long.fields = "x: \(String(repeating: "y", count: EntryMetadata.maximumLength))\n"
            try folder.written { writer in
                let results = try writer.store([
                    ImportedCover(metadata(url(1)), picture(1)), ImportedCover(long, picture(2)),
                    ImportedCover(metadata(url(3)), picture(3)),
                ])
                #expect(results[1] == .failure(.longMetadata))
                let entry = try #require(try folder.reader().entry(for: url(1)))
                #expect(
                    try writer.renew([
                        Renewal(entry, validatedAt: 1 << 41, freshUntil: nil, fields: long.fields)
                    ]) == [true])
                #expect(try folder.reader().entry(for: url(1)) == entry)
            }
            try folder.deleteIndex()
            let line = EntryLine(long, Digest(of: picture(1)), bytes: 5_000).json
            try Bytes.write(try Bytes.of(folder.log) + line, to: folder.log)
            try folder.expect(pictures([1, 3]))
        }
    }

    @Test func `covers that are smaller than their fields stay within the capacity`() throws {
        try withFolder { folder in
            let capacity = 16 << 20
            let fields = "x: \(String(repeating: "y", count: 16_000))\n"
            try folder.written(capacity: capacity) { writer in
                for start in stride(from: 0, to: 3_000, by: 100) {
                    let covers = (start..<start + 100).map { number in
                        var metadata = metadata(url(number))
                        metadata.fields = fields
                        return ImportedCover(metadata, blank(number, 500))
                    }
                    _ = try writer.store(covers)
                    try writer.makeRoom(writer.headroom)
                    let onDisk = try writer.statistics().diskBytes
                    #expect(onDisk <= capacity * 3 / 2, "\(start): \(onDisk)")
                }
            }
            #expect(try folder.written { try $0.statistics().diskBytes } <= capacity + 5 << 20)
            #expect(try folder.contents().count > 100)
        }
    }

    // MARK: Spared covers

    @Test func `spared covers stay, older ones make room for them, and then nothing has room`() throws {
        try withFolder { folder in
            try folder.written(capacity: 20 * charge) { writer in
                try writer.fill(1...10)
                writer.spareFromNow()
                let results = try writer.store((11...40).map { ImportedCover(metadata(url($0)), picture($0)) })
                let stored = zip(11...40, results).filter { (try? $1.get()) != nil }.map { url($0.0) }
                #expect(stored.count == 20)
                #expect(try folder.reader().keys() == stored)
                #expect(results.last == .failure(.full(capacity: 20 * charge)))
                #expect(folder.fileNames.count == 20)
                writer.spareNothing()
                try writer.store(url(50), picture(50))
                #expect(try folder.reader().keys().last == url(50))
            }
        }
    }

    @Test func `a cover that the run has used is spared like one that it has stored`() throws {
        try withFolder { folder in
            try folder.written(capacity: 10 * charge) { writer in
                try writer.fill(1...10)
                writer.spareFromNow()
                let reader = try folder.reader()
                _ = try reader.status(of: [url(1)])
                writer.noteUsage(try #require(reader.takeUsage(minimum: 1)))
                _ = try writer.store((11...30).map { ImportedCover(metadata(url($0)), picture($0)) })
                #expect(try folder.reader().keys().contains(url(1)))
            }
        }
    }

    // MARK: Beside other writes

    @Test func `eviction spares what this writer has found and not yet committed`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...4)
                try writer.put(url(10), picture(1))
                #expect(try writer.evict(to: 0).covers == 3)
                #expect(try writer.commit() == [.stored(Digest(of: picture(1)), deduplicated: true)])
            }
            try folder.expect([url(1): picture(1), url(10): picture(1)])
        }
    }

    @Test func `eviction goes on after as many spared covers as one transaction evicts`() throws {
        try withFolder { folder in
            let bodies = (0..<2_010).map { picture($0, bytes: 8) }
            try folder.written { writer in
                for (number, body) in bodies.enumerated() { try writer.put(url(number), body) }
                _ = try writer.commit()
                for (number, body) in bodies.prefix(2_000).enumerated() { try writer.put(url(number), body) }
                #expect(try writer.evict(to: 0).covers == 10)
                _ = try writer.commit()
            }
            #expect(folder.fileNames == Set(bodies.prefix(2_000).map { Digest(of: $0).description }))
        }
    }

    @Test func `a second URL of the only cover, if that fills the cache, is stored or refused, but not lost`() throws {
        try withFolder { folder in
            let body = picture(1, bytes: 60_000)
            try folder.written(capacity: 61_440) { writer in
                try writer.store(url(1), body)
                #expect(try writer.store(url(2), body) == [.stored(Digest(of: body), deduplicated: true)])
            }
            try folder.expect([url(1): body, url(2): body])
        }
    }

    @Test func `a transaction that is rolled back unlinks no cover`() throws {
        struct Refusal: Error {}
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...3)
                #expect(throws: Refusal.self) {
                    try writer.index.transaction { changes in
                        try changes.evict(to: 0)
                        #expect(changes.state.covers == 0)
                        throw Refusal()
                    }
                }
                #expect(folder.markers == [])
            }
            try folder.expect(pictures(1...3))
        }
    }
}
