import Foundation
import Platform
import Synchronization
import Testing

@testable import CoverCache

/// What years of use do to a cache.
@Suite struct LongLifeTests {
    private static let isThorough = ProcessInfo.processInfo.environment["SLEEVE_LONG_TESTS"] != nil

    /// Bodies of 1 to 30 KB.
    private func body(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1_000 + number * 7_919 % 29_000)
            + withUnsafeBytes(of: number) { Array($0) }
    }

    @Test func `ten times its capacity through a cache leaves its files within a tenth of what is live`() throws {
        try withFolder { folder in
            let capacity = 16 << 20
            try folder.written(capacity: capacity) { writer in
                var number = 0
                for turnover in 1...10 {
                    var bytes = 0
                    while bytes < capacity {
                        let covers = (number..<number + 64).map { number in
                            (EntryMetadata(key: url(number), mediaType: "image/jpeg", storedAt: 1), body(number))
                        }
                        number += 64
                        _ = try writer.store(covers)
                        bytes += covers.reduce(0) { $0 + $1.1.count }
                    }
                    let statistics = try writer.statistics()
                    let segments = folder.segmentNames.map { "\(folder.path)/segments/\($0)" }
                    let allocated = segments.reduce(0) { $0 + Bytes.allocated($1) }
                    let ratio = Double(allocated) / Double(statistics.charged)
                    #expect((0.9...1.1).contains(ratio), "turnover \(turnover): \(allocated), \(statistics)")
                    #expect(statistics.onDisk <= capacity + 2 << 20, "turnover \(turnover): \(statistics)")
                }
                #expect(try writer.verify().defects.isEmpty)
            }
        }
    }

    @Test func `a clock that jumps by ten years evicts nothing, and does not change what is evicted first`() throws {
        try withFolder { folder in
            let now = WallClock.milliseconds()
            let decade: Int64 = 10 * 365 * 86_400_000
            try folder.written { writer in
                try writer.store(url(1), picture(1), storedAt: now)
                try writer.store(url(2), picture(2), storedAt: now + decade)
                try writer.store(url(3), picture(3), storedAt: now - decade)
                try writer.makeRoom(0)
            }
            #expect(try folder.contents().count == 3)
            // In the order of storing, whatever the clock said.
            try folder.written { try $0.evict(to: 2 * RecordHeader.charge(5_200)) }
            #expect(try Set(folder.contents().keys) == [url(2), url(3)])
        }
    }

    /// Prints how long the reads took. The long form is the one to measure.
    @Test func `reads beside evictions of a tenth of the cache each give the right bytes or none`() async throws {
        let folder = CacheFolder(root: NSTemporaryDirectory() + "sleeve-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: folder.root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder.root) }
        let (count, length) = Self.isThorough ? (20_000, 50_000) : (500, 10_000)
        let body: @Sendable (Int) -> [UInt8] = { number in
            withUnsafeBytes(of: number) { Array($0) } + [UInt8](repeating: UInt8(number & 0xFF), count: length)
        }
        try folder.written { writer in
            for start in stride(from: 0, to: count, by: 100) {
                _ = try writer.store(
                    (start..<start + 100).map {
                        (EntryMetadata(key: url($0), mediaType: "image/jpeg", storedAt: 1), body($0))
                    })
            }
        }
        let isEvicted = Mutex(false)
        let evicting = Task.detached {
            defer { isEvicted.withLock { $0 = true } }
            try folder.written { writer in
                let charged = try writer.statistics().charged
                for tenths in (1...9).reversed() { try writer.evict(to: charged / 10 * tenths) }
            }
        }
        let reader = try folder.reader()
        var random = Randomness(seed: 1)
        var times: [Duration] = []
        var isOver = false
        repeat {
            let number = Int.random(in: 0..<count, using: &random)
            let start = ContinuousClock.now
            let bytes = try reader.bytes(url(number))
            times.append(start.duration(to: .now))
            #expect(bytes == nil || bytes == body(number))
            await Task.yield()
            isOver = isEvicted.withLock { $0 }
        } while !isOver || times.count < 100
        try await evicting.value
        times.sort()
        print(
            "\(times.count) reads beside the evictions: 99 % within \(times[times.count * 99 / 100]), all in \(times.last!)"
        )
        #expect(try folder.contents().count < count)
    }
}
