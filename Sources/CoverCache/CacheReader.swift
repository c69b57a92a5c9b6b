import GRDB
import Synchronization

/// An entry as the index knows it.
package struct CachedEntry: Sendable, Hashable {
    package var metadata: EntryMetadata
    package var digest: Digest
    /// Length of the body.
    package var bytes: Int
    /// Milliseconds since 1970.
    package var validatedAt: Int64
    package var isPinned: Bool
    /// The recency clock when it was last used.
    package var lastUsed: Int64
    package var row: EntryRow
}

/// Names a row of the index as it was when it was read.
package struct EntryRow: Sendable, Hashable {
    package let id: Int64
    let blob: Int64
}

/// Uses gathered while reading, for `CacheWriter.note`.
package struct CacheUsage: Sendable {
    package struct Use: Sendable {
        var blob: Int64
        /// The recency clock when it was used before.
        var lastUsed: Int64
    }
    package var touched: [Use] = []
    package var hits = 0
    package var misses = 0
    package var isEmpty: Bool { hits + misses == 0 }
    package init() {}
}

/// The reading side of the cache: from any thread, synchronous, and writing nothing.
// because: everything mutable is touched with `lock` held.
package final class CacheReader: @unchecked Sendable {
    package enum Found: Sendable {
        case hit(CachedEntry, body: [UInt8])
        case miss
        /// The bytes are not those that were stored. A miss; the entry should be dropped from `segment` at `offset`.
        case damaged(segment: Int, offset: Int)
    }

    /// Guards the connection as well: GRDB's own queue takes as long to get in and out of as SQLite takes to find a row.
    private let lock = Mutex(())
    private let queue: DatabaseQueue
    private let directory: CacheDirectory
    private let index: UInt64
    private var entryTags: TagTable
    private let lookUp: FastStatement
    private let briefLookUp: FastStatement
    let memory: MemoryTable
    private var files: SegmentFiles
    private var usage = CacheUsage()
    /// How many uses `usage` holds; to be asked without waiting for a reader.
    private let uses = Atomic<Int>(0)

    /// - Throws: `CacheError`, or SQLite's error when there is no index: a `CacheWriter` makes one.
    package init(directory: CacheDirectory) throws {
        queue = try IndexFile.openForReading(directory)
        (index, lookUp, briefLookUp, memory) = try queue.unsafeRead { database in
            let lookUp = FastStatement(database, Self.lookUpSQL)
            // GRDB prepares on its queue only.
            try lookUp.prepare()
            return (
                try IndexTags.number(database), lookUp, FastStatement(database, Self.briefSQL), MemoryTable(database)
            )
        }
        self.directory = directory
        entryTags = try Self.entryTags(directory, index)
        files = SegmentFiles(directory)
    }

    private static func entryTags(_ directory: CacheDirectory, _ index: UInt64) throws -> TagTable {
        guard let table = TagTable(path: directory.entryTags, index: index, writable: false) else {
            throw CacheError.index("\(directory.entryTags) is missing or of another index")
        }
        return table
    }

    private func find<Result>(_ key: String, _ statement: FastStatement, _ read: (FastRow) -> Result) throws -> Result?
    {
        if entryTags.isReplaced { entryTags = try Self.entryTags(directory, index) }
        return try entryTags.find(Index.tag(key)) { try statement.first(.int($0), .text(key), read: read) }
    }

    /// The entry and its bytes, verified against the checksum they were stored with.
    /// - Parameter counting: whether to count it as a use, and as a hit or a miss.
    package func cover(for key: String, counting: Bool = true) throws -> Found {
        try lock.withLock { _ in
            let found = try find(key, lookUp) { Self.located($0, key: key) }
            guard let found, let entry = found.entry else {
                if counting { count { $0.misses += 1 } }
                return .miss
            }
            let body = files.read(found.segment, offset: found.offset + found.bodyStart, length: entry.bytes)
            guard let body, body.withUnsafeBytes({ Checksum.of($0) }) == found.checksum else {
                files.forget(found.segment)
                if counting { count { $0.misses += 1 } }
                return .damaged(segment: found.segment, offset: found.offset)
            }
            if counting {
                count { $0.hits += 1 }
                usage.touched.append(.init(blob: found.blob, lastUsed: found.lastUsed))
            }
            return .hit(entry, body: body)
        }
    }

    /// The entry without its bytes; no use is counted.
    package func entry(for key: String) throws -> CachedEntry? {
        try lock.withLock { _ in try find(key, lookUp) { Self.located($0, key: key).entry } ?? nil }
    }

    /// The file that holds the bytes of `key`, and where in it they begin; nil when there is no entry.
    package func place(of key: String) throws -> (file: String, offset: Int)? {
        try lock.withLock { _ in
            try find(key, lookUp) { Self.located($0, key: key) }
                .map { (directory.segment($0.segment), $0.offset + $0.bodyStart) }
        }
    }

    package struct Status: Sendable, Hashable {
        package var digest: Digest
        package var bytes: Int
        /// In milliseconds since 1970; nil: its server has not said.
        package var freshUntil: Int64?
    }

    /// Whether each key has an entry, without reading its bytes.
    /// - Parameter counting: whether each answer counts as a use, a hit or a miss.
    package func status(of keys: some Collection<String>, counting: Bool = true) throws -> [Status?] {
        // One transaction: the snapshot is taken once rather than for every key.
        try reading { _ in
            try keys.map { key in
                let found = try find(key, briefLookUp) { row in
                    if counting { usage.touched.append(.init(blob: row.int64(0), lastUsed: row.int64(3))) }
                    return row.digest(1).map {
                        Status(digest: $0, bytes: row.int(2), freshUntil: row.optionalInt64(4))
                    }
                }
                if counting { count { if found == nil { $0.misses += 1 } else { $0.hits += 1 } } }
                return found ?? nil
            }
        }
    }

    func reading<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try lock.withLock { _ in try queue.read(body) }
    }

    private func count(_ change: (inout CacheUsage) -> Void) {
        change(&usage)
        uses.wrappingAdd(1, ordering: .relaxed)
    }

    /// Takes the uses gathered so far. Nil when they are fewer than `least`.
    package func takeUsage(ofAtLeast least: Int) -> CacheUsage? {
        guard uses.load(ordering: .relaxed) >= least else { return nil }
        return lock.withLock { _ in
            defer { usage = CacheUsage() }
            uses.store(0, ordering: .relaxed)
            return usage.isEmpty ? nil : usage
        }
    }

    /// Every entry in the order of storing.
    package func entries(_ visit: (CachedEntry) throws -> Void) throws {
        _ = try entries(after: .min, through: .max, limit: .max, visit)
    }

    /// The recency clock: what was used last has this time.
    package func clock() throws -> Int64 { try reading { try IndexState($0).clock } }

    /// The entries that still have these rows, in order.
    package func entries(rows: some Collection<Int64>) throws -> [CachedEntry] {
        try reading { database in
            let one = FastStatement(database, Self.entrySQL + " WHERE e.id = ?")
            return try rows.compactMap { id in try one.first(.int(id)) { Self.entry($0) } ?? nil }
        }
    }

    /// Visits at most `limit` entries in the order of storing, from behind row `start` to row `end`. Nothing is held meanwhile:
    /// what is written between two calls is seen by the second.
    /// - Returns: the row of the last one; `end`: there are no more.
    package func entries(
        after start: Int64, through end: Int64, limit: Int, _ visit: (CachedEntry) throws -> Void
    ) throws -> Int64 {
        try reading { database in
            let some = FastStatement(database, Self.entrySQL + " WHERE e.id > ? AND e.id <= ? ORDER BY e.id LIMIT ?")
            var (last, count) = (start, 0)
            try some.each(.int(start), .int(end), .int(limit)) { row in
                (last, count) = (row.int64(13), count + 1)
                if let entry = Self.entry(row) { try visit(entry) }
            }
            return count < limit ? end : last
        }
    }

    /// The row of the entry stored last; 0: there is none.
    package func lastRow() throws -> Int64 {
        try reading { try FastStatement($0, "SELECT max(id) FROM entries").first { $0.int64(0) } ?? 0 }
    }

    private static let columns = """
        e.url, b.type, b.width, b.height, e.stored, e.fresh, e.fields, b.digest, b.length, e.validated, b.pinned, b.id, b.used, e.id
        """
    private static let tables = " FROM entries e JOIN blobs b ON b.id = e.blob"
    private static let entrySQL = "SELECT " + columns + tables
    private static let briefSQL =
        "SELECT b.id, b.digest, b.length, b.used, e.fresh" + tables + " WHERE e.id = ? AND e.url = ?"
    private static let lookUpSQL =
        "SELECT " + columns + ", b.segment, b.offset, b.body, b.checksum" + tables + " WHERE e.id = ? AND e.url = ?"

    private struct Located {
        var entry: CachedEntry?
        var blob: Int64
        var segment: Int
        var offset: Int
        var bodyStart: Int
        var checksum: UInt64
        var lastUsed: Int64
    }

    /// - Parameter key: the entry's, which is known already.
    private static func located(_ row: FastRow, key: String) -> Located {
        Located(
            entry: entry(row, key: key), blob: row.int64(11), segment: row.int(14), offset: row.int(15),
            bodyStart: row.int(16), checksum: UInt64(bitPattern: row.int64(17)), lastUsed: row.int64(12))
    }

    /// Nil: its digest is none. - Parameter key: the entry's, when it is known already.
    private static func entry(_ row: FastRow, key: String? = nil) -> CachedEntry? {
        guard let digest = row.digest(7) else { return nil }
        let metadata = EntryMetadata(
            key: key ?? row.text(0), mediaType: row.text(1), width: row.optionalInt(2), height: row.optionalInt(3),
            storedAt: row.int64(4), freshUntil: row.optionalInt64(5), fields: row.text(6))
        return CachedEntry(
            metadata: metadata, digest: digest, bytes: row.int(8), validatedAt: row.int64(9),
            isPinned: row.int(10) != 0,
            lastUsed: row.int64(12), row: EntryRow(id: row.int64(13), blob: row.int64(11)))
    }
}
