import Foundation
import Platform
import Testing

@testable import CoverCache
@testable import CoverPack

@Suite struct PackTests {
    struct Contents: Equatable {
        var covers: [String: [UInt8]] = [:]
        var metadata: [EntryMetadata] = []
        var damaged: [String?] = []
        var problems: [String] = []
    }

    let all = pictures(1...3).merging([url(4): picture(2)]) { $1 }

    /// Covers 1 to 3, and 4 with the bytes of 2.
    func fill(_ folder: CacheFolder) throws {
        try folder.written { writer in
            try writer.fill(1...3)
            try writer.store(url(4), picture(2))
            let entry = try #require(try folder.reader().entry(for: url(3)))
            let renewal = Renewal(
                entry, validatedAt: 1_800_000_000_000, freshUntil: 1_900_000_000_000,
                fields: "etag: \"x\"\n")
            _ = try writer.renew([renewal])
        }
    }

    /// The covers of `fill` as a pack.
    func pack(_ folder: CacheFolder) throws -> [UInt8] {
        try fill(folder)
        var lines = PackReader.header
        for entry in try folder.reader().entries(byCoverAfter: nil, limit: 100).found {
            lines += entry.line.json
        }
        return archive([("entries.jsonl", lines)] + (1...3).map { (name(picture($0)), picture($0)) })
    }

    func read(_ bytes: [UInt8], _ folder: CacheFolder) throws -> Contents {
        try Bytes.write(bytes, to: folder.root + "/pack")
        return try read(folder.root + "/pack")
    }

    func read(_ path: String) throws -> Contents {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return try contents(try PackReader(descriptor: descriptor, path: path))
    }

    /// What a tar of the cache has.
    private func readCache(_ folder: CacheFolder) throws -> Contents {
        let path = folder.root + "/cache.tar"
        try tar("cf", path, "-C", folder.path, "entries.jsonl", "covers")
        return try read(path)
    }

    private func contents(_ reader: PackReader) throws -> Contents {
        var contents = Contents()
        while true {
            let items = try reader.next(1)
            if items.isEmpty { return contents }
            for item in items {
                switch item {
                case .cover(let cover):
                    contents.covers[cover.metadata.key] = cover.body
                    contents.metadata.append(cover.metadata)
                case .damage(let defect):
                    contents.damaged.append(defect.key)
                    contents.problems.append("\(defect)")
                }
            }
        }
    }

    /// Reads from a pipe.
    private func readPipe(_ bytes: [UInt8]) throws -> Contents {
        let pipe = Pipe()
        let writing = Thread {
            try? pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
            try? pipe.fileHandleForWriting.close()
        }
        signal(SIGPIPE, SIG_IGN)
        writing.start()
        defer { try? pipe.fileHandleForReading.close() }
        return try contents(try PackReader(descriptor: pipe.fileHandleForReading.fileDescriptor, path: "pipe"))
    }

