import Foundation
import Platform
import SQLite
import Testing

@testable import CoverCache

/// What years of use do to a cache.
@Suite struct LongLifeTests {
    private static let isThorough = ProcessInfo.processInfo.environment["SLEEVE_LONG_TESTS"] != nil

    /// Distinct bodies that are quick to make.
    private func body(_ number: Int, _ length: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length) + withUnsafeBytes(of: number) { Array($0) }
    }

    private func store(_ numbers: Range<Int>, length: Int, _ writer: CacheWriter) throws {
        for number in numbers { try writer.put(url(number), body(number, length)) }
        _ = try writer.commit()
    }

    @Test func `evicting half of many tiny covers keeps the logs short and shrinks the index`() throws {
        try withFolder { folder in
            let count = Self.isThorough ? 20_000 : 2_000
            let fields = String(repeating: "x-field: 12345678901234567890\n", count: 60)
            try folder.written(capacity: 1 << 30) { writer in
                for start in stride(from: 0, to: count, by: 400) {
                    for number in start..<start + 400 {
                        var metadata = metadata(url(number))
                        metadata.fields = fields
                        _ = try body(number, 20).withUnsafeBytes { try writer.put(metadata, body: $0) }
                    }
                    _ = try writer.commit()
                    #expect(Bytes.length(folder.index + "-wal") < 40 << 20)
                }
                try writer.compact()
                let (index, log) = (Bytes.length(folder.index), Bytes.length(folder.log))
                let charged = try writer.totals().chargedBytes
                #expect(try writer.evict(to: charged / 2).covers == count / 2)
                #expect(Bytes.length(folder.index + "-wal") < 40 << 20)
                try writer.index.checkpoint(ifLongerThan: 0)
                #expect(Bytes.length(folder.index) < index * 3 / 4, "\(Bytes.length(folder.index)) of \(index)")
                try writer.evict(to: charged / 8)
                try writer.index.checkpoint(ifLongerThan: 0)
                #expect(Bytes.length(folder.log) < log / 3, "\(Bytes.length(folder.log)) of \(log)")
                #expect(Bytes.length(folder.index) < index / 3)
                try writer.compact()
                #expect(Bytes.length(folder.index + "-wal") == 0)
            }
            try folder.deleteIndex()
            #expect(try folder.written { try $0.totals().blobs } == count / 8)
            #expect(folder.fileNames.count == count / 8)
        }
    }

    // MARK: The index's log

    @Test func `a bulk load leaves its log, the next writer to close checkpoints it, and nothing is lost`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            // While another connection is open, SQLite does not checkpoint when one closes.
            let reader = try folder.reader()
            try folder.written { writer in
                for start in stride(from: 0, to: 2_000, by: 40) { try store(start..<start + 40, length: 100, writer) }
            }
            #expect(Bytes.length(folder.index + "-wal") > 1 << 20)
            try folder.written { _ in }
            #expect(Bytes.length(folder.index + "-wal") == 0)
            #expect(try reader.keys().count == 2_000)
        }
    }

    @Test func `a reader that stops in a listing does not keep the log from being shortened`() throws {
        try withFolder { folder in
            try folder.written(capacity: 8 << 20) { writer in
                try store(0..<1_200, length: 20, writer)
                var visited = 0
                try folder.reader().entries { _ in
                    visited += 1
                    // It stops here, in the first slice.
                    guard visited == 1 else { return }
                    for turn in 1...40 {
                        try store(0..<50, length: 20 + turn, writer)
                        #expect(Bytes.length(folder.index + "-wal") < 3 << 20)
                    }
                    try writer.compact()
                    #expect(Bytes.length(folder.index + "-wal") == 0)
                }
                #expect(visited == 1_200)
            }
        }
    }

    @Test func `a checkpoint does not wait for a reader's snapshot, nor for a writer with an open group`() throws {
        try withFolder { folder in
            try folder.written(capacity: 8 << 20) { first in
                try folder.written(capacity: 8 << 20) { second in
                    try first.put(url(9_999), body(9_999, 10))
                    let reader = try ReadConnection(first.directory)
                    try reader.read { connection in
                        _ = try connection.integer("SELECT COUNT(*) FROM entries")
                        for turn in 1...10 { try store(0..<400, length: 20 + turn, second) }
                        #expect(Bytes.length(folder.index + "-wal") > 1 << 20)
                        let time = try ContinuousClock().measure { try second.index.checkpoint(ifLongerThan: 0) }
                        #expect(time < IndexFile.busyTimeout, "SQLite would have waited for the snapshot")
                    }
                    _ = try first.commit()
                    #expect(Bytes.length(folder.index + "-wal") < 1 << 20)
                    #expect(try second.totals().entries == 401)
                }
            }
        }
    }
}
