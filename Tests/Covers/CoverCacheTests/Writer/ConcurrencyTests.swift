import Foundation
import Platform
import Synchronization
import Testing

@testable import CoverCache

/// Two writers in one process behave as two processes: the locks belong to open files.
@Suite struct ConcurrencyTests {
    // MARK: Taking turns

    @Test func `two writers that take turns on the same URLs store each once, without a defect`() throws {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    for number in 1...60 {
                        try first.put(url(number), picture(number))
                        try second.put(url(61 - number), picture(61 - number))
                        if number.isMultiple(of: 7) { _ = try first.commit() }
                        if number.isMultiple(of: 5) { _ = try second.commit() }
                    }
                }
            }
            try folder.expect(pictures(1...60))
        }
    }

    @Test func `two writers on two threads store the same URLs once each, without a defect`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            concurrently(2) { side in
                try folder.written { writer in
                    for step in 1...60 {
                        let number = side == 0 ? step : 61 - step
                        try writer.put(url(number), picture(number))
                        if step.isMultiple(of: 4) { _ = try writer.commit() }
                    }
                }
            }
            try folder.expect(pictures(1...60))
        }
    }

    @Test func `two writers together keep the cache within its capacity`() throws {
        try withFolder { folder in
            let capacity = 20 * charge
            try folder.written(capacity: capacity) { first in
                try folder.written { second in
                    for number in 1...30 {
                        try first.store(url(number), picture(number))
                        try second.store(url(1_000 + number), picture(1_000 + number))
                        #expect(try first.totals().chargedBytes <= capacity)
                    }
                }
            }
            try folder.expect(pictures(21...30).merging(pictures(1_021...1_030)) { $1 })
        }
    }

    @Test func `a running writer takes over a capacity that another process has raised or lowered`() throws {
        try withFolder { folder in
            let small = 40 * charge
            try folder.written(capacity: small) { first in
                try folder.written(capacity: 1 << 30) { try $0.fill(1...100) }
                try first.store(url(101), picture(101))
                try first.makeRoom(first.headroom)
                #expect(first.capacity == 1 << 30)
                #expect(try first.totals().blobs == 101)
                try folder.written(capacity: small) { _ in }
                try first.store(url(102), picture(102))
                #expect(first.capacity == small)
                #expect(try first.totals().chargedBytes <= small)
            }
        }
    }

    // MARK: A file that two processes write

    @Test func `a half-written file keeps its name until what replaces it is synced and about to be committed`() throws
    {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    try first.put(url(1), picture(1))
                    let file = folder.file(picture(1))
                    // As another process finds it that is faster.
                    try Bytes.truncate(file, to: 2_000)
                    try second.put(url(2), picture(1))
                    #expect(Bytes.length(file) == 2_000 && folder.fileNames.count == 2)
                    try Bytes.write(picture(1), to: file)
                    #expect(try first.commit() == [.stored(Digest(of: picture(1)), deduplicated: false)])
                    let group = try #require(second.seal())
                    try group.sync()
                    #expect(folder.fileNames.count == 2)
                    #expect(try second.commit([group]) == [.stored(Digest(of: picture(1)), deduplicated: true)])
                }
            }
            try folder.expect([url(1): picture(1), url(2): picture(1)])
        }
    }

    @Test func `what would replace a half-written file goes if its group is abandoned`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.written { writer in
                try Bytes.truncate(folder.file(picture(1)), to: 2_000)
                try writer.put(url(2), picture(1))
                writer.abandon(try #require(writer.seal()))
                #expect(folder.fileNames.count == 1)
                try writer.store(url(3), picture(1))
            }
            try folder.expect([url(1): picture(1), url(3): picture(1)])
        }
    }

    #if os(Linux)
        @Test(arguments: [true, false])
        func `a file that gets its name at the commit, or its bytes again, is synced after that`(
            isHalf: Bool
        ) throws {
            try withFolder { folder in
                try folder.written { writer in
                    let file = folder.file(picture(1))
                    if isHalf { try Bytes.write(picture(1).prefix(2_000), to: file) }
                    _ = try picture(1).withUnsafeBytes { try writer.put(metadata(url(1)), body: $0, keepsBody: true) }
                    let group = try #require(writer.seal())
                    try group.sync()
                    if !isHalf { try Bytes.remove(file) }
                    let events = try FolderEvents(
                        in: [folder.path + "/covers", FilePath.directory(of: file)],
                        Int(IN_CREATE | IN_MOVED_TO | IN_OPEN))
                    _ = try writer.commit([group])
                    let all = events.next()
                    let named = all.lastIndex { $0.folder == 1 && $0.kind != Int(IN_OPEN) }
                    // A folder is opened to sync it.
                    let opened = all.lastIndex { $0 == .init(folder: 0, kind: Int(IN_OPEN), name: "") }
                    #expect(try #require(named) < #require(opened), "\(all)")
                }
            }
        }
    #endif

    // MARK: Bytes that another process evicts

    @Test func `a found file that another process evicts before the commit is written again`() throws {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    try first.store(url(1), picture(1))
                    try second.put(url(2), picture(1))
                    let group = try #require(second.seal())
                    try group.sync()
                    try first.evict(to: 0)
                    #expect(folder.fileNames == [])
                    #expect(try second.commit([group]) == [.stored(Digest(of: picture(1)), deduplicated: false)])
                }
            }
            try folder.expect([url(2): picture(1)])
        }
    }

    @Test func `a file that two processes put and one abandons is stored by the other, or lost and stored again`()
        throws
    {
        try withFolder { folder in
            try folder.written { first in
                try folder.written { second in
                    try first.put(url(1), picture(1))
                    try second.put(url(2), picture(1))
                    second.abandon(try #require(second.seal()))
                    #expect(try first.commit() == [.lost])
                    let results = try first.store([ImportedCover(metadata(url(1)), picture(1))])
                    #expect(results == [.success(false)])
                    try second.put(url(3), picture(3))
                    try first.put(url(4), picture(3))
                    second.abandon(try #require(second.seal()))
                    #expect(
                        try first.commit() == [.stored(Digest(of: picture(3)), deduplicated: false)], "it was found")
                }
            }
            try folder.expect([url(1): picture(1), url(4): picture(3)])
        }
    }

    @Test func `covers whose shared bytes another process evicts again and again are stored`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            let isDone = Flag()
            let stored = Mutex(0)
            concurrently(2) { side in
                defer { if side == 0 { isDone.set() } }
                try folder.written { writer in
                    if side == 0 {
                        for _ in 1...60 {
                            let results = try writer.store([ImportedCover(metadata(url(2)), picture(1))])
                            if case .success = results[0] { stored.withLock { $0 += 1 } }
                        }
                    } else {
                        while !isDone.isSet {
                            try writer.store(url(1), picture(1))
                            try writer.evict(to: 0)
                        }
                    }
                }
            }
            #expect(stored.withLock { $0 } == 60)
            #expect(try folder.defects() == [])
            #expect(try Set(folder.contents().values.map { Digest(of: $0).description }) == folder.fileNames)
        }
    }

    @Test func `a reader never returns wrong bytes while a writer replaces and evicts`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(0), picture(0)) }
            let isOver = Flag()
            concurrently(2) { side in
                defer { if side == 0 { isOver.set() } }
                if side == 0 {
                    try folder.written(capacity: 30 * charge) { writer in
                        for step in 1...150 { try writer.store(url(step % 40), picture(step % 40 + 40 * (step % 3))) }
                    }
                } else {
                    let reader = try folder.reader()
                    var step = 0
                    while !isOver.isSet {
                        step += 1
                        let number = step % 40
                        guard let bytes = try reader.bytes(url(number)) else { continue }
                        #expect((0..<3).contains { bytes == picture(number + 40 * $0) })
                    }
                }
            }
        }
    }

    // MARK: A lost index

    @Test func `several processes that find the index lost or corrupt rebuild it once, and see all covers`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...60) }
            for isCorrupt in [false, true] {
                try folder.deleteIndex()
                if isCorrupt { try Bytes.write(picture(1, bytes: 9_000), to: folder.index) }
                let rebuilds = Mutex(0)
                concurrently(4) { _ in
                    let writer = try CacheWriter.open(folder.path) { _ in rebuilds.withLock { $0 += 1 } }
                    #expect(try writer.totals().entries == 60)
                    try writer.close()
                }
                #expect(rebuilds.withLock { $0 } == 1)
            }
            try folder.expect(pictures(1...60))
        }
    }

    @Test func `writers whose index another process has set aside go on with the new one, and lose nothing`() throws {
        try withFolder { folder in
            try folder.written(capacity: 1 << 30) { first in
                try folder.written { second in
                    try first.fill(1...5)
                    try second.put(url(6), picture(1))
                    try second.put(url(7), picture(7))
                    let group = try #require(second.seal())
                    try second.put(url(8), picture(8))
                    try folder.written { try $0.rebuildIndex($0.index.number) }
                    _ = try first.remove([url(5)], includingPinned: true)
                    try group.sync()
                    #expect(try second.commit([group]).count == 2)
                    #expect(first.directory.indexNumber == second.directory.indexNumber)
                    #expect(second.capacity == 1 << 30)
                    #expect(try second.store([ImportedCover(metadata(url(9)), picture(9))]).count == 1)
                }
            }
            try folder.expect(pictures([1, 2, 3, 4, 7, 8, 9]).merging([url(6): picture(1)]) { $1 })
        }
    }

    @Test func `a reader whose index another process has replaced reads the new one, and says so once`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...3) }
            let replaced = Mutex(0)
            let directory = try CacheDirectory(creating: folder.path)
            let reader = try CacheReader(directory: directory) { replaced.withLock { $0 += 1 } }
            #expect(try reader.bytes(url(1)) == picture(1))
            try folder.written { writer in
                try writer.rebuildIndex(writer.index.number)
                try writer.store(url(4), picture(4))
            }
            concurrently(4) { _ in
                let contents = try reader.contents()
                #expect(contents == pictures(1...4))
            }
            #expect(replaced.withLock { $0 } == 1)
            // By a copy of it, whose log stays.
            try Bytes.write(try Bytes.of(folder.index), to: folder.index + ".copy")
            #expect(rename(folder.index + ".copy", folder.index) == 0)
            #expect(try reader.contents() == pictures(1...4))
            #expect(replaced.withLock { $0 } == 2)
        }
    }

    @Test func `a cache that is removed under a writer is made again by what it stores next`() throws {
        try withFolder { folder in
            try folder.written { writer in
                let reader = try folder.reader()
                try writer.fill(1...3)
                try writer.put(url(4), picture(4))
                // A cover that is written meanwhile stops it.
                for name in try CacheDirectory.names(in: folder.path) where name != "covers" {
                    try Bytes.remove("\(folder.path)/\(name)")
                }
                try Bytes.remove(folder.file(picture(4)))
                try writer.put(url(5), picture(5))
                #expect(try writer.commit() == [.lost, .stored(Digest(of: picture(5)), deduplicated: false)])
                #expect(try reader.contents() == pictures([5]))
                try Bytes.remove(folder.path)
                try writer.reopenIfReplaced()
                #expect(try reader.contents() == [:])
                try writer.store(url(6), picture(6))
            }
            #expect(Bytes.exists(folder.path + "/CACHEDIR.TAG"))
            try folder.expect(pictures([6]))
        }
    }
}

/// Runs `body` on this many threads, and records what it throws.
func concurrently(_ count: Int, _ body: @Sendable (Int) throws -> Void) {
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: count) { side in
        do { try body(side) } catch { failures.withLock { $0.append("\(side): \(error)") } }
    }
    #expect(failures.withLock { $0 } == [])
}

/// What one thread tells another.
final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
