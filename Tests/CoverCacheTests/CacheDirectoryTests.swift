import Foundation
import Platform
import SQLite
import Testing

@testable import CoverCache

@Suite struct CacheDirectoryTests {
    private func error(opening path: String) -> CacheError? {
        do {
            _ = try CacheWriter(directory: path)
            return nil
        } catch {
            return CacheError(error)
        }
    }

    @Test func `missing parent directories are created, and the directory has a cache tag`() throws {
        try withFolder { folder in
            let path = folder.root + "/a/b/c"
            _ = try CacheWriter(directory: path)
            let tag = String(decoding: try Bytes.of(path + "/CACHEDIR.TAG"), as: UTF8.self)
            #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55"))
            for name in ["index.sqlite3", "writer.lock", "segments"] { #expect(Bytes.exists("\(path)/\(name)")) }
        }
    }

    @Test func `a directory with other files gets no cache tag: backups would leave the files out`() throws {
        try withFolder { folder in
            try Data().write(to: URL(filePath: folder.root + "/song.flac"))
            _ = try CacheWriter(directory: folder.root)
            #expect(Bytes.exists(folder.root + "/index.sqlite3") && !Bytes.exists(folder.root + "/CACHEDIR.TAG"))
            _ = try CacheWriter(directory: folder.root)
            #expect(!Bytes.exists(folder.root + "/CACHEDIR.TAG"))
        }
    }

    @Test(arguments: ["", "/below"])
    func `a path that is or leads through a file is refused, and the file stays as it is`(below: String) throws {
        try withFolder { folder in
            try Bytes.write([1, 2, 3], to: folder.path)
            #expect(error(opening: folder.path + below) == .notADirectory(folder.path))
            #expect(try Bytes.of(folder.path) == [1, 2, 3])
        }
    }

    @Test(.enabled(if: getuid() != 0))
    func `a directory that cannot be written is refused with the reason`() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder.path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o555])
            guard case .notWritable(folder.path, let reason) = error(opening: folder.path) else {
                Issue.record("not refused")
                return
            }
            #expect(!reason.isEmpty)
        }
    }

    @Test func `a cache of a newer format is refused and left as it is`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try #require(!Bytes.exists(folder.index + "-wal"), "closing leaves no WAL")
            // user_version: a big-endian number at offset 60 of an SQLite file.
            try Bytes.overwrite(folder.index, at: 60, with: [0, 0, 0, 99])
            let (index, segment) = (try Bytes.of(folder.index), try Bytes.of(folder.segment(1)))
            #expect(error(opening: folder.path) == .newerFormat(folder.path))
            #expect(try Bytes.of(folder.index) == index)
            #expect(try Bytes.of(folder.segment(1)) == segment)
            try Bytes.overwrite(folder.index, at: 60, with: [0, 0, 0, 1])
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    @Test func `an index is rebuilt from the segments alone`() throws {
        try withFolder { folder in
            try folder.written { writer in
                for number in 1...30 { try writer.put(url(number), picture(number % 20)) }
                _ = try writer.commit()
            }
            let expected = try folder.contents()
            try #require(expected.count == 30)
            try folder.deleteIndex()
            #expect(try folder.written { try $0.rebuild() } == 30)
            #expect(try folder.contents() == expected)
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `a rebuild of a lost index that is killed is done again, and evicts nothing`() throws {
        try withFolder { folder in
            try folder.written { writer in for number in 1...5 { try writer.store(url(number), picture(number)) } }
            try folder.deleteIndex()
            // What a killed process has created: an index without a capacity.
            let directory = try CacheDirectory(creating: folder.path)
            _ = try IndexFile.openForWriting(directory)
            #expect(try folder.contents().count == 5)
            try folder.written { #expect($0.capacity == CacheWriter.defaultCapacity) }
        }
    }

    @Test func `a directory that is named like a segment is ignored`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try FileManager.default.createDirectory(
                atPath: folder.path + "/segments/999999999999.seg", withIntermediateDirectories: false)
            #expect(try folder.written { try $0.rebuild() } == 1)
            _ = try folder.abandoned { try $0.store(url(2), picture(2)) }
            try folder.deleteIndex()
            #expect(try folder.contents().count == 2)
        }
    }

    @Test func `opening a cache whose index was deleted rebuilds it`() throws {
        try withFolder { folder in
            try folder.written { writer in for number in 1...5 { try writer.store(url(number), picture(number)) } }
            try folder.deleteIndex()
            #expect(try folder.contents() == Dictionary(uniqueKeysWithValues: (1...5).map { (url($0), picture($0)) }))
        }
    }

    @Test(arguments: [true, false])
    func `a corrupt index is set aside and rebuilt from the segments`(looksLikeOne: Bool) throws {
        let garbage = (looksLikeOne ? Array("SQLite format 3\u{0}".utf8) : []) + picture(2, bytes: 9_000)
        try withFolder { folder in
            try folder.written { writer in for number in 1...5 { try writer.store(url(number), picture(number)) } }
            try folder.deleteIndex()
            try Bytes.write(garbage, to: folder.index)
            #expect(try folder.contents() == Dictionary(uniqueKeysWithValues: (1...5).map { (url($0), picture($0)) }))
            #expect(try folder.defects().isEmpty)
            // Of an earlier time.
            try Bytes.write([1], to: folder.index + ".bad-1-1")
            try Bytes.write([1], to: folder.index + ".bad-1-1-wal")
            try folder.deleteIndex()
            try Bytes.write(garbage, to: folder.index)
            #expect(try folder.contents().count == 5)
            let aside = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasPrefix("index.sqlite3.bad-") }
            #expect(aside.count == 1)
            #expect(try Bytes.of(folder.path + "/" + aside[0]) == garbage)
        }
    }

    @Test func `an empty index file counts as missing, and is rebuilt`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            try folder.deleteIndex()
            try Bytes.write([], to: folder.index)
            #expect(try folder.contents() == [url(1): picture(1)])
        }
    }

    /// `Sample` was made by the version before freed ranges, pins and totals were kept in the index: `sleeve prefetch` of five covers, of
    /// which two share their bytes, and `sleeve refresh --all`.
    @Test func `a cache of the version before opens, and keeps its covers with their times`() throws {
        try withFolder { folder in
            let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Sample")
            try FileManager.default.copyItem(atPath: sample.path, toPath: folder.path)
            try folder.written { writer in
                let (report, statistics) = (try writer.repair(), try writer.statistics())
                #expect(report.found.defects == [])
                #expect(statistics.entries == 5 && statistics.blobs == 4 && statistics.capacity == 16 << 20)
            }
            let digests = [1: "d74822e1", 2: "a3a9c6bf", 3: "13e9ed77", 4: "9675e574", 5: "9675e574"]
            let reader = try folder.reader()
            for key in try reader.keys() {
                let entry = try #require(try reader.entry(key))
                let number = try #require(key.split(separator: "/").last?.first?.wholeNumberValue)
                let body = try #require(try reader.bytes(key))
                let digest = body.withUnsafeBytes { Digest(of: $0) }
                #expect(digest == entry.digest)
                #expect(digests[number] == String(digest.description.prefix(8)), "\(key)")
                #expect(entry.validatedAt > entry.metadata.storedAt)
            }
            try folder.written { writer in
                let key = try reader.keys()[0]
                #expect(try writer.pin([key]) == [true])
                try writer.evict(to: 0)
                try writer.store(url(7), picture(7))
            }
            #expect(try folder.contents().count == 2)
            #expect(try folder.defects() == [])
        }
    }

    @Test func `the cache of an earlier version, with hash tables beside its index, opens whole and loses the tables`()
        throws
    {
        try withFolder { folder in
            let expected = Dictionary(uniqueKeysWithValues: (1...5).map { (url($0), picture($0)) })
            try folder.written { writer in
                for number in 1...5 { try writer.store(url(number), picture(number)) }
                try writer.connection.execute("DROP INDEX entries_tag; DROP INDEX blobs_tag")
            }
            let tables = ["entries.tags", "blobs.tags", "entries.tags.new"].map { folder.path + "/" + $0 }
            for table in tables { try Bytes.write(Array("SLVTAGS1".utf8), to: table) }
            #expect(try folder.reader().contents() == expected)
            try folder.written { writer in
                let indexes = try writer.connection.texts("SELECT name FROM sqlite_schema WHERE name LIKE '%_tag'")
                #expect(indexes.sorted() == ["blobs_tag", "entries_tag"])
                try writer.store(url(6), picture(1))
            }
            #expect(tables.filter { Bytes.exists($0) } == [])
            #expect(try folder.contents() == expected.merging([url(6): picture(1)]) { $1 })
            #expect(try folder.defects().isEmpty)
        }
    }

    @Test func `files in the segment folder that are no segments are kept`() throws {
        try withFolder { folder in
            try folder.written { try $0.store(url(1), picture(1)) }
            let stranger = folder.path + "/segments/notes.txt"
            try Bytes.write([1], to: stranger)
            try folder.written { writer in
                try writer.evict(to: 0)
                _ = try writer.rebuild()
            }
            #expect(try Bytes.of(stranger) == [1])
        }
    }
}

@Suite struct CacheErrorTests {
    @Test(
        arguments: [
            (.notADirectory("/c"), "--cache"), (.notWritable("/c", reason: "denied"), "--cache"),
            (.networkFileSystem("/c", kind: "NFS"), "local disk"), (.newerFormat("/c"), "update"),
            (.diskFull("/c"), "--capacity"), (.busy("/c", seconds: 15), "try again"),
            (.file("/c", operation: "open", reason: "no such file"), "/c"),
            (.corruptIndex("malformed"), "verify --repair"),
            (.index("disk I/O error"), "try again"),
        ] as [(CacheError, String)])
    func `every error message is one line that names the path and the remedy`(error: CacheError, part: String) {
        #expect("\(error)".contains(part))
        #expect(!"\(error)".contains("\n"))
    }
}
