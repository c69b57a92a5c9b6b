import Foundation
import Platform
import SQLite
import Testing

@testable import CoverCache

/// What rots on the disk: single bits and pages of the index, single numbers, lines of the log.
@Suite struct RotTests {
    /// Whether everything is tried, which takes minutes.
    private static let isThorough = ProcessInfo.processInfo.environment["SLEEVE_LONG_TESTS"] != nil
    private static let covers = 24

    /// Covers of different lengths, some with the bytes of another; some of the URLs differ in one bit. Nothing is left in the log.
    private func fill(_ folder: CacheFolder) throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        try folder.written { writer in
            for number in 0..<Self.covers {
                let body = picture(
                    number.isMultiple(of: 5) ? 0 : number, bytes: number.isMultiple(of: 2) ? 3_000 : 1_000)
                contents[url(number)] = body
                try writer.put(url(number), body)
            }
            _ = try writer.commit()
            _ = try writer.pin([url(3)])
        }
        try folder.checkpoint()
        return contents
    }

    /// Expects that each look-up gives the right bytes, none, or an error.
    /// - Returns: how many gave bytes.
    @discardableResult
    private func expectNoWrongBytes(_ folder: CacheFolder, _ contents: [String: [UInt8]], _ comment: Comment) -> Int {
        guard let reader = try? folder.reader() else { return 0 }
        var found = 0
        for (key, body) in contents {
            guard let bytes = try? reader.bytes(key) else { continue }
            #expect(bytes == body, comment)
            found += 1
        }
        try? reader.entries { entry in
            let body = contents[entry.metadata.key]
            #expect(body.map { Digest(of: $0) } == entry.digest, comment)
        }
        _ = try? reader.status(of: contents.keys)
        return found
    }

    /// What `verify --repair` does.
    private func repair(_ folder: CacheFolder) throws {
        try folder.written { _ = try $0.repair() }
    }

    @Test func `a flipped bit of the index gives no wrong bytes, wherever it is, and costs no process its life`() throws
    {
        try withFolder { folder in
            let contents = try fill(folder)
            var bytes = try Bytes.of(folder.index)
            // Most pages are padding: the bits of their used bytes are tried.
            let used = bytes.indices.filter { bytes[$0] != 0 || $0.isMultiple(of: 64) }
            var random = SplitMix64(seed: 11)
            let flips = Self.isThorough ? 20_000 : 200
            var found = 0
            for _ in 0..<flips {
                let (offset, bit) = (used.randomElement(using: &random)!, Int.random(in: 0..<8, using: &random))
                bytes[offset] ^= UInt8(1 << bit)
                try Bytes.write(bytes, to: folder.index)
                found += expectNoWrongBytes(folder, contents, "bit \(bit) of byte \(offset)")
                bytes[offset] ^= UInt8(1 << bit)
                for suffix in ["-wal", "-shm"] { unlink(folder.index + suffix) }
            }
            // Most bits cost a cover or two, if any; some cost all of them.
            #expect(found > flips * Self.covers / 2)
        }
    }

    @Test func `a flipped bit of the index costs no cover after a repair`() throws {
        try withFolder { folder in
            let contents = try fill(folder)
            let bytes = try Bytes.of(folder.index)
            let used = bytes.indices.filter { bytes[$0] != 0 }
            var random = SplitMix64(seed: 12)
            for _ in 0..<(Self.isThorough ? 2_000 : 24) {
                let (offset, bit) = (used.randomElement(using: &random)!, Int.random(in: 0..<8, using: &random))
                // The capacity, a version and the like are no damage.
                if offset < 100 { continue }
                try folder.copied { copy in
                    try Bytes.flip(copy.index, at: offset, bit: bit)
                    try repair(copy)
                    expectNoWrongBytes(copy, contents, "bit \(bit) of byte \(offset)")
                    let areAll = try copy.contents() == contents
                    #expect(areAll, "bit \(bit) of byte \(offset)")
                }
            }
        }
    }

    private enum Rot: CaseIterable {
        case zeroed, random, swapped

        /// Changes a page of `bytes`, or exchanges it with the next.
        func apply(to page: Int, of bytes: inout [UInt8]) {
            let range = page * 4_096..<min((page + 1) * 4_096, bytes.count)
            switch self {
            case .zeroed: for index in range { bytes[index] = 0 }
            case .random: bytes.replaceSubrange(range, with: picture(page, bytes: range.count))
            case .swapped: for index in range where index + 4_096 < bytes.count { bytes.swapAt(index, index + 4_096) }
            }
        }
    }

    @Test func `a rotten page of the index gives no wrong bytes, and a repair brings every cover back`() throws {
        try withFolder { folder in
            let contents = try fill(folder)
            let whole = try Bytes.of(folder.index)
            for page in 0..<(whole.count / 4_096) {
                for (number, rot) in Rot.allCases.enumerated()
                where Self.isThorough || (page + number).isMultiple(of: 5) {
                    try folder.copied { copy in
                        var bytes = whole
                        rot.apply(to: page, of: &bytes)
                        try Bytes.write(bytes, to: copy.index)
                        expectNoWrongBytes(copy, contents, "page \(page) \(rot)")
                        try repair(copy)
                        let areAll = try copy.contents() == contents
                        #expect(areAll, "page \(page) \(rot)")
                    }
                }
            }
        }
    }

    @Test func `rows with wild values give no wrong bytes and end no process, and a repair mends them`() throws {
        try withFolder { folder in
            let contents = try fill(folder)
            let columns = [
                "covers": ["id", "tag", "digest", "length", "charge", "type", "width", "used", "pins"],
                "entries": ["id", "tag", "url", "cover", "seal", "stored", "validated", "fresh", "fields"],
                "state": ["charged", "covers", "bytes", "entries", "pinnedCharge", "clock", "hits", "lines"],
                "pins": ["tag", "url"],
            ]
            let values = [
                "-1", "0", "1", "4096", "9223372036854775807", "-9223372036854775808", "4611686018427387904",
                "281474976710657",
                "'x'", "x'00ff'", "1.5e300", "''", "NULL",
            ]
            var (number, tried, changed) = (0, 0, 0)
            for (table, names) in columns.sorted(by: { $0.key < $1.key }) {
                for name in names {
                    for value in values {
                        number += 1
                        guard Self.isThorough || number.isMultiple(of: 13) else { continue }
                        try folder.copied { copy in
                            let key = table == "pins" ? "tag" : "rowid"
                            let change: Void? = try? copy.execute(
                                """
                                UPDATE OR IGNORE \(table) SET \(name) = \(value)
                                WHERE \(key) IN (SELECT \(key) FROM \(table) ORDER BY \(key) LIMIT 3)
                                """)
                            (tried, changed) = (tried + 1, changed + (change == nil ? 0 : 1))
                            let comment: Comment = "\(table).\(name) = \(value)"
                            expectNoWrongBytes(copy, contents, comment)
                            try repair(copy)
                            let areAll = try copy.contents() == contents
                            #expect(areAll, comment)
                            try copy.written { writer in
                                #expect(try writer.verify().defects == [], comment)
                                try writer.evict(to: 8 << 10)
                                try writer.store(url(99), picture(99))
                            }
                            #expect(try copy.contents()[url(99)] == picture(99), comment)
                        }
                    }
                }
            }
            // SQLite itself refuses some.
            #expect(changed > tried * 3 / 4)
        }
    }

    /// Damage that no look-up or no listing meets.
    private static let hidden = [
        "UPDATE entries SET id = -9223372036854775808 WHERE id = 1", "UPDATE covers SET id = -5 WHERE id = 1",
        "UPDATE entries SET url = CAST(url AS BLOB) WHERE id = 2",
        "UPDATE covers SET digest = CAST(digest AS TEXT) WHERE id = 2",
        "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY', 'PRIMARY Key') WHERE name = 'entries'",
        "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, 'width', 'wydth') WHERE name = 'covers'",
    ]

    @Test(
        arguments: hidden + [
            "UPDATE entries SET cover = 2 WHERE id = 1", "UPDATE entries SET cover = 99 WHERE id = 1",
            "UPDATE entries SET cover = 3 - cover WHERE id IN (1, 2)",
            "UPDATE covers SET digest = zeroblob(32) WHERE id = 1",
            "UPDATE covers SET digest = (SELECT digest FROM covers WHERE id = 2) WHERE id = 1",
            "UPDATE covers SET pins = 1 WHERE id = 1",
            "UPDATE entries SET url = 'http://covers.example/2.jpg' WHERE id = 1",
            "UPDATE state SET charged = charged + 4096",
            "DELETE FROM covers WHERE id = 1", "DELETE FROM state",
            "INSERT INTO covers(tag, digest, length, charge, type, used) VALUES (1, zeroblob(32), 1, 1, '', 1)",
            "INSERT INTO entries(tag, url, cover, seal, stored, validated, fields) VALUES (1, 'x', 1, 1, 1, 1, '')",
            "DROP INDEX entries_tag", "REINDEX", "DROP TABLE hints", "DROP TABLE pins",
        ])
    func `an index that is wrong gives no wrong bytes, and a repair loses no cover`(change: String) throws {
        try withFolder { folder in
            let contents = try fill(folder)
            try folder.execute(change)
            expectNoWrongBytes(folder, contents, "\(change)")
            try repair(folder)
            let isAside = try CacheDirectory.names(in: folder.path).contains { $0.contains(".bad-") }
            #expect(isAside || !Self.hidden.contains(change))
            let areAll = try folder.contents() == contents
            #expect(areAll)
            #expect(try folder.defects() == [])
        }
    }

    @Test func `an entry whose row names another cover is damaged, and is dropped alone`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...3) }
            try folder.execute("UPDATE entries SET cover = 2 WHERE id = 1")
            #expect(try folder.reader().isDamaged(url(1)))
            try folder.abandoned { try $0.dropDamaged(url(1)) }
            #expect(try folder.reader().contents() == pictures(2...3))
        }
    }
}
