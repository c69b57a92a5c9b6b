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
        /// The cover's file is missing or has other bytes, or the entry's row is not what was written. The caller treats it as a miss and
        /// drops the entry.
        /// - Parameter key: of the entry.
        case damaged(key: String)

        package var hit: (entry: CachedEntry, body: [UInt8])? {
            if case .hit(let entry, let body) = self { (entry, body) } else { nil }
        }
    }

    /// Unused connections kept open.
    private static let maximumIdle = 4

    package let directory: CacheDirectory
    private let covers: CoverFolder
    private let index: Mutex<(number: UInt64, idle: [ReadConnection], isClosed: Bool)>
    private let didReplace: @Sendable () -> Void
    private let usage = Mutex(CacheUsage())

    /// - Parameter didReplace: called when another process has replaced the index, before the new one is read.
    /// - Throws: `CacheError`, or SQLite's error if there is no index; a `CacheWriter` creates it.
    package init(directory: CacheDirectory, didReplace: @escaping @Sendable () -> Void = {}) throws {
        (self.directory, self.didReplace) = (directory, didReplace)
        let number = directory.indexNumber
        index = Mutex((number, [try ReadConnection(directory)], false))
        covers = directory.covers
    }

    /// - Parameter isNew: A new connection, which has read nothing yet.
    private func withConnection<Result>(
        new isNew: Bool = false, _ body: (ReadConnection) throws -> Result
    ) throws -> Result {
        if reopen() { didReplace() }
        let (number, idle) = index.withLock { ($0.number, isNew ? nil : $0.idle.popLast()) }
        let connection = try idle ?? ReadConnection(directory)
        defer {
            index.withLock { index in
                if index.number != number {
                    connection.leave(directory)
                } else if index.idle.count < Self.maximumIdle, !index.isClosed {
                    index.idle.append(connection)
                }
            }
        }
        return try body(connection)
    }

    /// Keeps no file of the cache open from now on.
    package func close() {
        index.withLock { ($0.idle, $0.isClosed) = ([], true) }
    }

    /// From now on, reads the index that is there. One that was removed is read on until there is a new one.
    /// - Returns: whether it is another one than before.
    @discardableResult
    package func reopen() -> Bool {
        let number = directory.indexNumber
        return index.withLock { index in
            if number == index.number || number == 0 { return false }
            for connection in index.idle { connection.leave(directory) }
            // Another process has created it while this one opened it.
            let isFirst = index.number == 0
            (index.number, index.idle) = (number, [])
            return !isFirst
        }
    }

    // MARK: Looking up

    /// The entry and its bytes, verified against their digest. Counts a use, and a hit or a miss.
    package func cover(for key: String) throws -> Lookup {
        let found = try withConnection { try $0.locate(key) }
        if case .entry(let entry) = found, let body = try covers.read(entry.digest, length: entry.bytes) {
            note(entry)
            return .hit(entry, body: body)
        }
        usage.withLock { $0.misses += 1 }
        if case .missing = found { return .miss }
        return .damaged(key: key)
    }

    /// A cover by its digest, with one of its entries.
    /// - Parameter counting: whether to count a use.
    package func cover(digest: Digest, counting: Bool = true) throws -> Lookup {
        guard let entry = try withConnection({ try $0.locate(digest) }) else { return .miss }
        guard let body = try covers.read(digest, length: entry.bytes) else {
            return .damaged(key: entry.metadata.key)
        }
        if counting { note(entry) }
        return .hit(entry, body: body)
    }

    /// An entry of a cover, by the cover's digest, without its bytes. Counts as a use.
    package func entry(digest: Digest) throws -> CachedEntry? {
        let entry = try withConnection { try $0.locate(digest) }
        if let entry { note(entry) }
        return entry
    }

    /// The keys of all entries of a cover, by the cover's digest, in the order of storing. Counts as no use.
    package func keys(of digest: Digest) throws -> [String] {
        try entries(
            "WHERE c.tag = ? AND c.digest = ? ORDER BY e.id LIMIT ?", .int(digest.tag), .digest(digest), .int(Int.max)
        ).found.map(\.metadata.key)
    }

    /// A cover in a smaller size, without the cover's own bytes.
    /// - Parameter counting: whether to count a use if the size is kept.
    /// - Returns: nil if there is no such cover; without bytes if the size has to be made.
    package func size(
        _ digest: Digest, _ longestSide: Int, counting: Bool = true
    ) throws -> (entry: CachedEntry, bytes: [UInt8]?)? {
        guard let entry = try withConnection({ try $0.locate(digest) }) else { return nil }
        let bytes = directory.sizes.read(digest, longestSide)
        if counting, bytes != nil { usage.withLock { $0.add(entry) } }
        return (entry, bytes)
    }

    /// The path of a size's file; nil if there is none.
    package func path(of digest: Digest, _ longestSide: Int) -> String? {
        let step = directory.sizes.step(longestSide)
        return step.exists(digest) ? step.path(of: digest) : nil
    }

    private func note(_ entry: CachedEntry) {
        usage.withLock { usage in
            usage.hits += 1
            usage.add(entry)
        }
    }

    /// The entry without its bytes. Counts as no use.
    package func entry(for key: String) throws -> CachedEntry? {
        guard case .entry(let entry) = try withConnection({ try $0.locate(key) }) else { return nil }
        return entry
    }

    /// Whether an entry's cover has a file. Its bytes are not read.
    package func hasFile(_ entry: CachedEntry) -> Bool { covers.exists(entry.digest) }

    /// The path of a cover's file.
    package func path(of digest: Digest) -> String { covers.path(of: digest) }

    package struct Status: Sendable {
        package var digest: Digest
        /// The body's length.
        package var bytes: Int
        /// Milliseconds since 1970; nil if the response states no lifetime.
        package var freshUntil: Int64?
        /// Milliseconds since 1970.
        package var validatedAt: Int64
        /// The dominant colour: red, green and blue, 8 bits each; nil before a size was made.
        package var color: UInt32?
        /// As in `CacheUsage`.
        let use: (cover: Int64, lastUsed: Int)
    }

    /// The status of each key in one snapshot, nil for those without an entry. The covers' bytes are not read, but their files must be
    /// there.
    /// - Parameter counting: whether to count each as a use, and a hit or a miss.
    package func status(of keys: some Collection<String>, counting: Bool = true) throws -> [Status?] {
        let rows = try withConnection { connection in
            try connection.read { _ in try keys.map { try connection.status(of: $0) } }
        }
        let found = rows.map { $0.flatMap { covers.has($0.digest, length: $0.bytes) ? $0 : nil } }
        if counting {
            let uses = found.compactMap { $0?.use }
            usage.withLock { usage in
                usage.uses += uses
                usage.hits += uses.count
                usage.misses += found.count - uses.count
            }
        }
        return found
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

    /// Entries that are read in one snapshot. One that is kept for long would keep the index's log from being shortened.
    private static let slice = 1_000

    /// Visits every entry in the order of storing, without those that are stored meanwhile.
    package func entries(_ visit: (CachedEntry) throws -> Void) throws {
        let end = try lastRow()
        var last = Int64.min
        while last < end {
            let found: [CachedEntry]
            (found, last) = try entries(after: last, through: end, limit: Self.slice)
            for entry in found { try visit(entry) }
        }
    }

    /// The entries that still have these rows, in order.
    package func entries(rows: some Collection<Int64>) throws -> [CachedEntry] {
        try selecting("WHERE e.id = ?") { statement in
            try rows.compactMap { row in try statement.first(.int(row)) { try EntrySelection.entry($0) } ?? nil }
        }
    }

    /// Reads at most `limit` entries in one snapshot, in the order of storing, from the row after `start` through row `end`.
    /// - Returns: the last row as well, or `end` if there are no more.
    package func entries(
        after start: Int64, through end: Int64, limit: Int
    ) throws -> (found: [CachedEntry], last: Int64) {
        let (found, last) = try entries(
            "WHERE e.id > ? AND e.id <= ? ORDER BY e.id LIMIT ?", .int(start), .int(end), .int(limit))
        return (found, last.count < limit ? end : last.row?.id ?? end)
    }

    /// Reads at most `limit` entries in one snapshot, in the order of their covers: entries that share one are neighbours.
    /// - Returns: the last row as well, to continue after; nil if there are no more.
    package func entries(
        byCoverAfter start: EntryRow?, limit: Int
    ) throws -> (found: [CachedEntry], last: EntryRow?) {
        let (found, last) = try entries(
            "WHERE (e.cover, e.id) > (?, ?) ORDER BY e.cover, e.id LIMIT ?", .int(start?.cover ?? .min),
            .int(start?.id ?? .min), .int(limit))
        return (found, last.count < limit ? nil : last.row)
    }

    /// The entries that a condition selects, without those whose rows are damaged, and the last row with the number of all.
    private func entries(
        _ condition: String, _ first: SQLValue, _ second: SQLValue, _ third: SQLValue
    ) throws -> (found: [CachedEntry], last: (row: EntryRow?, count: Int)) {
        try selecting(condition) { statement in
            var found: [CachedEntry] = []
            var last: (row: EntryRow?, count: Int) = (nil, 0)
            try statement.each(first, second, third) { row in
                let id = row.int64(EntrySelection.entryColumn)
                last = (EntryRow(id: id, cover: row.int64(EntrySelection.coverColumn)), last.count + 1)
                if let entry = try EntrySelection.entry(row) { found.append(entry) }
            }
            return (found, last)
        }
    }

    /// Reads what shows that an index is complete, and not damaged as a whole.
    /// - Returns: its capacity, in bytes; nil if it is not complete.
    package func check() throws -> Int? {
        try reading { connection in
            _ = try connection.integer("SELECT max(id) FROM covers")
            return try IndexState(connection).capacity
        }
    }

    package func totals() throws -> CacheStatistics { try reading { CacheStatistics(try IndexState($0)) } }

    package func statistics() throws -> CacheStatistics { try reading { try CacheStatistics($0, directory) } }

    /// The row of the entry stored last; 0 if there is none.
    package func lastRow() throws -> Int64 {
        try reading { try $0.integer("SELECT max(id) FROM entries") ?? 0 }
    }

    /// The recency clock: the `lastUsed` of the entry used last.
    package func clock() throws -> Int { try reading { try IndexState($0).clock } }

    /// Calls `body` with a statement that selects entries, in one snapshot.
    private func selecting<Result>(_ condition: String, _ body: (Statement) throws -> Result) throws -> Result {
        try reading { try body($0.statement("\(EntrySelection.sql) \(condition)")) }
    }

    private func reading<Result>(_ body: (borrowing Connection) throws -> Result) throws -> Result {
        try withConnection { try $0.read(body) }
    }

    /// What evicting to at most `bytes` would evict, if the writer spares nothing.
    package func evictable(to bytes: Int) throws -> EvictionSummary {
        try reading { connection in
            let state = try IndexState(connection)
            var (count, charged, sizes) = (0, state.charged, state.sizes)
            for cover in try IndexTable(connection).leastRecentlyUsed(.max, usedUpTo: .max) where charged > bytes {
                let own = sizes > 0 ? min(sizes, directory.sizes.charge(of: cover.digest)) : 0
                (count, charged, sizes) = (count + 1, charged - cover.charge - own, sizes - own)
            }
            if charged > bytes { charged -= sizes }
            return EvictionSummary(covers: count, bytes: state.charged - charged)
        }
    }

    /// Compares every cover with its digest, and checks the index.
    /// - Parameters:
    ///   - isCancelled: asked again and again. Once it is true, the rest is left out.
    ///   - progress: called with the number of covers checked, this one included, and the number of all.
    package func verify(
        isCancelled: @escaping () -> Bool = { false }, progress: (Int, Int) -> Void = { _, _ in }
    ) throws -> VerificationFindings {
        var found = VerificationFindings()
        found.index = directory.indexNumber
        do {
            // Pages that another one has in memory may have rotted on the disk.
            try withConnection(new: true) { reading in
                try Verification(directory, reading.connection, isCancelled: isCancelled)
                    .run(on: reading.connection, &found, progress: progress)
            }
        } catch let error as SQLiteError where error.isCorruption {
            found.report.add(corruption: error.message, at: directory.index)
        }
        return found
    }

    // MARK: Hints

    /// The hint for each key at `now`, in milliseconds since 1970; nil where there is none.
    package func hints(_ kind: Hint.Kind, for keys: some Collection<String>, now: Int64) throws -> [Hint?] {
        let keys = Array(keys)
        if keys.isEmpty { return [] }
        return try withConnection { connection in
            try connection.read { _ in
                // Most caches have no hints: one look-up then answers for all keys.
                guard try connection.hints.hasAny(kind) else { return [Hint?](repeating: nil, count: keys.count) }
                return try keys.map { try connection.hints.hint(kind, for: $0, now: now) }
            }
        }
    }

    /// All hints of a kind at `now`, in milliseconds since 1970.
    package func hints(_ kind: Hint.Kind, now: Int64) throws -> [Hint] {
        try withConnection { connection in try connection.read { _ in try connection.hints.hints(kind, now: now) } }
    }
}

