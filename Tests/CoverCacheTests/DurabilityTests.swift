import Foundation
import Platform
import SQLite
import Testing

@testable import CoverCache

/// What was stored stays, whatever is cut off, killed, refused or rotten in between.
@Suite struct DurabilityTests {
    private struct Refusal: Error {}

    /// Lets no index page be added while `body` runs: every larger transaction fails as on a full disk.
    private func withFullIndex(_ writer: CacheWriter, _ body: () throws -> Void) throws {
        try writer.reading { try $0.execute("PRAGMA max_page_count = 1") }
        try body()
        try writer.reading { try $0.execute("PRAGMA max_page_count = 1000000") }
    }

    // MARK: Failed transactions

    @Test func `a transaction that is rolled back frees no cover`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                #expect(throws: Refusal.self) {
                    try writer.transaction { state, _ in
                        try writer.evictSlice(&state, to: 0, limit: 10)
                        #expect(state.blobs == 0)
                        throw Refusal()
                    }
                }
                writer.reclaimSpace()
            }
            #expect(try folder.contents() == [url(1): picture(1)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `covers that failed to commit replace nothing, and give their blocks back`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...20 { try writer.put(url(number), picture(number), storedAt: 100) }
                _ = try writer.commit()
                let before = Bytes.allocated(folder.segment(1))
                try withFullIndex(writer) {
                    for number in 1...400 { try writer.put(url(number), picture(1_000 + number), storedAt: 200) }
                    #expect(throws: (any Error).self) { try writer.commit() }
                }
                try writer.store(url(21), picture(21))
                writer.reclaimSpace()
                #expect(Bytes.allocated(folder.segment(1)) <= before + 64 << 10)
            }
            #expect(try folder.contents() == Dictionary(uniqueKeysWithValues: (1...21).map { (url($0), picture($0)) }))
            #expect(try folder.defects().isEmpty)
        }
    }

    // MARK: Kills

    @Test func `what a killed process evicted gives its blocks back at the next opening`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                for number in 1...100 { try writer.put(url(number), picture(number)) }
                _ = try writer.commit()
                // The process ends before it punches holes.
                try writer.transaction { state, _ in try writer.evictSlice(&state, to: 50_000, limit: 1_000) }
            }
            #expect(Bytes.allocated(folder.segment(1)) > 500_000)
            let kept = try folder.contents().count
            #expect(kept > 0 && kept < 10)
            #expect(Bytes.allocated(folder.segment(1)) < 120_000)
            try folder.written { writer in
                let freed = try writer.reading { try $0.integer("SELECT COUNT(*) FROM freed") }
                #expect(freed == 0)
                // Evicted covers do not come back.
                #expect(try writer.rebuild() == kept)
            }
        }
    }

    @Test func `a rebuild brings no cover back that was evicted but whose hole is not punched`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                for number in 1...10 { try writer.put(url(number), picture(number)) }
                _ = try writer.commit()
                try writer.transaction { state, _ in try writer.evictSlice(&state, to: 0, limit: 5) }
                #expect(try writer.rebuild() == 5)
            }
            #expect(try folder.contents().count == 5)
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a segment that a killed process emptied is removed at the next opening`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                try writer.transaction { state, _ in try writer.evictSlice(&state, to: 0, limit: 10) }
            }
            #expect(folder.segmentNames == ["0000000001.seg"])
            #expect(try folder.contents().isEmpty)
            #expect(folder.segmentNames.isEmpty)
        }
    }

    @Test func `a segment that was removed before it was locked is not taken over`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let path = folder.segment(1)
            let descriptor = open(path, O_RDWR)
            try Bytes.remove(path)
            #expect(SegmentWriter(1, path, descriptor) == nil)
        }
    }

    // MARK: Power cuts

    @Test func `a row whose bytes are gone costs no cover that was stored again`() throws {
        try withFolder { folder in
            try folder.written { for number in 1...20 { try $0.store(url(number), picture(number)) } }
            try folder.undoing {
                try folder.written { try $0.evict(to: 0) }
                #expect(folder.segmentNames.isEmpty)
                try folder.written { for number in 1...20 { try $0.store(url(number), picture(number)) } }
            }
            #expect(try folder.contents() == Dictionary(uniqueKeysWithValues: (1...20).map { (url($0), picture($0)) }))
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a row whose bytes are gone costs no cover that was stored under another URL`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.undoing {
                try folder.written { try $0.evict(to: 0) }
                try folder.written { try $0.store(url(2), picture(1)) }
            }
            #expect(try folder.contents()[url(2)] == picture(1))
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `shared bytes in a later segment than the record that shares them are recovered`() throws {
        try withFolder { folder in
            try folder.undoing {
                try folder.abandoned { first in
                    try first.store(url(1), picture(1))
                    _ = try folder.abandoned { try $0.store(url(2), picture(2)) }
                    // In segment 1, with the bytes in segment 2.
                    try first.store(url(3), picture(2))
                }
            }
            #expect(folder.segmentNames.count == 2)
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(2), url(3): picture(2)])
            #expect(try folder.defects().isEmpty)
        }
    }

    // MARK: Failing calls

    /// Makes opening a segment fail with ELOOP while `body` runs.
    private func withUnopenable(_ path: String, _ body: () throws -> Void) throws {
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        try body()
        try Bytes.remove(path)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    }

    @Test func `a segment that cannot be opened is an error, not a damaged cover`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let reader = try folder.reader()
            try withUnopenable(folder.segment(1)) {
                #expect(throws: CacheError.self) { try reader.cover(for: url(1)) }
            }
            #expect(try reader.bytes(url(1)) == picture(1))
        }
    }

    @Test func `a rebuild refuses to work without a segment that cannot be opened`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.abandoned { writer in
                try withUnopenable(folder.segment(1)) { #expect(throws: CacheError.self) { try writer.rebuild() } }
            }
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    /// A cover in segment 1, and in segment 2 a reference to its bytes; power loss has undone the commits of both.
    private func loseRowsOfSharedCover(_ folder: CacheFolder) throws {
        try folder.undoing {
            try folder.abandoned { first in
                try first.store(url(1), picture(1))
                _ = try folder.abandoned { try $0.store(url(2), picture(1)) }
            }
        }
    }

    @Test func `a reference is kept while the segment with its bytes cannot be read`() throws {
        try withFolder { folder in
            try loseRowsOfSharedCover(folder)
            #expect(folder.segmentNames.count == 2)
            try withUnopenable(folder.segment(1)) { try folder.written { _ in } }
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(1)])
        }
    }

    @Test func `a reference is kept while another process recovers the segment with its bytes`() throws {
        try withFolder { folder in
            try loseRowsOfSharedCover(folder)
            let held = SegmentWriter(takingOver: 1, in: try CacheDirectory(creating: folder.path))
            try withExtendedLifetime(held) { try folder.written { _ in } }
            _ = consume held
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(1)])
        }
    }

    @Test func `a writer whose index was set aside by another process says so, and punches nothing`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                for number in 1...5 { try writer.store(url(number), picture(number)) }
                let number = writer.indexNumber
                let other = try CacheWriter.open(folder.path, capacity: nil, settingAsideIndex: number)
                #expect(throws: CacheError.self) { try writer.store(url(6), picture(6)) }
                #expect(throws: CacheError.self) { try writer.evict(to: 0) }
                try other.close()
            }
            let contents = try folder.contents()
            for number in 1...5 { #expect(contents[url(number)] == picture(number)) }
        }
    }

    @Test func `a corrupt index that is set aside leaves its capacity`() throws {
        try withFolder { folder in
            try folder.written(capacity: 20 << 30) { try $0.store(url(1), picture(1)) }
            try folder.written { writer in
                try writer.reading { try $0.execute("UPDATE state SET clock = -1") }
            }
            let writer = try CacheWriter.open(folder.path)
            #expect(writer.capacity == 20 << 30)
            try writer.close()
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    @Test func `a wrong count of a segment's live bytes removes nothing`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                try writer.reading { try $0.execute("UPDATE segments SET live = 0") }
            }
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    @Test func `a count that falls below zero is no damage`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...5 { try writer.store(url(number), picture(number)) }
                try writer.reading { try $0.execute("UPDATE state SET live = 10000, blobs = 1") }
                try writer.evict(to: 0)
            }
            #expect(try folder.written { try $0.statistics().charged } == 0)
        }
    }

    // MARK: Rot

    @Test func `the bytes of a rotten cover are stored again when they arrive under another URL`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let offset = try #require(try Bytes.find(picture(1), in: folder.segment(1)))
            try Bytes.flip(folder.segment(1), at: offset + 100)
            try folder.written { try $0.store(url(2), picture(1)) }
            #expect(try folder.contents() == [url(1): picture(1), url(2): picture(1)])
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test(arguments: [
        "UPDATE blobs SET length = 1 << 62", "UPDATE blobs SET offset = 9223372036854775807",
        "UPDATE blobs SET span = 9223372036854775807", "UPDATE blobs SET body = -1", "UPDATE blobs SET segment = -5",
        "UPDATE blobs SET length = 1 << 40", "UPDATE entries SET stored = -9223372036854775808",
        "UPDATE entries SET segment = 1, offset = 1 << 62, span = 1 << 62", "UPDATE segments SET scanned = 1 << 62",
        "UPDATE segments SET live = -(1 << 62)", "UPDATE segments SET live = 'abc'",
        "UPDATE segments SET scanned = -5000", "UPDATE segments SET scanned = 9223372036854775807",
        "UPDATE segments SET scanned = 1 << 40", "UPDATE state SET live = 'x'", "UPDATE state SET live = 1 << 60",
        "UPDATE state SET live = 1 << 40", "UPDATE state SET lastSegment = 9223372036854775807",
        "UPDATE state SET clock = 9223372036854775807",
        "INSERT INTO freed(segment, offset, length) VALUES (1, 1 << 62, 1 << 62)",
    ])
    func `no number in the index traps, and a repair brings the covers back`(change: String) throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...5 { try writer.store(url(number), picture(number)) }
                try writer.store(url(6), picture(1))
                try writer.reading { try $0.execute(change) }
            }
            let reader = try folder.reader()
            for number in 1...6 { _ = try? reader.cover(for: url(number)) }
            _ = try? reader.entries { _ in }
            _ = try? folder.written { writer in
                _ = try? writer.verify()
                _ = try? writer.store(url(7), picture(7))
                _ = try? writer.statistics()
            }
            do {
                try folder.written { _ = try $0.rebuild() }
            } catch {
                guard case .corruptIndex = CacheError(error) else { throw error }
                let number = try CacheDirectory(creating: folder.path).indexNumber
                _ = try CacheWriter.open(folder.path, capacity: nil, settingAsideIndex: number)
            }
            let contents = try folder.contents()
            for number in 1...6 { #expect(contents[url(number)] == picture(number == 6 ? 1 : number), "\(number)") }
        }
    }

    @Test func `a segment with a huge number is ignored`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try Bytes.write([], to: folder.path + "/segments/9223372036854775807.seg")
            try folder.abandoned { try $0.store(url(2), picture(2)) }
            try folder.written { try $0.store(url(3), picture(3)) }
            #expect(try folder.contents().count == 3)
        }
    }

    @Test func `a rebuild uses no offset again that is freed`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...3 { try writer.store(url(number), picture(number)) }
            }
            let length = Bytes.length(folder.segment(1))
            try folder.abandoned { writer in
                try writer.store(url(4), picture(4))
                // The hole of the last cover is punched; its row in `freed` stays.
                try writer.transaction { state, _ in
                    let blob = try #require(try writer.index.blob(picture(4).withUnsafeBytes { Digest(of: $0) }))
                    try writer.removeBlob(blob, &state)
                }
                for range in writer.reclaimable.ranges { range.punch(in: writer.directory) }
                _ = try writer.rebuild()
                let scanned = try writer.reading { _ in try writer.index.segments()[1]?.scanned }
                #expect(scanned ?? 0 > RecordHeader.charge(length))
            }
            try folder.written { try $0.store(url(5), picture(5)) }
            #expect(try folder.contents().count == 4)
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a rebuild punches nothing that another process may still be writing`() throws {
        try withFolder { folder in
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                try writer.put(url(2), picture(2))
                let group = try #require(writer.seal())
                try group.sync()
                // As if only a part had been written when the rebuild reads it.
                let path = folder.segment(1)
                let whole = try Bytes.of(path)
                let offset = try #require(try Bytes.find(picture(2), in: path))
                try Bytes.overwrite(path, at: offset + 100, with: [UInt8](repeating: 0, count: 1_000))
                #expect(try folder.abandoned { try $0.rebuild() } == 1)
                try Bytes.overwrite(path, at: offset + 100, with: Array(whole[(offset + 100)..<(offset + 1_100)]))
                _ = try writer.commit([group])
                #expect(try folder.reader().contents() == [url(1): picture(1), url(2): picture(2)])
            }
        }
    }

    // MARK: Privacy

    @Test(arguments: [false, true])
    func `only the user may read a cache, whoever may read its directory`(exists: Bool) throws {
        try withFolder { folder in
            if exists {
                try FileManager.default.createDirectory(
                    atPath: folder.path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            }
            try folder.abandoned { writer in
                try writer.store(url(1), picture(1))
                _ = try writer.pin([url(1)])
                try writer.savePins()
                let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                #expect(names.count >= 8, "\(names)")
                for name in names + (exists ? [] : ["."]) {
                    var status = stat()
                    #expect(stat("\(folder.path)/\(name)", &status) == 0 && status.st_mode & 0o077 == 0, "\(name)")
                }
            }
        }
    }
}
