import Foundation
import Platform
import SQLite
import Testing

@testable import CoverCache

/// What a cover of `picture(_:)`'s length takes, in bytes: two blocks of 4 KiB.
let charge = 8_192

/// An empty directory for one test; `path` below it does not exist yet.
struct CacheFolder: Sendable {
    let root: String
    /// The cache directory.
    var path: String { root + "/cache" }
    var index: String { path + "/index.sqlite3" }
    var log: String { path + "/entries.jsonl" }

    /// The path of a cover's file.
    func file(_ body: [UInt8]) -> String { CoverFolder(path: path + "/covers").path(of: Digest(of: body)) }

    /// The names of all files below `covers`.
    var fileNames: Set<String> { Set(paths("covers").filter { $0.count > 3 }.map { String($0.dropFirst(3)) }) }

    /// The markers of processes that have files without rows.
    var markers: [String] { paths("writing") }

    private func paths(_ name: String) -> [String] {
        (try? FileManager.default.subpathsOfDirectory(atPath: "\(path)/\(name)")) ?? []
    }

    /// Runs `body` with a writer and releases it without closing it, as if its process had died.
    func abandoned<Result>(
        capacity: Int? = nil, notice: @escaping (CacheNotice) -> Void = { _ in }, _ body: (CacheWriter) throws -> Result
    ) throws -> Result {
        let writer = try CacheWriter.open(path, capacity: capacity, notice: notice)
        return try withExtendedLifetime(writer) { try body(writer) }
    }

    /// Runs `body` with a writer and closes it.
    @discardableResult
    func written<Result>(capacity: Int? = nil, _ body: (CacheWriter) throws -> Result) throws -> Result {
        try abandoned(capacity: capacity) { writer in
            let result = try body(writer)
            try writer.close()
            return result
        }
    }

    func reader() throws -> CacheReader { try CacheReader(directory: CacheDirectory(creating: path)) }

    /// Opens the cache again and reads all covers.
    func contents() throws -> [String: [UInt8]] {
        try written { _ in }
        return try reader().contents()
    }

    func defects() throws -> [CacheDefect] { try written { try $0.verify().defects } }

    /// Expects that the cache has these covers and nothing else, neither in its index nor in its folder.
    func expect(
        _ expected: [String: [UInt8]], _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let contents = try contents()
        #expect(contents.keys.sorted() == expected.keys.sorted(), comment, sourceLocation: sourceLocation)
        let areEqual = contents == expected
        #expect(areEqual, comment, sourceLocation: sourceLocation)
        #expect(try defects() == [], comment, sourceLocation: sourceLocation)
        let names = Set(expected.values.map { Digest(of: $0).description })
        #expect(fileNames == names, comment, sourceLocation: sourceLocation)
        #expect(markers == [], comment, sourceLocation: sourceLocation)
    }

    func deleteIndex() throws {
        for suffix in ["", "-wal", "-shm"] where Bytes.exists(index + suffix) { try Bytes.remove(index + suffix) }
    }

    /// Moves the log into the index, so that the index's file is all there is.
    func checkpoint() throws {
        try written { try $0.index.checkpoint(ifLongerThan: 0) }
        try #require(Bytes.length(index + "-wal") == 0)
    }

    /// Changes the index behind the cache's back.
    func execute(_ sql: String) throws { try Connection(index, busyTimeout: .seconds(5)).execute(sql) }

    /// Appends more than a MiB of damaged lines to the log.
    func makeLogLong(_ writer: CacheWriter) throws {
        let junk = Array(String(repeating: String(repeating: "x", count: 1_023) + "\n", count: 1_100).utf8)
        try Bytes.write(try Bytes.of(log) + junk, to: log)
        try writer.index.transaction { $0.state.lines += 1_100 }
    }

    /// Runs `body` with a copy of the cache.
    func copied(_ body: (CacheFolder) throws -> Void) throws {
        try withFolder { copy in
            try FileManager.default.copyItem(atPath: path, toPath: copy.path)
            try body(copy)
        }
    }
}

/// In memory if there is room: the tests sync thousands of times, and none depends on the disk.
private let temporaryDirectory: URL = {
    let memory = "/dev/shm"
    let isLarge = access(memory, W_OK | X_OK) == 0 && (AllocatedSpace.free(at: memory) ?? 0) > 1 << 30
    return isLarge ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
}()