/// A reader's connection to the index, with the statements that look entries up.
// because: `CacheReader` lends it to one thread at a time.
final class ReadConnection: @unchecked Sendable {
    let connection: Connection
    private let byKey, byDigest, status: Statement
    let hints: HintTable
    /// The inode of the index's shared memory.
    private let memoryNumber: UInt64

    init(_ directory: CacheDirectory) throws {
        connection = try directory.usingReserve { try IndexFile.openForReading(directory) }
        memoryNumber = directory.memoryNumber
        byKey = connection.statement(EntrySelection.sql + " WHERE e.tag = ? AND e.url = ?")
        byDigest = connection.statement(EntrySelection.sql + " WHERE c.tag = ? AND c.digest = ? LIMIT 1")
        status = connection.statement(
            """
            SELECT c.id, c.digest, c.length, c.used, e.fresh, e.validated, e.seal, c.color
            FROM entries e JOIN covers c ON c.id = e.cover WHERE e.tag = ? AND e.url = ?
            """)
        hints = HintTable(connection)
    }

    /// Call it before the connection's end if another process has replaced the index.
    func leave(_ directory: CacheDirectory) { if directory.memoryNumber == memoryNumber { connection.leaveOpen() } }

    /// Reads one snapshot of the index.
    func read<Result>(_ body: (borrowing Connection) throws -> Result) throws -> Result {
        try connection.transaction(.deferred) { try body(connection) }
    }

    // MARK: Looking up

    /// The result of a look-up in the index.
    enum Located {
        case entry(CachedEntry)
        /// The row is not what was written.
        case damaged
        case missing
    }

    func locate(_ key: String) throws -> Located {
        let found = try byKey.first(.int(IndexTable.tag(key)), .text(key)) { try EntrySelection.entry($0, key: key) }
        guard let found else { return .missing }
        return found.map { .entry($0) } ?? .damaged
    }

    /// An entry of the cover with this digest; nil if there is none.
    func locate(_ digest: Digest) throws -> CachedEntry? {
        try byDigest.first(.int(digest.tag), .digest(digest)) { try EntrySelection.entry($0) } ?? nil
    }

    func status(of key: String) throws -> CacheReader.Status? {
        try status.first(.int(IndexTable.tag(key)), .text(key)) { row in
            guard let digest = row.digest(1), row.int64(6) == EntryLine.seal(key, digest) else { return nil }
            return CacheReader.Status(
                digest: digest, bytes: try row.size(2), freshUntil: row.optionalTime(4), validatedAt: row.time(5),
                color: row.optionalInt64(7).map { UInt32(truncatingIfNeeded: $0) },
                use: (row.int64(0), row.int(3)))
        } ?? nil
    }
}
