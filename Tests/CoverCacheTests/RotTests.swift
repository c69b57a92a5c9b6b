import Foundation
import SQLite
import Testing

@testable import CoverCache

/// What rots on the disk: blocks of segments, pages of the index, single numbers.
@Suite struct RotTests {
    /// Whether everything is tried, which takes a minute, or a seventh of it: other tests wait meanwhile.
    private static let isThorough = ProcessInfo.processInfo.environment["SLEEVE_LONG_TESTS"] != nil
    private static func isTried(_ number: Int) -> Bool { isThorough || number.isMultiple(of: 7) }
    private static let block = 4_096
    private static let covers = 16

    private enum Rot: CaseIterable {
        case zeroed, random, swapped

        /// Changes a block of `bytes`, or exchanges it with the next.
        func apply(to block: Int, of bytes: inout [UInt8]) {
            let start = block * RotTests.block
            let end = min(start + RotTests.block, bytes.count)
            switch self {
            case .zeroed: for index in start..<end { bytes[index] = 0 }
            case .random:
                var random = Randomness(seed: UInt64(block))
                for index in start..<end { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
            case .swapped:
                for index in start..<end where index + RotTests.block < bytes.count {
                    bytes.swapAt(index, index + RotTests.block)
                }
            }
        }
    }

    /// Covers of one and two blocks, some with the bytes of another; nothing is left in the log.
    private func fill(_ folder: CacheFolder) throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        try folder.written { writer in
            for number in 0..<Self.covers {
                let body = picture(
                    // Bodies of neighbouring seeds have bytes in common.
                    1_000_000 * (number.isMultiple(of: 5) ? 1 : number), bytes: number.isMultiple(of: 2) ? 5_000 : 1_000
                )
                contents[url(number)] = body
                try writer.put(url(number), body)
            }
            _ = try writer.commit()
            try writer.checkpoint()
        }
        return contents
    }

