import Platform
import SQLite

/// What a verification has found. A repair mends it, and counts in its report what it has done.
package struct VerificationFindings: Sendable {
    package var report = CacheVerification()
    /// The inode of the index that was read.
    var index: UInt64 = 0
    /// Covers whose files are damaged or missing.
    var damaged: [CoverRow] = []
    /// Covers that the disk cannot read.
    var unreadable = 0
    var hasWrongCounts = false
    /// Covers with a damaged size.
    var damagedSizes: Set<Digest> = []
    /// The file of a cover is whole, and its row states another length.
    var hasWrongLength = false
    /// Nothing is left to be mended.
    package internal(set) var isMended = false
}

/// Reads every cover and every row, in slices: no snapshot of the index is held for longer than one, but for what SQLite checks itself.
/// Others write meanwhile: what seems to be wrong is looked at again.
struct Verification {
    private struct Cancelled: Error {}

    /// Covers or rows that are read, or covers that a repair removes, before the index is asked again.
    static let slice = 500
    private let directory: CacheDirectory
    private let table: IndexTable
    private let isCancelled: () -> Bool

    /// - Parameter isCancelled: asked between files and between rows.
    init(_ directory: CacheDirectory, _ connection: borrowing Connection, isCancelled: @escaping () -> Bool) {
        (self.directory, self.isCancelled) = (directory, isCancelled)
        table = IndexTable(connection)
    }

    /// - Parameter connection: that of `init`, which nothing else uses meanwhile.
    /// - Throws: an error of the index, that of SQLite for a corrupt one.
    func run(
        on connection: borrowing Connection, _ found: inout VerificationFindings, progress: (Int, Int) -> Void
    ) throws {
        do {
            try connection.interrupting(when: isCancelled) { try verify(connection, &found, progress) }
        } catch  where isCancelled() {
            found.report.isCancelled = true
        }
    }

    private func verify(
        _ connection: borrowing Connection, _ found: inout VerificationFindings, _ progress: (Int, Int) -> Void
    ) throws {
        let count = Int(try connection.integer("SELECT COUNT(*) FROM covers") ?? 0)
        try verifyCovers(&found) { progress($0, count) }
        try directory.sizes.verify { digest, path, problem in
            if let digest { found.damagedSizes.insert(digest) }
            found.report.defects.append(CacheDefect(nil, at: path, problem))
        } beforeEach: {
            try goOn()
        }
        try verifyIndex(connection, &found)
        do { try verifyLog() } catch let error as CacheError {
            found.report.defects.append(CacheDefect(nil, at: directory.log, "\(error)"))
        }
    }

    private func goOn() throws { if isCancelled() { throw Cancelled() } }

    private func verifyCovers(_ found: inout VerificationFindings, _ progress: (Int) -> Void) throws {
        var last = Int64.min
        while true {
            let rows = try table.covers(after: last, limit: Self.slice)
            guard let end = rows.last?.id else { return }
            if end <= last { throw SQLiteError(.corrupt, "its covers are in no order") }
            last = end
            for cover in rows {
                try goOn()
                found.report.covers += 1
                progress(found.report.covers)
                do throws(CacheError) {
                    if try isWhole(cover, &found) {
                        found.report.bytes += cover.length
                    }
                } catch {
                    found.unreadable += 1
                    add("\(error)", cover, &found)
                }
            }
        }
    }

    /// - Returns: false for one that is damaged, or that is no longer cached.
    private func isWhole(_ cover: CoverRow, _ found: inout VerificationFindings) throws(CacheError) -> Bool {
        let covers = directory.covers
        if try covers.read(cover.digest, length: cover.length) != nil { return true }
        // Others may have evicted it since, and stored it again.
        guard try isStored(cover) else { return false }
        if let bytes = try covers.read(cover.digest) {
            if bytes.count == cover.length { return true }
            found.hasWrongLength = true
        }
        found.damaged.append(cover)
        let isThere = AllocatedSpace.bytes(of: covers.path(of: cover.digest)) > 0
        add(isThere ? "the bytes do not match their digest" : "the bytes are gone", cover, &found)
        return false
    }

    private func isStored(_ cover: CoverRow) throws(CacheError) -> Bool {
        do { return try table.cover(cover.digest)?.id == cover.id } catch { throw CacheError(error) }
    }

    private func add(_ problem: String, _ cover: CoverRow, _ found: inout VerificationFindings) {
        let key = (try? table.keys(of: cover.id))?.first
        let location = directory.covers.path(of: cover.digest)
        found.report.defects.append(CacheDefect(key, at: location, problem))
    }

    private func verifyIndex(_ connection: borrowing Connection, _ found: inout VerificationFindings) throws {
        if found.hasWrongLength { throw SQLiteError(.corrupt, "a cover has another length than was written") }
        try verifyRows(connection, &found)
        try connection.statement("PRAGMA integrity_check").each { row in
            if row.text(0) != "ok" { throw SQLiteError(.corrupt, row.text(0)) }
        }
        try connection.transaction(.deferred) {
            let state = try IndexState(connection)
            var counted = state
            try counted.recount(connection)
            guard counted != state else { return }
            found.hasWrongCounts = true
            found.report.defects.append(
                CacheDefect(nil, at: directory.index, "the index's counts are wrong"))
        }
    }

