import Foundation
import Platform
import SQLite

@testable import CoverCache

/// An empty directory for one test; `path` below it does not exist yet.
struct CacheFolder: Sendable {
    let root: String
    /// The cache directory.
    var path: String { root + "/cache" }
    var index: String { path + "/index.sqlite3" }

    func segment(_ number: Int) -> String { path + "/segments/" + String(format: "%010d.seg", number) }

    /// Names in the segment folder, sorted.
    var segmentNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path + "/segments")) ?? []).sorted()
    }

    /// Runs `body` with a writer and releases it without closing it, as if its process had died.
    func abandoned<Result>(capacity: Int? = nil, _ body: (CacheWriter) throws -> Result) throws -> Result {
        let writer = try CacheWriter(directory: path, capacity: capacity)
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

    func defects() throws -> [Defect] { try written { try $0.verify().defects } }

    /// Runs `body` and then puts the index back as it was before: power loss undoes commits that were not synced.
    func undoing(_ body: () throws -> Void) throws {
        try written { try $0.checkpoint() }
        let before = try Bytes.of(index)
        try body()
        try deleteIndex()
        try Bytes.write(before, to: index)
    }

    func deleteIndex() throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: index + suffix) {
            try FileManager.default.removeItem(atPath: index + suffix)
        }
    }
}

/// Runs `body` with a folder that is removed afterwards.
func withFolder(_ body: (CacheFolder) throws -> Void) throws {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: root) }
    try body(CacheFolder(root: root))
}

/// Pseudorandom bytes, the same for the same seed.
func picture(_ seed: Int, bytes: Int = 5_000) -> [UInt8] {
    var random = Randomness(seed: UInt64(seed))
    return (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next() >> 24) }
}

/// SplitMix64.
struct Randomness: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

func url(_ number: Int) -> String { "http://covers.example/\(number).jpg" }

extension CacheWriter {
    @discardableResult
    func put(_ key: String, _ body: [UInt8], storedAt: Int64 = 1_700_000_000_000) throws -> Digest {
        let metadata = EntryMetadata(key: key, mediaType: "image/jpeg", storedAt: storedAt)
        return try body.withUnsafeBytes { try put(metadata, body: $0) }
    }

    /// Puts a cover and commits it.
    @discardableResult
    func store(_ key: String, _ body: [UInt8], storedAt: Int64 = 1_700_000_000_000) throws -> [PutOutcome] {
        try put(key, body, storedAt: storedAt)
        return try commit()
    }
}

extension Connection {
    /// A column of all rows.
    borrowing func texts(_ sql: String, column: Int32 = 0) throws -> [String] {
        var texts: [String] = []
        try statement(sql).each { texts.append($0.text(column)) }
        return texts
    }
}

extension CacheReader {
    /// The bytes at `key` if it is a hit.
    func bytes(_ key: String) throws -> [UInt8]? {
        if case .hit(_, let body) = try cover(for: key) { body } else { nil }
    }

    func entry(_ key: String) throws -> CachedEntry? {
        if case .hit(let entry, _) = try cover(for: key) { entry } else { nil }
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

    static func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// The offset of `needle` in the file.
    static func find(_ needle: [UInt8], in path: String) throws -> Int? {
        try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data(needle))?.lowerBound
    }

    /// Changes the file in place.
    static func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: bytes)
    }

    /// Flips one bit of the byte at `offset`.
    static func flip(_ path: String, at offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(offset))
        let byte = try file.read(upToCount: 1)?.first ?? 0
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte ^ 0x10])
    }

    static func truncate(_ path: String, to length: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.truncate(atOffset: UInt64(length))
    }

    static func length(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
    }

    /// Disk space of the file in bytes.
    static func allocated(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }

    static func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}
