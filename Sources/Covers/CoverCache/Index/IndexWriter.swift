import Platform
import SQLite

/// The writing connection to the index. Every change runs under the writer's lock, which the cache's processes share; the files of
/// covers that it removes are unlinked before the lock is released.
///
/// The lock also excludes what corrupts a WAL in SQLite up to 3.51.2: one connection that writes while another checkpoints.
final class IndexWriter {
    /// The log is checkpointed at this length, in bytes. The next process to open the cache reads it, in about 50 ms at this length.
    private static let maximumLogLength = 32 << 20
    static let longLogLength = 1 << 20
    static let defaultCapacity = 10 << 30
    /// What every cache takes beside its covers does not count towards the capacity, in bytes.
    private static let allowance = 4 << 20
    /// Pages that one transaction gives back to the file system.
    private static let vacuumSlice = 1_000

    let directory: CacheDirectory
    private var open: OpenIndex
    var connection: Connection { _read { yield open.connection } }
    var number: UInt64 { open.number }
    var table: IndexTable { _read { yield open.table } }
    var pins: PinTable { _read { yield open.pins } }
    var hints: HintTable { _read { yield open.hints } }
    var replacements: ReplacementTable { _read { yield open.replacements } }
    let lock: FileLock
    let log: EntryLog
    let marker: WritingMarker
    /// The capacity of a new index, in bytes; nil for the one that the entry log states.
    private let wanted: Int?
    /// Called before the entries are read from the log.
    private let willRebuild: () -> Void
    /// As of the last transaction.
    private(set) var state: IndexState
    /// No cover of the opening has a higher row.
    private(set) var lastOldCover: Int64
    /// Covers that were stored since the opening, and that this process has evicted.
    private(set) var evictedNewCovers = 0
    /// Bytes on the disk of everything but the covers and the index's log; nil until they are measured.
    private var overhead: Int?
    /// Called with the covers of which no row is left, once that is durable.
    var onRemoval: ([Digest]) -> Void = { _ in }
    /// Lines were appended to the entry log and not synced.
    private var hasUnsyncedLines = false

    /// Opens the index. One that is corrupt is set aside, and rebuilt.
    init(_ directory: CacheDirectory, capacity wanted: Int?, willRebuild: @escaping () -> Void) throws {
        (self.directory, self.wanted, self.willRebuild) = (directory, wanted, willRebuild)
        let lock: FileLock
        do { lock = try FileLock(path: directory.lock) } catch { throw CacheError(error) }
        marker = try WritingMarker(directory.writing)
        open = try lock.withLock { try OpenIndex(directory) }
        self.lock = lock
        log = EntryLog(path: directory.log)
        state = try IndexState(open.connection)
        lastOldCover = try open.connection.integer("SELECT max(id) FROM covers") ?? 0
        if state.capacity == nil { try complete(wanted) }
    }

    /// Opens the index again if another process has set it aside, replaced it or removed the whole cache, which is created again then.
    /// - Returns: whether it was.
    @discardableResult
    func reopenIfReplaced() throws -> Bool {
        if directory.indexNumber == number { return false }
        let former = state.capacity
        _ = try CacheDirectory(creating: directory.path, isKnown: true)
        try marker.reopen()
        let new = try lock.withLock { try OpenIndex(directory) }
        state = try IndexState(new.connection)
        lastOldCover = try new.connection.integer("SELECT max(id) FROM covers") ?? 0
        if new.memoryNumber == open.memoryNumber { connection.leaveOpen() }
        open = new
        overhead = nil
        if state.capacity == nil { try complete(former ?? wanted) }
        return true
    }

    /// In bytes. The cache does not grow past it. Another process may change it; each transaction reads it.
    var capacity: Int { state.capacity ?? 0 }
    /// The part of the capacity that is left for covers, in bytes.
    var room: Int { room(of: state) }
    /// Everything else counts, too, beyond an allowance, with the longest log. A little is left for covers in any case: some must go before
    /// the index can get shorter.
    func room(of state: IndexState) -> Int {
        let capacity = state.capacity ?? 0
        let overhead = self.overhead ?? directory.overhead
        self.overhead = overhead
        return max(capacity / 16, capacity - max(0, overhead + Self.logLimit(of: capacity) - Self.allowance))
    }

    // MARK: Transactions