    /// An index whose log was damaged is what it was before, and SQLite does not notice.
    /// - Throws: SQLite's error for a corrupt database if the entry log names a cover that has a file and no row.
    private func verifyLog() throws {
        // Where processes have files without rows, or were killed with some, a line proves nothing.
        if directory.hasMarkers { return }
        var lost: [String: Digest] = [:]
        try EntryLog(path: directory.log).read { line in
            try goOn()
            switch line {
            case .stored(let entry):
                // What cannot be looked at may be one whose row was deleted, and whose file could not be.
                let isLost =
                    try table.cover(entry.digest) == nil
                    && directory.covers.identity(of: entry.digest, length: entry.bytes) != nil
                lost[entry.metadata.key] = isLost ? entry.digest : nil
            case .removed(let key): lost[key] = nil
            case .format, .pinned, .capacity: break
            }
        }
        if lost.isEmpty { return }
        // Others have written meanwhile. Under the lock, a file without a row belongs to a marker, which is looked for after the file: a
        // sweep removes a dead process's files, folder by folder under the lock, before its marker.
        try FileLock(path: directory.lock).withLock {
            for (key, digest) in lost where directory.covers.exists(digest) {
                if try table.cover(digest) == nil, !directory.hasMarkers {
                    throw SQLiteError(.corrupt, "it has lost \(key)")
                }
            }
        }
    }

    /// - Throws: SQLite's error for a corrupt database if a row is not what was written.
    private func verifyRows(_ connection: borrowing Connection, _ found: inout VerificationFindings) throws {
        guard try IndexFile.hasSchema(connection) else { throw SQLiteError(.corrupt, "its schema has changed") }
        // Listings begin at 1.
        let unlisted = "SELECT id FROM entries WHERE id < 1 UNION ALL SELECT id FROM covers WHERE id < 1 LIMIT 1"
        if let id = try connection.integer(unlisted) { throw SQLiteError(.corrupt, "a row has the number \(id)") }
        var last = Int64.min
        while let end = try connection.transaction(.deferred, { try verifyEntries(after: last, connection, &found) }) {
            if end <= last { throw SQLiteError(.corrupt, "its entries are in no order") }
            last = end
        }
        let unnamed = """
            SELECT 1 FROM covers WHERE id NOT IN (SELECT cover FROM entries)
                AND digest NOT IN (SELECT former FROM replacements WHERE entry IS NOT NULL) LIMIT 1
            """
        if try connection.integer(unnamed) != nil { throw SQLiteError(.corrupt, "no entry names a cover") }
        let unpinned = """
            SELECT 1 FROM covers c WHERE pins != (SELECT COUNT(*) FROM entries e JOIN pins p ON p.tag = e.tag AND p.url = e.url
                WHERE e.cover = c.id) LIMIT 1
            """
        if try connection.integer(unpinned) != nil {
            throw SQLiteError(.corrupt, "a cover has the wrong number of pins")
        }
    }

    /// - Returns: the last row; nil if there are no more.
    private func verifyEntries(
        after start: Int64, _ connection: borrowing Connection, _ found: inout VerificationFindings
    ) throws -> Int64? {
        var last: Int64?
        let entries = connection.statement("SELECT url, cover, id FROM entries WHERE id > ? ORDER BY id LIMIT ?")
        try entries.each(.int(start), .int(Self.slice)) { row in
            try goOn()
            found.report.entries += 1
            last = row.int64(2)
            let key = row.text(0)
            guard let cover = try table.cover(id: row.int64(1)) else {
                throw SQLiteError(.corrupt, "\(key) has no cover")
            }
            // As look-ups find them.
            guard let entry = try table.entry(key), entry.id == row.int64(2),
                try table.cover(cover.digest)?.id == cover.id, try table.isSealed(entry, key, cover.digest)
            else { throw SQLiteError(.corrupt, "the row of \(key) is not what was written") }
        }
        return last
    }
}

/// The result of checking every cover of a cache.
public struct CacheVerification: Sendable, Hashable {
    /// URLs that have a cover.
    public var entries = 0
    /// Different covers.
    public var covers = 0
    /// Length of the different covers in bytes.
    public var bytes = 0
    /// Each damaged cover or entry.
    public var defects: [CacheDefect] = []
    /// Damaged covers that were dropped.
    package var dropped = 0
    /// Covers that the disk could not read, and that were kept.
    public var unreadable = 0
    /// The task was cancelled, and the rest was not checked or mended.
    public var isCancelled = false
    /// The number of entries in the rebuilt index; nil if it was not rebuilt.
    package var rebuiltEntries: Int?
    /// Why SQLite cannot read the index, or what is wrong with its rows. Only a new index helps.
    private(set) var corruption: String?

    package mutating func add(corruption: String, at path: String) {
        self.corruption = corruption
        defects.append(CacheDefect(nil, at: path, "the index is damaged: \(corruption)"))
    }
}

/// A fault in a cache or a pack. Its description is a sentence.
public struct CacheDefect: Sendable, Hashable, CustomStringConvertible {
    /// The entry's key, if it is known.
    package var key: String?
    /// The file.
    package var location: String
    package var problem: String

    package init(_ key: String?, at location: String, _ problem: String) {
        (self.key, self.location, self.problem) = (key, location, problem)
    }

    /// The URL, the fault and the file.
    public var description: String { (key.map { "\($0): " } ?? "") + "\(problem) (\(location))" }
}
