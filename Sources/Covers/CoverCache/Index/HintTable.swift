import SQLite

/// The table of hints, as one connection sees it.
struct HintTable {
    static let schema = """
        CREATE TABLE hints(
            kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, until INTEGER NOT NULL,
            PRIMARY KEY (kind, key)) WITHOUT ROWID;
        """
    /// Hints kept of each kind; `sweep` removes those that expire first.
    static let maximumCount = 65_536
    /// The longest key and value together, in bytes. Longer hints are not stored, to keep the table small.
    static let maximumLength = 4_096
    /// No hint is set for longer, in milliseconds: 30 days. One that expires later was set by a clock that was ahead, and is ignored.
    static let maximumLifetime: Int64 = 30 * 86_400_000

    private let select, selectAll, selectAny, insert, delete, deleteAll, deleteExpired, deleteExcess: Statement

    init(_ connection: borrowing Connection) {
        func statement(_ sql: String) -> Statement { connection.statement(sql) }
        select = statement(
            "SELECT value, until FROM hints WHERE kind = ? AND key = ? AND until > ? AND until <= ?")
        selectAll = statement("SELECT key, value, until FROM hints WHERE kind = ? AND until > ? AND until <= ?")
        selectAny = statement("SELECT 1 FROM hints WHERE kind = ? LIMIT 1")
        insert = statement("INSERT OR REPLACE INTO hints(kind, key, value, until) VALUES (?, ?, ?, ?)")
        delete = statement("DELETE FROM hints WHERE kind = ? AND key = ?")
        deleteAll = statement("DELETE FROM hints")
        deleteExpired = statement("DELETE FROM hints WHERE until <= ? OR until > ?")
        deleteExcess = statement(
            """
            DELETE FROM hints WHERE kind = ?1 AND key IN
                (SELECT key FROM hints WHERE kind = ?1 ORDER BY until DESC LIMIT -1 OFFSET ?2)
            """)
    }

    /// - Parameter now: milliseconds since 1970; hints that have expired, or expire too late, are left out.
    func hint(_ kind: Hint.Kind, for key: String, now: Int64) throws -> Hint? {
        try select.first(.text(kind.rawValue), .text(key), .int(now), .int(now + Self.maximumLifetime)) { row in
            Hint(kind, key, row.text(0), until: row.int64(1))
        }
    }

    func hints(_ kind: Hint.Kind, now: Int64) throws -> [Hint] {
        var hints: [Hint] = []
        try selectAll.each(.text(kind.rawValue), .int(now), .int(now + Self.maximumLifetime)) { row in
            hints.append(Hint(kind, row.text(0), row.text(1), until: row.int64(2)))
        }
        return hints
    }

    func hasAny(_ kind: Hint.Kind) throws -> Bool { try selectAny.first(.text(kind.rawValue)) { _ in true } ?? false }

    func apply(_ change: HintChange) throws {
        switch change {
        case .set(let hint):
            guard hint.key.utf8.count + hint.value.utf8.count <= Self.maximumLength else { return }
            try insert.run(.text(hint.kind.rawValue), .text(hint.key), .text(hint.value), .int(hint.until))
        case .remove(let kind, let key): try delete.run(.text(kind.rawValue), .text(key))
        }
    }

    func removeAll() throws { try deleteAll.run() }

    /// Removes expired hints, and those of each kind beyond `maximumCount`.
    func sweep(now: Int64, maximumCount: Int = HintTable.maximumCount) throws {
        try deleteExpired.run(.int(now), .int(now + Self.maximumLifetime))
        for kind in Hint.Kind.allCases { try deleteExcess.run(.text(kind.rawValue), .int(maximumCount)) }
    }
}