/// Runs `body` with a folder that is removed afterwards.
func withFolder(_ body: (CacheFolder) throws -> Void) throws {
    let root = temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: root) }
    try body(CacheFolder(root: root))
}

/// Pseudorandom bytes, the same for the same seed.
func picture(_ seed: Int, bytes: Int = 5_000) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(seed) &* 1_000_003)
    return [UInt8](unsafeUninitializedCapacity: bytes) { buffer, count in
        for offset in stride(from: 0, to: bytes, by: 8) {
            withUnsafeBytes(of: random.next()) { word in
                for index in 0..<min(8, bytes - offset) { buffer[offset + index] = word[index] }
            }
        }
        count = bytes
    }
}

func url(_ number: Int) -> String { "http://covers.example/\(number).jpg" }

/// The covers of these numbers by their URLs.
func pictures(_ numbers: some Sequence<Int>) -> [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: numbers.map { (url($0), picture($0)) })
}

func metadata(_ key: String, storedAt: Int64 = 1_700_000_000_000) -> EntryMetadata {
    EntryMetadata(key: key, mediaType: "image/jpeg", storedAt: storedAt)
}

extension CacheWriter {
    @discardableResult
    func put(_ key: String, _ body: [UInt8], storedAt: Int64 = 1_700_000_000_000) throws -> Digest {
        try body.withUnsafeBytes { try put(metadata(key, storedAt: storedAt), body: $0) }
    }

    /// Puts a cover and commits it.
    @discardableResult
    func store(_ key: String, _ body: [UInt8], storedAt: Int64 = 1_700_000_000_000) throws -> [PutOutcome] {
        try put(key, body, storedAt: storedAt)
        return try commit()
    }

    func statistics() throws -> CacheStatistics { try CacheStatistics(index.connection, directory) }

    func verify(progress: (Int, Int) -> Void = { _, _ in }) throws -> CacheVerification {
        try CacheReader(directory: directory).verify(progress: progress).report
    }

    func repair(progress: (Int, Int) -> Void = { _, _ in }) throws -> CacheVerification {
        var found = try CacheReader(directory: directory).verify(progress: progress)
        while !found.isMended { try mend(&found) }
        return found.report
    }

    /// Stores the covers of these numbers together.
    func fill(_ numbers: some Sequence<Int>) throws {
        for number in numbers { try put(url(number), picture(number)) }
        _ = try commit()
    }
}

extension CacheReader {
    /// The bytes at `key` if it is a hit.
    func bytes(_ key: String) throws -> [UInt8]? {
        if case .hit(_, let body) = try cover(for: key) { body } else { nil }
    }

    func isDamaged(_ key: String) throws -> Bool {
        if case .damaged = try cover(for: key) { true } else { false }
    }

    func keys() throws -> [String] {
        var keys: [String] = []
        try entries { keys.append($0.metadata.key) }
        return keys
    }

    func contents() throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for key in try keys() { contents[key] = try bytes(key) }
        return contents
    }
}

/// A file's bytes, read and changed behind the cache's back.
enum Bytes {
    static func of(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    static func text(_ path: String) throws -> String { String(decoding: try of(path), as: UTF8.self) }

    /// Foundation would sync the file.
    static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        // An eviction removes empty folders.
        mkdir(FilePath.directory(of: path), 0o700)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        try #require(Array(bytes).withUnsafeBytes { writeAll($0, to: descriptor) })
    }

    /// Changes the file in place.
    static func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: bytes)
    }

    /// Flips one bit of the byte at `offset`.
    static func flip(_ path: String, at offset: Int, bit: Int = 4) throws {
        try overwrite(path, at: offset, with: [try of(path)[offset] ^ UInt8(1 << bit)])
    }

    static func truncate(_ path: String, to length: Int) throws { try write(try of(path).prefix(length), to: path) }
    static func length(_ path: String) -> Int { AllocatedSpace.length(of: path) }
    /// Disk space of the file in bytes.
    static func allocated(_ path: String) -> Int { AllocatedSpace.bytes(of: path) }
    static func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }
    static func move(_ path: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: path, toPath: other)
    }
    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}

extension Connection {
    /// A column of all rows.
    borrowing func texts(_ sql: String, column: Int32 = 0) throws -> [String] {
        var texts: [String] = []
        try statement(sql).each { texts.append($0.text(column)) }
        return texts
    }
}