    /// Runs one transaction under the writer's lock, durable when this returns, and unlinks the files of the covers that it removed. An index
    /// that another process has replaced, which may happen while this one waits for the lock, is opened before.
    ///
    /// It writes even if only files are removed. A process that is killed within its commit leaves rows in the index's log that no process
    /// sees until one reads the whole log, and they may name these files; any write replaces them for good.
    func transaction<Result>(_ body: (inout IndexChanges) throws -> Result) throws -> Result {
        while true {
            try reopenIfReplaced()
            let result: Result? = try lock.withLock {
                directory.indexNumber == number ? try locked(body) : nil
            }
            if let result { return result }
        }
    }

    private func locked<Result>(_ body: (inout IndexChanges) throws -> Result) throws -> Result {
        var hasMarker = false
        defer { if hasMarker { marker.end() } }
        let (result, changes): (Result, IndexChanges)
        do {
            (result, changes) = try connection.transaction(.immediate) {
                var changes = try IndexChanges(
                    connection, table, pins, replacements, directory.sizes, lastOldCover: lastOldCover)
                let before = changes.state
                let result = try body(&changes)
                try append(changes.lines.before)
                if !changes.removed.isEmpty, changes.state == before { _ = changes.state.tick() }
                if changes.state != before { try changes.state.save(connection) }
                // A process that ends before it has unlinked them leaves the marker.
                if !changes.removed.isEmpty {
                    marker.begin()
                    hasMarker = true
                }
                return (result, changes)
            }
        } catch {
            // The commit may have failed after it was written to the index's log: a process that reads the whole log sees it.
            if hasMarker { marker.keep() }
            throw error
        }
        // If it fails, a lost index brings back what was removed.
        try? append(changes.lines.after)
        for digest in changes.removed {
            let isGone = directory.covers.remove(digest)
            if !isGone || changes.hasSizes && !directory.sizes.remove(digest) { marker.keep() }
        }
        (state, lastOldCover) = (changes.state, changes.lastOldCover)
        evictedNewCovers += changes.evictedNew
        let gone = changes.removedCovers
        if !gone.isEmpty { onRemoval(gone) }
        return result
    }

    /// A transaction that frees room, on a full disk with the reserve.
    func freeing<Result>(_ body: (inout IndexChanges) throws -> Result) throws -> Result {
        try directory.usingReserve { try transaction(body) }
    }

    /// Unlinks the files of covers that no row names.
    ///
    /// A full disk may have no room for a transaction, and the reserve is for those who make more. There they are unlinked without one: a row of
    /// a commit that has failed, which no one was told of, may name one of them later, and is a miss then.
    func removeFiles(of digests: () -> [Digest]) throws {
        do {
            try transaction { changes in for digest in digests() { try changes.removeFile(of: digest) } }
        } catch  where CacheError(error).mayNeedRoom {
            try lock.withLock {
                guard directory.indexNumber == number else { throw error }
                for digest in digests() where try table.cover(digest) == nil { _ = directory.covers.remove(digest) }
            }
        }
    }

    private func append(_ lines: [UInt8]) throws(CacheError) {
        if lines.isEmpty { return }
        hasUnsyncedLines = true
        try log.append(lines)
    }

    /// Makes the lines durable that this process has appended.
    func syncLog() throws(CacheError) {
        if hasUnsyncedLines { try log.sync() }
        hasUnsyncedLines = false
    }

    // MARK: Keeping small

    /// The longest log, in bytes. A small cache should not have one of many times its size.
    private static func logLimit(of capacity: Int) -> Int { min(maximumLogLength, max(longLogLength, capacity / 8)) }