    /// Runs tar(1) and returns what it prints.
    @discardableResult
    func tar(_ arguments: String...) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["tar"] + arguments
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A tar file of these files.
    private func archive(_ files: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, body) in files {
            let header = TarHeader(name, length: body.count)
            bytes += header.bytes + body + [UInt8](repeating: 0, count: header.padding)
        }
        return bytes + [UInt8](repeating: 0, count: 1_024)
    }

    func name(_ body: [UInt8]) -> String {
        let name = Digest(of: body).description
        return "covers/\(name.prefix(2))/\(name)"
    }

    private func lines(_ folder: CacheFolder) throws -> [UInt8] { try Bytes.of(folder.log) }

    // MARK: Whole packs

    @Test func `a pack gives every cover with its metadata, also from a pipe`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let contents = try read(bytes, folder)
            #expect(contents.covers == all && contents.problems == [])
            let renewed = try #require(contents.metadata.first { $0.key == url(3) })
            #expect(renewed.storedAt == 1_700_000_000_000 && renewed.validatedAt == 1_800_000_000_000)
            #expect(renewed.freshUntil == 1_900_000_000_000 && renewed.fields == "etag: \"x\"\n")
            #expect(contents.metadata.first { $0.key == url(1) }?.validatedAt == 1_700_000_000_000)
            #expect(try readPipe(bytes) == contents)
        }
    }

    @Test func `a file of more than 64 MiB is left out, and what follows it is read`() throws {
        try withFolder { folder in
            try fill(folder)
            let large = [UInt8](repeating: 0, count: 64 << 20 + 1)
            let bytes = archive(
                [("entries.jsonl", try lines(folder)), (name(picture(1)), large)]
                    + (2...3).map { (name(picture($0)), picture($0)) })
            let contents = try read(bytes, folder)
            #expect(
                contents.problems.count == 1 && contents.problems[0].contains("it is too large"), "\(contents.problems)"
            )
            #expect(contents.covers == all.filter { $0.key != url(1) })
        }
    }

    @Test func `tar lists and extracts a pack, and a folder is none`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let path = folder.root + "/pack.tar"
            try Bytes.write(bytes, to: path)
            let names = try tar("tf", path).split(separator: "\n").map(String.init)
            #expect(names.first == "entries.jsonl")
            #expect(Set(names.dropFirst()) == Set((1...3).map { name(picture($0)) }))
            let other = folder.root + "/extracted"
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            try tar("xf", path, "-C", other)
            #expect(try Bytes.of("\(other)/\(name(picture(1)))") == picture(1))
            #expect(throws: CacheError.notAPack(other)) { try read(other) }
        }
    }

    @Test(arguments: ["--format=gnu", "--format=ustar", "--format=pax", "--format=v7"])
    func `a tar that tar makes of a cache is a pack, with directories and leading dots`(format: String) throws {
        try withFolder { folder in
            try fill(folder)
            let path = folder.root + "/foreign.tar"
            for arguments in [["."], ["entries.jsonl", "covers"], ["covers", "entries.jsonl"]] {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = ["tar", "cf", path, format, "-C", folder.path] + arguments
                try process.run()
                process.waitUntilExit()
                let contents = try read(path)
                #expect(contents.covers == all && contents.problems == [], "\(arguments)")
            }
        }
    }

    @Test(arguments: ["pack 9", "entries 2", "pack", "x"])
    func `a pack of another version is refused, wherever it says so`(format: String) throws {
        try withFolder { folder in
            try fill(folder)
            let line = EntryLog.Line.format(format).bytes
            for bytes in [line + (try lines(folder)), try lines(folder) + line] {
                #expect(throws: CacheError.newerPack(folder.root + "/pack", format: format)) {
                    try read(archive([("entries.jsonl", bytes), (name(picture(1)), picture(1))]), folder)
                }
            }
        }
    }

    @Test func `a tar of a cache without any of its covers is reported`() throws {
        try withFolder { folder in
            try fill(folder)
            try tar("cf", folder.root + "/empty.tar", "-C", folder.path, "entries.jsonl")
            let contents = try read(folder.root + "/empty.tar")
            #expect(contents.damaged == [nil] && contents.problems.first?.contains("4 URLs") == true)
            try folder.written { _ = try $0.evict(to: 0) }
            try Bytes.write(EntryLog.header, to: folder.log)
            #expect(try readCache(folder) == Contents())
        }
    }

    @Test func `in a tar of a cache lines of removed and evicted covers say nothing, damage is reported`()
        throws
    {
        try withFolder { folder in
            try fill(folder)
            try folder.written { writer in
                try writer.store(url(8), picture(8))
                _ = try writer.remove([url(8)], includingPinned: false)
                try writer.store(url(1), picture(11))
                try Bytes.remove(folder.file(picture(3)))
            }
            var expected: [String: [UInt8]] = [url(1): picture(11), url(2): picture(2), url(4): picture(2)]
            #expect(try readCache(folder).covers == expected)
            #expect(try readCache(folder).problems == [])
            try Bytes.flip(folder.file(picture(11)), at: 1)
            expected[url(1)] = nil
            let contents = try readCache(folder)
            #expect(contents.covers == expected && contents.damaged == [url(1)])
        }
    }

    @Test func `stored covers keep the times of the pack`() throws {
        try withFolder { folder in
            let metadata = try read(try pack(folder), folder).metadata
            try withFolder { other in
                let results = try other.written { try $0.store(metadata.map { ImportedCover($0, all[$0.key] ?? []) }) }
                #expect(results.count == 4)
                for number in 1...4 {
                    let (before, after) = (
                        try folder.reader().entry(for: url(number)), try other.reader().entry(for: url(number))
                    )
                    #expect(before?.validatedAt == after?.validatedAt && before?.digest == after?.digest)
                    #expect(before?.metadata.freshUntil == after?.metadata.freshUntil)
                    #expect(before?.metadata.fields == after?.metadata.fields)
                }
            }
        }
    }

    @Test func `a tar with more lines of evicted covers than a batch is read to its end`() throws {
        try withFolder { folder in
            try fill(folder)
            var lines = try Bytes.of(folder.log)
            for number in 100..<3_000 {
                lines += EntryLine(metadata(url(number)), Digest(of: "\(number)".utf8), bytes: 1).json
            }
            try Bytes.write(lines, to: folder.log)
            #expect(try readCache(folder).covers == all)
        }
    }

    @Test func `a pack of nothing is a tar without a defect, and written only where it may be`() throws {
        try withFolder { folder in
            try folder.written { _ in }
            let path = folder.root + "/pack"
            var writer = PackWriter(
                try folder.reader(), progress: { _ in }, isCancelled: { false }, onDamaged: { _ in })
            let summary = try writer.write(to: .file(path), mayBeEmpty: true) { nil }
            let length = try Bytes.of(path).count
            #expect(summary.covers == 0 && summary.packBytes == length)
            #expect(try tar("tf", path) == "entries.jsonl\n")
            #expect(try read(path) == Contents())
            #expect(try readPipe(try Bytes.of(path)) == Contents())
            try Bytes.write([1], to: path)
            _ = try writer.write(to: .file(path), mayBeEmpty: false) { nil }
            #expect(try Bytes.of(path) == [1])
        }
    }

    // MARK: Order

    @Test func `covers before the entries are read from a file, and refused from a pipe`() throws {
        try withFolder { folder in
            try fill(folder)
            let files = (1...3).map { (name(picture($0)), picture($0)) }
            let bytes = archive(files + [("entries.jsonl", try lines(folder))])
            let contents = try read(bytes, folder)
            #expect(contents.covers == all && contents.problems == [])
            #expect(throws: CacheError.unorderedPack("pipe")) { try readPipe(bytes) }
            // What is neither may come before.
            let mixed = archive([("index.sqlite3", [1, 2, 3]), ("a/entries.jsonl", try lines(folder))] + files)
            #expect(try readPipe(mixed).covers == all)
        }
    }

    // MARK: Damage

    @Test func `a pack that is cut off anywhere is incomplete, and what it gives is right`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            for length in stride(from: 513, to: bytes.count - 1_024, by: 211) {
                let contents = try read(Array(bytes[..<length]), folder)
                #expect(contents.problems.contains { $0.contains("ends early") }, "\(length)")
                for (key, body) in contents.covers { #expect(body == all[key], "\(length)") }
            }
        }
    }

    @Test func `a changed byte in a cover or its header is detected, and costs no other cover`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let start = try #require(Data(bytes).range(of: Data("covers/".utf8))?.lowerBound)
            // Without the padding of the last cover.
            for offset in stride(from: start, to: bytes.count - 1_024 - 120, by: 61) {
                var changed = bytes
                changed[offset] ^= 0x10
                if changed[offset] == 0x10 || bytes[offset] == 0 { continue }
                let contents = try read(changed, folder)
                #expect(!contents.damaged.isEmpty, "\(offset)")
                #expect(contents.covers.count >= 2, "\(offset): \(contents.problems)")
                for (key, body) in contents.covers { #expect(body == all[key], "\(offset)") }
            }
        }
    }

    @Test func `a changed byte in the entries gives no URL the bytes of another`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let end = try #require(Data(bytes).range(of: Data("covers/".utf8))?.lowerBound)
            for offset in 512..<end {
                for bit in [0, 1, 4] {
                    var changed = bytes
                    changed[offset] ^= UInt8(1 << bit)
                    guard let contents = try? read(changed, folder) else { continue }
                    for (key, body) in contents.covers where all[key] != nil {
                        #expect(body == all[key], "bit \(bit) of byte \(offset)")
                    }
                }
            }
        }
    }

    @Test(arguments: [#"{"url": broken"#, #"{"url":"file:///etc/passwd","digest":"../../x","bytes":9}"#, "{}", "x"])
    func `a damaged line of the entries is named by its number, and the other covers are read`(line: String) throws {
        try withFolder { folder in
            try fill(folder)
            var text = PackReader.header + Array(line.utf8) + [UInt8(ascii: "\n")]
            for entry in try folder.reader().entries(byCoverAfter: nil, limit: 100).found.dropFirst() {
                text += entry.line.json
            }
            let contents = try read(
                archive([("entries.jsonl", text)] + (1...3).map { (name(picture($0)), picture($0)) }), folder)
            #expect(contents.covers.count == 3 && contents.damaged == [nil])
            #expect(contents.problems.count == 1 && contents.problems[0].contains("the line is damaged"))
        }
    }

    @Test func `a damaged cover is named by its URL and its digest`() throws {
        try withFolder { folder in
            var bytes = try pack(folder)
            let offset = try #require(Data(bytes).range(of: Data(picture(2)))?.lowerBound)
            bytes[offset + 100] ^= 1
            let contents = try read(bytes, folder)
            #expect(contents.covers == pictures([1, 3]))
            #expect(
                contents.problems.contains { $0.contains("\(Digest(of: picture(2)))") && $0.contains("do not match") })
            #expect(contents.damaged == [url(2)] || contents.damaged == [url(4)])
        }
    }

    @Test func `missing bytes cost their cover and the next, whose header is not found`() throws {
        try withFolder { folder in
            let bytes = try pack(folder)
            let start = try #require(Data(bytes).range(of: Data(picture(1)))?.lowerBound)
            var short = bytes
            short.removeSubrange(start..<start + 1_024)
            let contents = try read(short, folder)
            let areRight = contents.covers == pictures([3])
            #expect(areRight && contents.damaged.contains(url(1)), "\(contents.problems)")
            #expect(contents.problems.contains { $0.contains("skipped") })
        }
    }

    @Test func `a cover of an entry that the pack does not have is named, and one without an entry is ignored`() throws
    {
        try withFolder { folder in
            try fill(folder)
            var text = try Bytes.text(folder.log)
            text.replace("entries 1", with: "pack 1")
            let bytes = archive([
                ("entries.jsonl", Array(text.utf8)), (name(picture(1)), picture(1)), (name(picture(2)), picture(2)),
                (name(picture(2)), picture(2)), (name(picture(9)), picture(9)), ("covers/zz/nonsense", [1]),
                ("../../etc/x", [2]),
            ])
            let contents = try read(bytes, folder)
            #expect(contents.covers.keys.sorted() == [url(1), url(2), url(4)])
            #expect(contents.damaged == [url(3)] && contents.problems.first?.contains("not in the pack") == true)
        }
    }

    @Test(arguments: ["77777777777", "00000000000", "-0000000001", "99999999999", "\u{7f}zzzzzzzzzz", "           "])
    func `a length field that lies neither traps nor fills the memory, and gives no wrong bytes`(length: String) throws
    {
        try withFolder { folder in
            let bytes = try pack(folder)
            for start in [0, try #require(Data(bytes).range(of: Data("covers/".utf8))?.lowerBound)] {
                var changed = bytes
                changed.replaceSubrange(start + 124..<start + 135, with: Array(length.utf8))
                // With a checksum that matches.
                for index in 148..<156 { changed[start + index] = UInt8(ascii: " ") }
                let sum = String(changed[start..<start + 512].reduce(0) { $0 + Int($1) }, radix: 8)
                let digits = String(repeating: "0", count: 6 - sum.count) + sum + "\0"
                changed.replaceSubrange(start + 148..<start + 155, with: Array(digits.utf8))
                do {
                    let contents = try read(changed, folder)
                    #expect(!contents.problems.isEmpty)
                    for (key, body) in contents.covers { #expect(body == all[key]) }
                } catch {
                    #expect(CacheError(error) == .notAPack(folder.root + "/pack"))
                }
            }
        }
    }

    @Test func `a binary length beyond any file is no header`() throws {
        try withFolder { folder in
            var bytes = try pack(folder)
            bytes.replaceSubrange(124..<136, with: [0x80] + [UInt8](repeating: 0xFF, count: 11))
            #expect(throws: CacheError.notAPack(folder.root + "/pack")) { try read(bytes, folder) }
        }
    }

    @Test(arguments: [Array("GIF89a, not a pack".utf8), [], [UInt8](repeating: 0, count: 10_240), picture(1)])
    func `another file is refused`(bytes: [UInt8]) throws {
        try withFolder { folder in
            #expect(throws: CacheError.notAPack(folder.root + "/pack")) { try read(bytes, folder) }
            #expect(throws: CacheError.notAPack(folder.root)) { try read(folder.root) }
            #expect(throws: CacheError.notAPack(folder.root + "/pack")) { try read(archive([("a.txt", [1])]), folder) }
        }
    }

    @Test func `a URL has the cover of its last line, though others have its former one`() throws {
        try withFolder { folder in
            let lines = [(1, 1), (2, 1), (1, 2)].flatMap { number, cover in
                EntryLine(metadata(url(number)), Digest(of: picture(cover)), bytes: picture(cover).count).json
            }
            let covers = (1...2).map { (name(picture($0)), picture($0)) }
            let contents = try read(archive([("entries.jsonl", PackReader.header + lines)] + covers), folder)
            #expect(contents.covers == [url(1): picture(2), url(2): picture(1)] && contents.problems == [])
        }
    }

    @Test func `a pack that is cancelled takes the place of no other`() throws {
        try withFolder { folder in
            try fill(folder)
            let path = folder.root + "/pack"
            try Bytes.write([1], to: path)
            var asked = 0
            var batches = [try folder.reader().entries(byCoverAfter: nil, limit: 100).found]
            var writer = PackWriter(
                try folder.reader(), progress: { _ in },
                isCancelled: {
                    asked += 1
                    return asked > 2
                }, onDamaged: { _ in })
            let summary = try writer.write(to: .file(path), mayBeEmpty: true) { batches.popLast() }
            #expect(summary.isCancelled && summary.covers == 4 && summary.bytes > 0)
            #expect(try Bytes.of(path) == [1])
        }
    }

    @Test func `the sum of a header's bytes may be that of signed ones, as old programs have it`() {
        var block = TarHeader("\u{E9}", length: 5).bytes
        block.replaceSubrange(148..<156, with: repeatElement(UInt8(ascii: " "), count: 8))
        let sum = block.reduce(0) { $0 + Int(Int8(bitPattern: $1)) }
        for (sum, isRead) in [(sum, true), (sum + 512, true), (sum + 256, false)] {
            let digits = String(sum, radix: 8)
            block.replaceSubrange(148..<154, with: (String(repeating: "0", count: 6 - digits.count) + digits).utf8)
            #expect((TarHeader(block)?.length == 5) == isRead, "\(sum)")
        }
    }

    @Test func `a length that has no room in a header is in the records before it`() {
        var header = TarHeader("cover", length: 0)
        for (size, length) in [("700", 700), ("-1", 700), ("x", 700), ("0", 0)] {
            header.apply(["size": size])
            #expect(header.length == length && header.padding == -length & 511)
        }
    }
}
