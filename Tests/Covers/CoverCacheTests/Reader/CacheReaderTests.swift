import Foundation
import Platform
import Testing

@testable import CoverCache

@Suite struct CacheReaderTests {
    @Test func `a cache that was never written cannot be read`() throws {
        try withFolder { folder in
            #expect(throws: (any Error).self) { try folder.reader() }
        }
    }

    @Test func `a key that was never stored is a miss, by its URL and by a digest`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let reader = try folder.reader()
            for lookup in [try reader.cover(for: url(2)), try reader.cover(digest: Digest(of: picture(2)))] {
                guard case .miss = lookup else {
                    Issue.record("not a miss")
                    return
                }
            }
        }
    }

    @Test func `a reader sees commits and evictions that follow its opening`() throws {
        try withFolder { folder in
            try folder.written { writer in
                let reader = try folder.reader()
                #expect(try reader.keys().isEmpty)
                try writer.store(url(1), picture(1))
                #expect(try reader.bytes(url(1)) == picture(1))
                try writer.evict(to: 0)
                #expect(try reader.bytes(url(1)) == nil)
            }
        }
    }

    // MARK: Damage

    @Test func `damaged bytes are never returned, whichever byte of a cover is damaged`() throws {
        try withFolder { folder in
            let body = picture(1, bytes: 600)
            try folder.written { try $0.store(url(1), body) }
            let (reader, file) = (try folder.reader(), folder.file(body))
            for offset in body.indices {
                try Bytes.flip(file, at: offset, bit: offset % 8)
                #expect(try reader.isDamaged(url(1)), "byte \(offset)")
                try Bytes.flip(file, at: offset, bit: offset % 8)
            }
            #expect(try reader.bytes(url(1)) == body)
        }
    }

    private static let damages: [@Sendable (String) throws -> Void] = [
        { try Bytes.remove($0) },
        { try Bytes.truncate($0, to: 1_000) },
        { try Bytes.write(try Bytes.of($0) + [0], to: $0) },
        { path in
            try Bytes.remove(path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        },
    ]

    @Test(arguments: damages.indices)
    func `a file that is gone, cut off, too long or a directory is a miss, and the cover can be stored again`(kind: Int)
        throws
    {
        try withFolder { folder in
            try folder.written { try $0.fill(1...2) }
            let file = folder.file(picture(1))
            try Self.damages[kind](file)
            let reader = try folder.reader()
            #expect(try reader.isDamaged(url(1)))
            guard case .damaged(key: url(1)) = try reader.cover(digest: Digest(of: picture(1))) else {
                Issue.record("not damaged")
                return
            }
            #expect(try reader.status(of: [url(1), url(2)]).map { $0 != nil } == [false, true])
            let usage = try #require(reader.takeUsage(minimum: 1))
            #expect(usage.hits == 1 && usage.misses == 2 && usage.uses.count == 1)
            if kind == 3 { try Bytes.remove(file) }
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.expect(pictures(1...2))
        }
    }

    @Test func `dropping a damaged cover removes every URL that shares it, and it can be stored again`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for (key, cover) in [(1, 1), (2, 1), (3, 3)] { try writer.put(url(key), picture(cover)) }
                _ = try writer.commit()
                try Bytes.flip(folder.file(picture(1)), at: 2_000)
                try writer.dropDamaged(url(1))
                #expect(try folder.reader().keys() == [url(3)])
                #expect(folder.fileNames.count == 1)
                try writer.store(url(1), picture(1))
            }
            try folder.expect(pictures([1, 3]))
        }
    }

    @Test func `dropping keeps a cover that is whole by now, and knows no other keys`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.store(url(1), picture(1))
                for number in 1...2 { try writer.dropDamaged(url(number)) }
            }
            try folder.expect(pictures([1]))
        }
    }

    // MARK: Errors

    /// A file that even the superuser may not read. Few other systems have one.
    private static let unreadable = "/proc/sys/vm/compact_memory"

    @Test(.enabled(if: open(unreadable, O_RDONLY) < 0 && errno == EACCES, "needs Linux"))
    func `a file that cannot be opened is an error and no damage, for get, verify and repair`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...2) }
            let file = folder.file(picture(1))
            try Bytes.move(file, to: folder.root + "/away")
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: Self.unreadable)
            let reader = try folder.reader()
            #expect(throws: CacheError.self) { try reader.cover(for: url(1)) }
            #expect(throws: CacheError.self) { try reader.cover(digest: Digest(of: picture(1))) }
            #expect(reader.takeUsage(minimum: 1) == nil)
            try folder.abandoned { writer in
                #expect(throws: CacheError.self) { try writer.dropDamaged(url(1)) }
                #expect(try !writer.isIntact(Digest(of: picture(1))))
                let report = try writer.repair()
                #expect(report.unreadable == 1 && report.dropped == 0 && report.defects.map(\.key) == [url(1)])
            }
            try Bytes.remove(file)
            try Bytes.move(folder.root + "/away", to: file)
            try folder.expect(pictures(1...2))
        }
    }

    @Test func `without free descriptors, reading is an error that names the limit, and no damage`() async {
        await #expect(processExitsWith: .success) {
            try withFolder { folder in
                try folder.written { try $0.store(url(1), picture(1)) }
                let reader = try folder.reader()
                _ = try reader.bytes(url(1))
                let limit = try #require(DescriptorLimit.current)
                // As low as the next descriptor.
                let next = open("/", O_RDONLY)
                close(next)
                DescriptorLimit.set(Int(next))
                let error = #expect(throws: CacheError.self) { try reader.cover(for: url(1)) }
                #expect(error.map { "\($0)".contains("ulimit -n") } == true)
                DescriptorLimit.set(limit)
                #expect(try reader.bytes(url(1)) == picture(1))
            }
        }
    }

    #if os(Linux)
        @Test func `a file that the user may not read is an error that says so, and no damage`() async {
            await #expect(processExitsWith: .success) {
                try withFolder { folder in
                    try folder.written { try $0.store(url(1), picture(1)) }
                    let user = getuid()
                    for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: folder.root)) {
                        if user == 0 { chown("\(folder.root)/\(name)", 65_534, 65_534) }
                    }
                    chmod(folder.file(picture(1)), 0)
                    if user == 0 { seteuid(65_534) }
                    let reader = try folder.reader()
                    let error = #expect(throws: CacheError.self) { try reader.cover(for: url(1)) }
                    #expect(error.map { "\($0)".contains("permissions") } == true)
                    if user == 0 { seteuid(0) }
                    chmod(folder.file(picture(1)), 0o600)
                    #expect(try reader.bytes(url(1)) == picture(1))
                }
            }
        }
    #endif

    // MARK: Status and usage

    @Test func `the status of many keys is in the order of the keys`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.put(url(1), picture(1, bytes: 10))
                try writer.put(url(2), picture(2, bytes: 20), storedAt: 7)
            }
            let statuses = try folder.reader().status(of: [url(2), url(9), url(1), url(2)])
            #expect(statuses.map { $0?.bytes } == [20, nil, 10, 20])
            #expect(statuses[2]?.digest == Digest(of: picture(1, bytes: 10)))
            #expect(statuses[0]?.validatedAt == 7 && statuses[0]?.freshUntil == nil)
        }
    }

    @Test func `the reader hands its uses over once, and only if there are enough`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let reader = try folder.reader()
            #expect(reader.takeUsage(minimum: 1) == nil)
            _ = try reader.bytes(url(1))
            _ = try reader.bytes(url(2))
            _ = try reader.cover(digest: Digest(of: picture(1)), counting: false)
            #expect(reader.takeUsage(minimum: 3) == nil)
            let usage = try #require(reader.takeUsage(minimum: 2))
            #expect(usage.hits == 1 && usage.misses == 1 && usage.uses.count == 1)
            #expect(reader.takeUsage(minimum: 1) == nil)
        }
    }

    @Test func `a use without the bytes is handed over, too, and counts for eviction`() throws {
        try withFolder { folder in
            try folder.written { writer in
                try writer.fill(1...10)
                let reader = try folder.reader()
                _ = try reader.status(of: [url(1)])
                _ = try reader.entry(for: url(2))
                let usage = try #require(reader.takeUsage(minimum: 1))
                #expect(usage.hits == 1 && usage.misses == 0 && usage.uses.count == 1)
                writer.noteUsage(usage)
                try writer.evict(to: 4 * charge)
            }
            #expect(try folder.reader().keys() == [url(1), url(8), url(9), url(10)])
        }
    }

    // MARK: Listing

    @Test func `entries are listed in the order of storing, without those that are stored meanwhile`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in [5, 3, 9, 1] { try writer.put(url(number), picture(number)) }
                _ = try writer.commit()
                var keys: [String] = []
                try folder.reader().entries { entry in
                    keys.append(entry.metadata.key)
                    if keys.count == 1 { try writer.store(url(7), picture(7)) }
                }
                #expect(keys == [5, 3, 9, 1].map(url))
            }
        }
    }

    @Test func `more entries than a slice are listed once each, by row and by cover`() throws {
        try withFolder { folder in
            // Every third cover's bytes are those of the one before.
            let numbers = 0..<2_100
            try folder.written { writer in
                for number in numbers {
                    try writer.put(url(number), picture(number - (number % 3 == 2 ? 1 : 0), bytes: 40))
                }
            }
            let reader = try folder.reader()
            #expect(try reader.keys() == numbers.map(url))
            var byCover: [CachedEntry] = []
            var last: EntryRow?
            repeat {
                let found: [CachedEntry]
                (found, last) = try reader.entries(byCoverAfter: last, limit: 700)
                byCover += found
            } while last != nil
            #expect(Set(byCover.map(\.metadata.key)) == Set(numbers.map(url)) && byCover.count == numbers.count)
            let changes = zip(byCover, byCover.dropFirst()).count { $0.digest != $1.digest }
            #expect(changes == 1_399, "entries that share a cover are neighbours")
            let slice = try reader.entries(after: 10, through: 15, limit: 3)
            #expect(slice.last == 13 && slice.found.map(\.metadata.key) == (10...12).map(url))
            #expect(try reader.entries(rows: [3, 9_999, 1]).map(\.metadata.key) == [url(2), url(0)])
        }
    }

    @Test func `an entry is found by its cover's digest, and the path is that of its file`() throws {
        try withFolder { folder in
            try folder.written { try $0.fill(1...2) }
            let reader = try folder.reader()
            guard case .hit(let entry, let body) = try reader.cover(digest: Digest(of: picture(2))) else {
                Issue.record("not a hit")
                return
            }
            #expect(entry.metadata.key == url(2) && body == picture(2))
            #expect(try Bytes.of(reader.path(of: entry.digest)) == picture(2))
        }
    }
}
