import Foundation
import Platform
import Synchronization
import Testing

@testable import CoverCache

@Suite struct ConcurrencyTests {
    @Test func `two writers that take turns on the same URLs store each once, without a defect`() throws {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    for number in 1...60 {
                        try first.put(url(number), picture(number, bytes: 3_000))
                        try second.put(url(61 - number), picture(61 - number, bytes: 3_000))
                        if number.isMultiple(of: 7) { _ = try first.commit() }
                        if number.isMultiple(of: 5) { _ = try second.commit() }
                    }
                }
            }
            try expectSixty(in: folder)
        }
    }

    @Test func `two writers on two threads store the same URLs once each, without a defect`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { side in
                do {
                    try folder.written { writer in
                        for step in 1...60 {
                            let number = side == 0 ? step : 61 - step
                            try writer.put(url(number), picture(number, bytes: 3_000))
                            if step.isMultiple(of: 4) { _ = try writer.commit() }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 }.isEmpty)
            try expectSixty(in: folder)
        }
    }

    private func expectSixty(in folder: CacheFolder) throws {
        let expected = Dictionary(uniqueKeysWithValues: (1...60).map { (url($0), picture($0, bytes: 3_000)) })
        #expect(try folder.contents() == expected)
        try folder.written { writer in
            let statistics = try writer.statistics()
            #expect(statistics.entries == 60 && statistics.blobs == 60)
            #expect(statistics.charged == 60 * 4_096)
            #expect(try writer.verify().defects.isEmpty)
            #expect(try writer.rebuild() == 60)
        }
    }

    @Test func `two writers together keep the cache within its capacity, and the remaining covers are intact`() throws {
        try withFolder { folder in
            let capacity = 40 * RecordHeader.charge(5_200)
            try folder.written(capacity: capacity) { first in
                try folder.written { second in
                    for number in 1...100 {
                        try first.store(url(number), picture(number))
                        try second.store(url(1_000 + number), picture(1_000 + number))
                        #expect(try first.statistics().charged <= capacity)
                    }
                    #expect(try second.statistics().blobs == 40)
                    #expect(try first.verify().defects.isEmpty)
                }
            }
        }
    }

    @Test func `a running writer takes over a capacity that another process has raised or lowered`() throws {
        try withFolder { folder in
            let small = 40 * RecordHeader.charge(5_200)
            try folder.written(capacity: small) { first in
                try folder.written(capacity: 1 << 30) { second in
                    for number in 1...100 { try second.store(url(number), picture(number)) }
                }
                try first.store(url(101), picture(101))
                try first.makeRoom(first.headroom)
                #expect(first.capacity == 1 << 30)
                #expect(try first.statistics().blobs == 101)
                try folder.written(capacity: small) { _ in }
                try first.store(url(102), picture(102))
                #expect(first.capacity == small)
                #expect(try first.statistics().charged <= small)
            }
        }
    }

    @Test func `several processes that find the index lost rebuild it once, and see all covers`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...60 { try writer.put(url(number), picture(number, bytes: 3_000)) }
            }
            try folder.deleteIndex()
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    let count = try folder.written { try $0.statistics().entries }
                    if count != 60 { failures.withLock { $0.append("\(count) entries") } }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 }.isEmpty, "\(failures.withLock { $0 })")
            try expectSixty(in: folder)
        }
    }

    @Test func `a put that shares a blob is lost if another process evicts the blob before the commit`() throws {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    try first.store(url(1), picture(1))
                    try second.put(url(2), picture(1))
                    try first.evict(to: 0)
                    #expect(try second.commit() == [.lost])
                    try second.store(url(2), picture(1))
                }
            }
            #expect(try folder.contents() == [url(2): picture(1)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a put that is rebuilt and evicted before its commit is lost rather than acknowledged`() throws {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    try first.store(url(1), picture(1))
                    try first.put(url(2), picture(2))
                    let group = try #require(first.seal())
                    try group.sync()
                    #expect(try second.rebuild() == 2)
                    try second.evict(to: 0)
                    #expect(try first.commit([group]) == [.lost])
                    try first.store(url(3), picture(3))
                }
            }
            #expect(try folder.contents() == [url(3): picture(3)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a put that a rebuild takes before its commit is stored`() throws {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    try first.put(url(2), picture(2))
                    let group = try #require(first.seal())
                    try group.sync()
                    #expect(try second.rebuild() == 1)
                    let digest = picture(2).withUnsafeBytes { Digest(of: $0) }
                    #expect(try first.commit([group]) == [.stored(digest, deduplicated: false)])
                }
            }
            #expect(try folder.contents() == [url(2): picture(2)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a synced group before one that was abandoned is recovered after a kill`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.put(url(1), picture(1))
                let first = try #require(writer.seal())
                try writer.put(url(2), picture(2))
                let second = try #require(writer.seal())
                try first.sync()
                writer.abandon(second)
                writer.record([HintChange.remove(.absent, key: url(9))], now: 0)
                try writer.writeDeferred()
            }
            try folder.written { _ in }
            #expect(try folder.contents() == [url(1): picture(1)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a new segment that another process has written to is not appended to before its recovery`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            let path = folder.segment(1)
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
            // The process that creates it is stopped here, until another one was killed.
            try folder.abandoned { writer in
                try writer.put(url(1), picture(1))
                try #require(writer.seal()).sync()
                #expect(try CacheDirectory(creating: folder.path).segmentNumbers() == [1])
            }
            #expect(SegmentWriter(created: 1, path, descriptor) == nil)
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    @Test func `the number of a removed segment is not used again, even if its creator was killed at once`() throws {
        try withFolder { folder in
            try folder.written { writer in
                close(open(folder.segment(5), O_RDWR | O_CREAT | O_EXCL, 0o600))
                try writer.store(url(1), picture(1))
                #expect(try CacheDirectory(creating: folder.path).segmentNumbers() == [5])
            }
            try folder.written { try $0.evict(to: 0) }
            #expect(try CacheDirectory(creating: folder.path).segmentNumbers() == [])
            try folder.written { try $0.store(url(1), picture(1)) }
            #expect(try CacheDirectory(creating: folder.path).segmentNumbers() == [6])
        }
    }

    @Test func `the empty segment of a process that was killed at once is removed`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            close(open(folder.segment(5), O_RDWR | O_CREAT | O_EXCL, 0o600))
            try folder.written { _ in }
            #expect(try CacheDirectory(creating: folder.path).segmentNumbers() == [])
        }
    }

    @Test func `covers whose shared bytes another process evicts again and again are stored`() throws {
        try withFolder { folder in
            let isDone = Atomic(false)
            let outcomes = Mutex<[Result<PutOutcome, CacheError>]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { side in
                try? folder.written { writer in
                    if side == 0 {
                        defer { isDone.store(true, ordering: .relaxed) }
                        for _ in 1...200 {
                            let metadata = EntryMetadata(key: url(2), mediaType: "image/jpeg", storedAt: 0)
                            let results = try writer.store([(metadata, picture(1))])
                            outcomes.withLock { $0 += results }
                        }
                    } else {
                        while !isDone.load(ordering: .relaxed) {
                            try writer.store(url(1), picture(1))
                            try writer.evict(to: 0)
                        }
                    }
                }
            }
            let stored = outcomes.withLock { $0 }.filter { if case .success(.stored) = $0 { true } else { false } }
            #expect(stored.count == 200)
        }
    }

    @Test func `a checkpoint does not wait for a writer with an open group, nor that writer for the checkpoint`() throws
    {
        try withFolder { folder in
            try folder.written(capacity: 8 << 20) { first in
                try folder.written(capacity: 8 << 20) { second in
                    try first.store(url(1_000), picture(1_000, bytes: 100))
                    // From here to its commit, the first writer reads a snapshot of the index.
                    try first.put(url(1_001), picture(1_000, bytes: 100))
                    let time = try ContinuousClock().measure {
                        for number in 1...400 { try second.store(url(number), picture(number, bytes: 100)) }
                    }
                    #expect(Bytes.length(folder.index + "-wal") > 1 << 20)
                    #expect(
                        time < IndexFile.busyTimeout, "SQLite would have waited for the first one's snapshot")
                    _ = try first.commit()
                    try second.store(url(401), picture(401, bytes: 100))
                    #expect(Bytes.length(folder.index + "-wal") < 1 << 20)
                    #expect(try second.statistics().entries == 403)
                }
            }
        }
    }

    @Test func `a reader never returns wrong bytes while a writer replaces and evicts`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(0), picture(0)) }
            let isOver = Atomic(false)
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { side in
                do {
                    if side == 0 {
                        defer { isOver.store(true, ordering: .releasing) }
                        try folder.written(capacity: 30 * RecordHeader.charge(5_200)) { writer in
                            for step in 1...200 {
                                try writer.store(url(step % 40), picture(step % 40 + 40 * (step % 3)))
                                try writer.makeRoom(writer.groupLimit)
                            }
                        }
                    } else {
                        let reader = try folder.reader()
                        var step = 0
                        while !isOver.load(ordering: .acquiring) {
                            step += 1
                            let number = step % 40
                            guard let bytes = try reader.bytes(url(number)) else { continue }
                            let known = (0..<3).contains { bytes == picture(number + 40 * $0) }
                            if !known { failures.withLock { $0.append("wrong bytes for \(number)") } }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 }.isEmpty)
        }
    }
}