    /// Expects that each look-up gives the right bytes, none, or an error.
    private func expectNoWrongBytes(_ folder: CacheFolder, _ contents: [String: [UInt8]], _ comment: Comment) {
        guard let reader = try? folder.reader() else { return }
        for (key, body) in contents {
            if let bytes = (try? reader.bytes(key)).flatMap(\.self) { #expect(bytes == body, comment) }
        }
    }

    /// What `verify --repair` does.
    private func repair(_ folder: CacheFolder) throws {
        let writer = try CacheWriter.open(folder.path)
        _ = try writer.repair()
        try writer.close()
    }

    @Test func `a rotten block of a segment costs the covers in it, and a repair keeps all others`() throws {
        try withFolder { folder in
            let contents = try fill(folder)
            let whole = try Bytes.of(folder.segment(1))
            let offsets = try contents.mapValues { try #require(try Bytes.find($0, in: folder.segment(1))) }
            for block in 0..<(whole.count / Self.block) {
                for (number, rot) in Rot.allCases.enumerated() where Self.isTried(3 * block + number) {
                    try withFolder { copy in
                        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
                        var bytes = whole
                        rot.apply(to: block, of: &bytes)
                        try Bytes.write(bytes, to: copy.segment(1))
                        let comment: Comment = "block \(block) \(rot)"
                        expectNoWrongBytes(copy, contents, comment)
                        try repair(copy)
                        let kept = try copy.contents()
                        let touched = (block * Self.block)..<((block + (rot == .swapped ? 2 : 1)) * Self.block)
                        for (key, body) in contents {
                            // The header precedes the body, at the start of a block. The swap may have put a record elsewhere.
                            let record = (offsets[key]! / Self.block * Self.block)..<(offsets[key]! + body.count)
                            #expect(
                                kept[key] == body || record.overlaps(touched) || isReference(key), "\(key), \(comment)")
                            if let bytes = kept[key] { #expect(bytes == body, comment) }
                        }
                        #expect(try copy.defects().isEmpty, comment)
                    }
                }
            }
        }
    }

    /// Its own record is elsewhere than the bytes.
    private func isReference(_ key: String) -> Bool {
        (0..<Self.covers).contains { $0.isMultiple(of: 5) && url($0) == key } || key == url(1)
    }

    @Test func `a rotten page of the index gives no wrong bytes, and a repair brings every cover back`() throws {
        try withFolder { folder in
            let contents = try fill(folder)
            let whole = try Bytes.of(folder.index)
            for page in 0..<(whole.count / Self.block) {
                for (number, rot) in Rot.allCases.enumerated() where Self.isTried(3 * page + number) {
                    try withFolder { copy in
                        try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
                        var bytes = whole
                        rot.apply(to: page, of: &bytes)
                        try Bytes.write(bytes, to: copy.index)
                        expectNoWrongBytes(copy, contents, "page \(page) \(rot)")
                        do {
                            try repair(copy)
                        } catch {
                            // It was found corrupt in the midst.
                            guard case .corruptIndex = CacheError(error) else { throw error }
                            let number = try CacheDirectory(creating: copy.path).indexNumber
                            try CacheWriter.open(copy.path, capacity: nil, settingAsideIndex: number).close()
                        }
                        #expect(try copy.contents() == contents, "page \(page) \(rot)")
                    }
                }
            }
        }
    }

    @Test func `records with random bytes changed are left out or unchanged`() throws {
        try withFolder { folder in
            let contents = try fill(folder)
            let bodies = Set(contents.values)
            let whole = try Bytes.of(folder.segment(1))
            let file = try #require(try SegmentFile(reading: folder.segment(1)))
            var random = Randomness(seed: 7)
            var records = 0
            while records < (Self.isThorough ? 1_000_000 : 4_000) {
                var changed: [Int] = []
                for _ in 0..<Int.random(in: 1...12, using: &random) {
                    // Most lie in a header, where a number is worth more.
                    let block = Int.random(in: 0..<whole.count / Self.block, using: &random) * Self.block
                    changed.append(
                        block + Int.random(in: 0..<(.random(using: &random) ? 80 : Self.block), using: &random))
                }
                for offset in changed {
                    let byte: UInt8 = [0, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(
                        using: &random)!
                    try Bytes.overwrite(folder.segment(1), at: offset, with: [byte])
                }
                _ = try SegmentScanner.scan(file, 1, checking: .digest) { found in
                    records += 1
                    guard case .record(let record) = found, !record.header.isReference else { return }
                    let start = record.offset + record.header.span - record.header.bodyLength
                    let body = try #require(try file.read(at: start, length: record.header.bodyLength))
                    #expect(bodies.contains(body))
                }
                for offset in changed { try Bytes.overwrite(folder.segment(1), at: offset, with: [whole[offset]]) }
            }
        }
    }

    @Test func `rows with wild values give no wrong bytes and end no process`() throws {
        try withFolder { folder in
            let contents = try fill(folder)
            let columns = [
                "blobs": [
                    "tag", "digest", "segment", "offset", "span", "body", "length", "checksum", "type", "width", "used",
                    "pinned",
                ],
                "entries": [
                    "tag", "url", "blob", "segment", "offset", "span", "stored", "validated", "fresh", "fields",
                ],
                "segments": ["id", "scanned", "live"],
                "state": ["live", "blobs", "clock", "hits", "misses", "capacity", "lastSegment"],
            ]
            let values = [
                "-1", "0", "1", "4096", "9223372036854775807", "-9223372036854775808", "4611686018427387904",
                "281474976710657",
                "'x'", "x'00ff'", "1.5e300", "''",
            ]
            for (table, names) in columns.sorted(by: { $0.key < $1.key }) {
                for name in names {
                    for (number, value) in values.enumerated() where Self.isTried(number + name.utf8.count) {
                        try withFolder { copy in
                            try FileManager.default.copyItem(atPath: folder.path, toPath: copy.path)
                            // SQLite itself refuses some.
                            try? Connection(copy.index).execute(
                                "UPDATE OR IGNORE \(table) SET \(name) = \(value) WHERE rowid IN (SELECT rowid FROM \(table) ORDER BY rowid LIMIT 3)"
                            )
                            let comment: Comment = "\(table).\(name) = \(value)"
                            // A row that names another cover's bytes is whole.
                            let isChecked = name != "blob"
                            if isChecked { expectNoWrongBytes(copy, contents, comment) }
                            do {
                                try repair(copy)
                            } catch {
                                guard case .corruptIndex = CacheError(error) else { throw error }
                                let number = try CacheDirectory(creating: copy.path).indexNumber
                                try CacheWriter.open(copy.path, capacity: nil, settingAsideIndex: number).close()
                            }
                            // A lower capacity evicts.
                            if name != "capacity" { #expect(try copy.contents() == contents, comment) }
                            do {
                                try copy.written { _ = try $0.evict(to: 8 << 10) }
                            } catch {
                                Issue.record("\(error) in an eviction after a repair, \(comment)")
                            }
                        }
                    }
                }
            }
        }
    }
}
