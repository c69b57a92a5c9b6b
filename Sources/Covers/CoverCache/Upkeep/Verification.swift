import Platform
import SQLite

/// Reads every cover and every row, in slices: no snapshot of the index is held for longer than one.
struct Verification {
    struct Found {
        var report = CacheVerification()
        /// Covers whose files are damaged or missing.
        var damaged: [CoverRow] = []
        /// Covers that the disk cannot read.
        var unreadable = 0
        var hasWrongCounts = false
        /// Covers with a damaged size.
        var damagedSizes: Set<Digest> = []
        /// The file of a cover is whole, and its row states another length.
        var hasWrongLength = false
    }

    /// Covers that are read, or removed by a repair, before other processes may write.
    static let slice = 500
    private let index: IndexWriter

    init(_ index: IndexWriter) { self.index = index }

    func run(progress: (Int, Int) -> Void) throws -> Found {
        var found = Found()
        do {
            try verifyCovers(&found, progress)
            index.directory.sizes.verify { digest, path, problem in
                if let digest { found.damagedSizes.insert(digest) }
                found.report.defects.append(CacheDefect(nil, at: path, problem))
            }
            try verifyIndex(&found)
            do { try verifyLog() } catch let error as CacheError {
                found.report.defects.append(
                    CacheDefect(nil, at: index.directory.log, "\(error)"))
            }
        } catch let error as SQLiteError where error.isCorruption {
            found.report.add(corruption: error.message, at: index.directory.index)
        }
        return found
    }

    private func verifyCovers(_ found: inout Found, _ progress: (Int, Int) -> Void) throws {
        let covers = index.directory.covers
        let total = Int(try index.connection.integer("SELECT COUNT(*) FROM covers") ?? 0)
        var last = Int64.min
        while true {
            let rows = try index.table.covers(after: last, limit: Self.slice)
            guard let end = rows.last?.id else { return }
            last = end
            for cover in rows {
                found.report.covers += 1
                progress(found.report.covers, total)
                do throws(CacheError) {
                    if try covers.read(cover.digest, length: cover.length) != nil {
                        found.report.bytes += cover.length
                        continue
                    }
                    // Another process may have evicted it since.
                    guard try isStored(cover) else { continue }
                    if try covers.read(cover.digest) != nil { found.hasWrongLength = true }
                    found.damaged.append(cover)
                    let isThere = AllocatedSpace.bytes(of: covers.path(of: cover.digest)) > 0
                    add(isThere ? "the bytes do not match their digest" : "the bytes are gone", cover, &found)
                } catch {
                    found.unreadable += 1
                    add("\(error)", cover, &found)
                }
            }
        }
    }

    private func isStored(_ cover: CoverRow) throws(CacheError) -> Bool {
        do { return try index.table.cover(cover.digest)?.id == cover.id } catch { throw CacheError(error) }
    }

    private func add(_ problem: String, _ cover: CoverRow, _ found: inout Found) {
        let key = (try? index.table.keys(of: cover.id))?.first
        let location = index.directory.covers.path(of: cover.digest)
        found.report.defects.append(CacheDefect(key, at: location, problem))
    }

    private func verifyIndex(_ found: inout Found) throws {
        if found.hasWrongLength { throw SQLiteError(.corrupt, "a cover has another length than was written") }
        try index.connection.transaction(.deferred) {
            try verifyRows(&found)
            try index.connection.statement("PRAGMA integrity_check").each { row in
                if row.text(0) != "ok" { throw SQLiteError(.corrupt, row.text(0)) }
            }
            let state = try IndexState(index.connection)
            var counted = state
            try counted.recount(index.connection)
            guard counted != state else { return }
            found.hasWrongCounts = true
            found.report.defects.append(
                CacheDefect(nil, at: index.directory.index, "the index's counts are wrong"))
        }
    }

    /// An index whose log was damaged is what it was before, and SQLite does not notice.
    /// - Throws: SQLite's error for a corrupt database if the entry log names a cover that has a file and no row.
    private func verifyLog() throws {
        // Where processes have files without rows, or were killed with some, a line proves nothing.
        if index.marker.isAny { return }
        var lost: [String: Digest] = [:]
        try index.log.read { line in
            switch line {
            case .stored(let entry):
                // What cannot be looked at may be one whose row was deleted, and whose file could not be.
                let isLost =
                    try index.table.cover(entry.digest) == nil
                    && index.directory.covers.identity(of: entry.digest, length: entry.bytes) != nil
                lost[entry.metadata.key] = isLost ? entry.digest : nil
            case .removed(let key): lost[key] = nil
            case .format, .pinned, .capacity: break
            }
        }
        if lost.isEmpty { return }
        // Others have written meanwhile. Under the lock, a file without a row belongs to a marker, which is looked for after the file: a
        // sweep removes a dead process's files, folder by folder under the lock, before its marker.
        try index.lock.withLock {
            for (key, digest) in lost where index.directory.covers.exists(digest) {
                if try index.table.cover(digest) == nil, !index.marker.isAny {
                    throw SQLiteError(.corrupt, "it has lost \(key)")
                }
            }
        }
    }

    /// - Throws: SQLite's error for a corrupt database if a row is not what was written.
    private func verifyRows(_ found: inout Found) throws {
        guard try IndexFile.hasSchema(index.connection) else { throw SQLiteError(.corrupt, "its schema has changed") }
        // Listings begin at 1.
        let unlisted = "SELECT id FROM entries WHERE id < 1 UNION ALL SELECT id FROM covers WHERE id < 1 LIMIT 1"
        if let id = try index.connection.integer(unlisted) { throw SQLiteError(.corrupt, "a row has the number \(id)") }
        try index.connection.statement("SELECT url, cover, id FROM entries").each { row in
            found.report.entries += 1
            let key = row.text(0)
            guard let cover = try index.table.cover(id: row.int64(1)) else {
                throw SQLiteError(.corrupt, "\(key) has no cover")
            }
            // As look-ups find them.
            guard let entry = try index.table.entry(key), entry.id == row.int64(2),
                try index.table.cover(cover.digest)?.id == cover.id, try index.table.isSealed(entry, key, cover.digest)
            else { throw SQLiteError(.corrupt, "the row of \(key) is not what was written") }
        }
        let unnamed = """
            SELECT 1 FROM covers WHERE id NOT IN (SELECT cover FROM entries)
                AND digest NOT IN (SELECT former FROM replacements WHERE entry IS NOT NULL) LIMIT 1
            """
        if try index.connection.integer(unnamed) != nil { throw SQLiteError(.corrupt, "no entry names a cover") }
        let unpinned = """
            SELECT 1 FROM covers c WHERE pins != (SELECT COUNT(*) FROM entries e JOIN pins p ON p.tag = e.tag AND p.url = e.url
                WHERE e.cover = c.id) LIMIT 1
            """
        if try index.connection.integer(unpinned) != nil {
            throw SQLiteError(.corrupt, "a cover has the wrong number of pins")
        }
    }
}