    /// Checkpoints the index's log if it is longer than `limit`. It waits for no reader: pages that a reader needs stay in the log.
    /// - Returns: whether it was.
    @discardableResult
    func checkpoint(ifLongerThan limit: Int = .max) throws -> Bool {
        guard directory.logLength > min(limit, Self.logLimit(of: capacity)) else { return false }
        defer { overhead = nil }
        try lock.withLock {
            try connection.setBusyTimeout(.zero)
            defer { try? connection.setBusyTimeout(IndexFile.busyTimeout) }
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        return true
    }

    /// Gives back what the index and the entry log no longer need, if it is much.
    func shrink() throws {
        while true {
            let free = Int(try connection.integer("PRAGMA freelist_count") ?? 0)
            let all = Int(try connection.integer("PRAGMA page_count") ?? 0)
            guard free > 64, free > all / 4 else { break }
            try transaction { _ in try connection.execute("PRAGMA incremental_vacuum(\(Self.vacuumSlice))") }
            // Only this shortens the file.
            try checkpoint(ifLongerThan: 0)
        }
        let isLong = AllocatedSpace.length(of: directory.log) > Self.longLogLength
        if isLong, state.lines > 2 * state.entries { try rewriteLog() }
        overhead = nil
    }

    /// Rewrites the entry log with one line for each entry and each pin, and the capacity.
    private func rewriteLog() throws {
        try transaction { changes in
            var lines = 0
            try log.replace { write in
                func add(_ line: EntryLog.Line) throws {
                    try write(line)
                    lines += 1
                    if lines % 10_000 == 0 { lock.showProgress() }
                }
                if let capacity = changes.state.capacity { try add(.capacity(capacity)) }
                for key in try pins.all() { try add(.pinned(key, true)) }
                try connection.statement(EntrySelection.sql + " ORDER BY e.id").each { row in
                    guard let entry = try EntrySelection.entry(row) else { return }
                    try add(.stored(entry.line))
                }
            }
            changes.state.lines = lines
        }
    }
}

/// Makes a new index from the entry log and the covers.
extension IndexWriter {
    /// Gives a new index its entries and its capacity, in one transaction: an index without a capacity is not complete. One process
    /// rebuilds it; others wait.
    /// - Parameter wanted: nil for the capacity that the log states, 10 GiB for a new cache.
    /// - Throws: `CacheError`, before anything is lost, if the log or a folder of covers cannot be read.
    func complete(_ wanted: Int?) throws {
        // Its first line makes a directory a cache, before the index is there.
        let hasLog = AllocatedSpace.length(of: log.path) > EntryLog.header.count
        // The files of entries that were replaced or removed are swept, also if this process is killed after the rows are committed.
        if (try? directory.covers.folders().isEmpty) != true { marker.leave() }
        try transaction { changes in
            guard changes.state.capacity == nil else { return }
            if hasLog {
                try directory.checkReadable()
                willRebuild()
                try restore(&changes)
            }
            changes.setCapacity(wanted ?? changes.state.capacity ?? Self.defaultCapacity)
        }
    }

    private func restore(_ changes: inout IndexChanges) throws {
        var lines = 0
        try log.read { line in
            lines += 1
            if lines % 10_000 == 0 { lock.showProgress() }
            switch line {
            case .format: break
            case .capacity(let capacity): changes.state.capacity = min(capacity, 1 << 48)
            case .pinned(let key, true): _ = try changes.pins.add(key)
            case .pinned(let key, false): _ = try changes.pins.remove(key)
            case .removed(let key): try removeEntry(key)
            case .stored(let entry):
                // Without a file it was evicted, or never committed: an older cover of the URL may still be there.
                guard let cover = try cover(entry, &changes) else { return }
                try removeEntry(entry.metadata.key)
                try changes.table.addEntry(entry, cover.id)
            }
        }
        try connection.execute("DELETE FROM covers WHERE id NOT IN (SELECT cover FROM entries)")
        for key in try changes.pins.all() {
            if let entry = try changes.table.entry(key) { try changes.table.pin(entry.cover, 1) }
        }
        changes.countSizes(directory.sizes.trim())
        try changes.state.recount(connection)
        changes.state.lines = lines
    }

    private func removeEntry(_ key: String) throws {
        if let entry = try table.entry(key) { try table.removeEntry(entry) }
    }

    /// The cover's row, which is added if there is a file of its length; nil if there is none. `get` and `verify` compare the bytes.
    private func cover(_ entry: EntryLine, _ changes: inout IndexChanges) throws -> CoverRow? {
        if let cover = try changes.table.cover(entry.digest) { return cover }
        guard let charge = directory.covers.charge(of: entry.digest, length: entry.bytes) else { return nil }
        return try changes.table.addCover(entry, charge: charge, used: changes.state.tick())
    }
}

/// The index as a writer has opened it, with what reads and changes its rows.
struct OpenIndex: ~Copyable {
    let connection: Connection
    /// The inodes of its file, and of the memory that its connections share.
    let number, memoryNumber: UInt64
    let table: IndexTable
    let pins: PinTable
    let hints: HintTable
    let replacements: ReplacementTable

    /// Opens the index, and creates what is missing. One that is corrupt is set aside. Call it with the writer's lock held.
    init(_ directory: CacheDirectory) throws {
        connection = try directory.usingReserve {
            do {
                return try IndexFile.openForWriting(directory)
            } catch let error as SQLiteError where error.isCorruption {
                try IndexFile.setAside(directory)
                return try IndexFile.openForWriting(directory)
            }
        }
        (number, memoryNumber) = (directory.indexNumber, directory.memoryNumber)
        (table, pins, hints) = (IndexTable(connection), PinTable(connection), HintTable(connection))
        replacements = ReplacementTable(connection)
    }
}
