package import Platform
import SQLite
import Synchronization

/// The reading side of the cache. Synchronous, from any thread. It never writes.
///
/// Each read takes a connection for the time of its SQL statements. Bytes are read and checked with no lock held.
package final class CacheReader: Sendable {
    package enum Lookup: Sendable {
        case hit(CachedEntry, body: [UInt8])
        case miss
        /// The bytes at `offset` of `segment` are not those that were stored. The caller treats it as a miss and drops the entry.
        case damaged(segment: Int, offset: Int)
    }

    /// Unused connections kept open.
    private static let maximumIdle = 4

    private let directory: CacheDirectory
    private let idle: Mutex<[ReadConnection]>
    private let files: Mutex<SegmentFiles>
    private let usage = Mutex(CacheUsage())

    /// - Throws: `CacheError`, or SQLite's error if there is no index; a `CacheWriter` creates it.
    package init(directory: CacheDirectory) throws {
        self.directory = directory
        idle = Mutex([try ReadConnection(directory)])
        files = Mutex(SegmentFiles(directory))
    }

    private func withConnection<Result>(_ body: (ReadConnection) throws -> Result) throws -> Result {
        let connection = try idle.withLock { $0.popLast() } ?? ReadConnection(directory)
        defer { idle.withLock { if $0.count < Self.maximumIdle { $0.append(connection) } } }
        return try body(connection)
    }

    // MARK: Looking up

    /// The entry and its bytes, verified against the checksum they were stored with.
    /// - Parameter counting: whether to count a use, and a hit or a miss.
    package func cover(for key: String, counting: Bool = true) throws -> Lookup {
        let found = try withConnection { try $0.locate(key) }
        guard let found, let body = try body(of: found) else {
            if counting { usage.withLock { $0.misses += 1 } }
            return found.map { .damaged(segment: $0.segment, offset: $0.offset) } ?? .miss
        }
        if counting {
            usage.withLock { usage in
                usage.hits += 1
                usage.uses.append(CacheUsage.Use(blob: found.entry.row.blob, lastUsed: found.entry.lastUsed))
            }
        }
        return .hit(found.entry, body: body)
    }

    /// Returns nil if the bytes are damaged or gone.
    /// - Throws: `CacheError` if they cannot be read, which says nothing about them.
    private func body(of found: ReadConnection.Located) throws -> [UInt8]? {
        let file = try files.withLock { try $0.file(found.segment) }
        let body = try file?.read(at: found.offset + found.bodyStart, length: found.entry.bytes)
        if let body, body.withUnsafeBytes({ Checksum.of($0) }) == found.checksum { return body }
        files.withLock { $0.close(found.segment) }
        return nil
    }

    /// The entry without its bytes; no use is counted.
    package func entry(for key: String) throws -> CachedEntry? { try withConnection { try $0.locate(key)?.entry } }

    /// The file that holds the bytes of `key`, and their offset; nil if there is no entry.
    package func location(of key: String) throws -> (path: String, offset: Int)? {
        try withConnection { try $0.locate(key) }.map { (directory.segment($0.segment), $0.offset + $0.bodyStart) }
    }

    package struct Status: Sendable, Hashable {
        package var digest: Digest
        /// The body's length.
        package var bytes: Int
        /// Milliseconds since 1970; nil if the response states no lifetime.
        package var freshUntil: Int64?
        /// Milliseconds since 1970.
        package var validatedAt: Int64
    }

    /// The status of each key, nil for those without an entry. Their bytes are not read, but their segments must be long enough.
    /// - Parameter counting: whether to count each as a use, and a hit or a miss.
    package func status(of keys: some Collection<String>, counting: Bool = true) throws -> [Status?] {
        var lengths: [Int: Int] = [:]
        func isThere(_ range: FreedRange) -> Bool {
            let length = lengths[range.segment] ?? directory.segmentLength(range.segment)
            lengths[range.segment] = length
            return range.end <= length
        }
        let found = try withConnection { try $0.status(of: keys) }.map { found in
            found.flatMap { isThere($0.record) && $0.reference.map(isThere) ?? true ? $0 : nil }
        }
        if counting {
            let uses = found.compactMap { $0?.use }
            usage.withLock { usage in
                usage.uses += uses
                usage.hits += uses.count
                usage.misses += found.count - uses.count
            }
        }
        return found.map { $0?.status }
    }

    /// Takes the usage collected so far; nil if it covers fewer than `minimum` look-ups.
    package func takeUsage(minimum: Int) -> CacheUsage? {
        usage.withLock { usage in
            guard !usage.isEmpty, usage.count >= minimum else { return nil }
            defer { usage = CacheUsage() }
            return usage
        }
    }

    // MARK: Listing

    /// Visits every entry in the order of storing, in one snapshot.
    package func entries(_ visit: (CachedEntry) throws -> Void) throws {
        _ = try entries(after: .min, through: .max, limit: .max, visit)
    }

    /// The entries that still have these rows, in order.
    package func entries(rows: some Collection<Int64>) throws -> [CachedEntry] {
        try selecting("WHERE e.id = ?") { statement in
            try rows.compactMap { row in try statement.first(.int(row)) { try ReadConnection.entry($0) } ?? nil }
        }
    }

    /// Visits at most `limit` entries in the order of storing, from the row after `start` through row `end`. Each call reads a
    /// snapshot of its own.
    /// - Returns: the last row visited, or `end` if there are no more.
    package func entries(
        after start: Int64, through end: Int64, limit: Int, _ visit: (CachedEntry) throws -> Void
    ) throws -> Int64 {
        try selecting("WHERE e.id > ? AND e.id <= ? ORDER BY e.id LIMIT ?") { statement in
            var (last, count) = (start, 0)
            try statement.each(.int(start), .int(end), .int(limit)) { row in
                (last, count) = (row.int64(12), count + 1)
                if let entry = try ReadConnection.entry(row) { try visit(entry) }
            }
            return count < limit ? end : last
        }
    }

    /// Visits at most `limit` entries in the order of their blobs: entries that share one are neighbours. Each call reads a snapshot of
    /// its own.
    /// - Returns: the row visited last, to continue after; nil if there are no more.
    package func entries(
        byBlobAfter start: EntryRow?, limit: Int, _ visit: (CachedEntry) throws -> Void
    ) throws -> EntryRow? {
        try selecting("WHERE (e.blob, e.id) > (?, ?) ORDER BY e.blob, e.id LIMIT ?") { statement in
            var (last, count) = (start, 0)
            try statement.each(.int(start?.blob ?? .min), .int(start?.id ?? .min), .int(limit)) { row in
                (last, count) = (EntryRow(id: row.int64(12), blob: row.int64(10)), count + 1)
                if let entry = try ReadConnection.entry(row) { try visit(entry) }
            }
            return count < limit ? nil : last
        }
    }

    /// The row of the entry stored last; 0 if there is none.
    package func lastRow() throws -> Int64 {
        try reading { try $0.integer("SELECT max(id) FROM entries") ?? 0 }
    }

    /// The recency clock: the `lastUsed` of the entry used last.
    package func clock() throws -> Int64 { try reading { try IndexState($0).clock } }

    private func selecting<Result>(_ condition: String, _ body: (Statement) throws -> Result) throws -> Result {
        try withConnection { try $0.selecting(condition, body) }
    }

    private func reading<Result>(_ body: (borrowing Connection) throws -> Result) throws -> Result {
        try withConnection { try $0.read(body) }
    }

    // MARK: Hints

    /// The hint for each key at `now`, in milliseconds since 1970; nil where there is none.
    package func hints(_ kind: Hint.Kind, for keys: some Collection<String>, now: Int64) throws -> [Hint?] {
        let keys = Array(keys)
        let none = [Hint?](repeating: nil, count: keys.count)
        if keys.isEmpty { return none }
        return try withHints(default: none) { hints in
            // Most caches have no hints: one look-up then answers for all keys.
            guard try hints.hasAny(kind) else { return none }
            return try keys.map { try hints.hint(kind, for: $0, now: now) }
        }
    }

    /// All hints of a kind at `now`, in milliseconds since 1970.
    package func hints(_ kind: Hint.Kind, now: Int64) throws -> [Hint] {
        try withHints(default: []) { try $0.hints(kind, now: now) }
    }

    /// Returns `missing` if the index has no table of hints: only earlier programs have written to it.
    private func withHints<Result>(
        default missing: Result, _ body: (HintTable) throws -> Result
    ) throws -> Result {
        do {
            return try withConnection { try $0.hints(body) }
        } catch let error as SQLiteError where error.code == .error {
            return missing
        }
    }
}

/// Uses, hits and misses that a reader collects for `CacheWriter.record(_:)`.
package struct CacheUsage: Sendable {
    package struct Use: Sendable {
        var blob: Int64
        /// The recency clock at the previous use.
        var lastUsed: Int64
    }
    package var uses: [Use] = []
    package var hits = 0
    package var misses = 0
    package init() {}

    var count: Int { hits + misses }
    package var isEmpty: Bool { count == 0 }
}
