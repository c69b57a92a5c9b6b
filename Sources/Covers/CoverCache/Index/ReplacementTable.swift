import Platform
import SQLite

/// The pictures that servers have given in place of stored covers, as one connection sees them. One that replaces covers with different
/// bytes is no cover, but a placeholder ("no longer available"): `IndexChanges.offer` decides.
struct ReplacementTable {
    static let schema = """
        -- successor, former: digests. time: of the last answer with the successor. entry: the former one, as in the entry log, while it
        -- can be put back; its cover stays meanwhile. writer: who keeps it.
        CREATE TABLE replacements(
            successor BLOB NOT NULL, former BLOB NOT NULL, url TEXT NOT NULL, time INTEGER NOT NULL, writer INTEGER, entry TEXT,
            PRIMARY KEY (successor, former, url)) WITHOUT ROWID;
        CREATE INDEX replacements_kept ON replacements(former) WHERE entry IS NOT NULL;
        CREATE INDEX replacements_restorable ON replacements(successor) WHERE entry IS NOT NULL;
        """
    private static let day: Int64 = 86_400_000
    /// Replacements are counted, and those of a doubtful picture can be put back, for this long, in milliseconds.
    private static let lifetime = 14 * day

    /// A URL whose cover was replaced.
    struct Replacement {
        var successor, former: Digest
        var url: String

        fileprivate var values: [SQLValue] { [.digest(successor), .digest(former), .text(url)] }
    }

    private let insert, selectNext, selectKept, selectFormer, selectAny, selectAnyKept: Statement
    private let selectReleasable, selectEntry, updateKept, updateReleased, deleteExpired: Statement

    init(_ connection: borrowing Connection) {
        func statement(_ sql: String) -> Statement { connection.statement(sql) }
        let row = " WHERE successor = ? AND former = ? AND url = ?"
        insert = statement(
            """
            INSERT INTO replacements(successor, former, url, time) VALUES (?, ?, ?, ?)
                ON CONFLICT (successor, former, url) DO UPDATE SET time = excluded.time
            """)
        selectNext = statement(
            "SELECT former FROM replacements WHERE successor = ? AND former > ? ORDER BY former LIMIT 1")
        // A placeholder has one row for each cover that stays: they are not to be read for each.
        selectKept = statement(
            "SELECT entry FROM replacements INDEXED BY replacements_restorable WHERE successor = ? AND entry IS NOT NULL"
        )
        selectFormer = statement("SELECT 1 FROM replacements WHERE former = ? AND entry IS NOT NULL LIMIT 1")
        selectAny = statement("SELECT 1 FROM replacements LIMIT 1")
        selectAnyKept = statement("SELECT 1 FROM replacements WHERE entry IS NOT NULL LIMIT 1")
        selectReleasable = statement(
            """
            SELECT successor, former, url FROM replacements r WHERE entry IS NOT NULL AND (time NOT BETWEEN ?2 AND ?3
                OR (writer = ?1 OR time < ?4)
                AND (SELECT min(former) FROM replacements WHERE successor = r.successor)
                    = (SELECT max(former) FROM replacements WHERE successor = r.successor)) LIMIT ?5
            """)
        updateKept = statement("UPDATE replacements SET writer = ?, entry = ?" + row)
        updateReleased = statement("UPDATE replacements SET writer = NULL, entry = NULL" + row)
        deleteExpired = statement("DELETE FROM replacements WHERE time NOT BETWEEN ? AND ?")
        selectEntry = statement(EntrySelection.sql + " WHERE e.id = ?")
    }

    func isEmpty() throws -> Bool { try selectAny.first { _ in true } == nil }

    // MARK: Counting

    /// Records that a URL's server gave the successor.
    /// - Parameter time: milliseconds since 1970.
    func add(_ replacement: Replacement, time: Int64) throws { try insert.run(replacement.values + [.int(time)]) }

    /// The number of different covers that the successor was given in place of, at most `limit`. It takes one look-up each, however many
    /// URLs they had.
    func formerCount(of successor: Digest, limit: Int) throws -> Int {
        var last: SQLValue = .blob([])
        for count in 0..<limit {
            let next = try selectNext.first(.digest(successor), last) { $0.bytes(0) }
            guard let next else { return count }
            last = .blob(next)
        }
        return limit
    }

    // MARK: Keeping what was replaced

    /// Keeps the entry that is replaced, so that it can be put back. Does nothing if its row is damaged.
    func keep(_ replacement: Replacement, _ row: EntryRow, by writer: Int64) throws {
        guard let entry = try selectEntry.first(.int(row.id), read: { try EntrySelection.entry($0) }) ?? nil else {
            return
        }
        let line = String(decoding: entry.line.json, as: UTF8.self)
        try updateKept.run([.int(writer), .text(line)] + replacement.values)
    }

    /// Whether any entry is kept: most caches have none.
    func keepsAny() throws -> Bool { try selectAnyKept.first { _ in true } ?? false }

    /// Whether the cover belongs to an entry that is kept.
    func keeps(_ former: Digest) throws -> Bool { try selectFormer.first(.digest(former)) { _ in true } ?? false }

    /// The entries that were kept of those that the successor has replaced. They are kept no longer.
    func takeKept(of successor: Digest) throws -> [EntryLine] {
        var kept: [EntryLine] = []
        try selectKept.each(.digest(successor)) { row in
            if case .stored(let entry)? = EntryLog.Line(row.bytes(0)) { kept.append(entry) }
        }
        for entry in kept {
            try release(Replacement(successor: successor, former: entry.digest, url: entry.metadata.key))
        }
        return kept
    }

    /// What need not be kept any longer: a picture has replaced one cover only in this writer's run or in that of a process that was killed, or
    /// the time is over.
    /// - Parameter now: milliseconds since 1970.
    func releasable(by writer: Int64, now: Int64, limit: Int) throws -> [Replacement] {
        var found: [Replacement] = []
        try selectReleasable.each(
            .int(writer), .int(now - Self.lifetime), .int(now + Self.day), .int(now - Self.day), .int(limit)
        ) { row in
            guard let successor = row.digest(0), let former = row.digest(1) else {
                throw SQLiteError(.corrupt, "a digest has the wrong length")
            }
            found.append(Replacement(successor: successor, former: former, url: row.text(2)))
        }
        return found
    }

    func release(_ replacement: Replacement) throws { try updateReleased.run(replacement.values) }

    /// - Parameter now: milliseconds since 1970. Those of later were recorded by a clock that was ahead.
    func removeExpired(now: Int64) throws { try deleteExpired.run(.int(now - Self.lifetime), .int(now + Self.day)) }
}
