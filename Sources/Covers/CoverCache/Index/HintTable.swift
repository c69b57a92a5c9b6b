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

    private let select, selectAll, selectAny, insert, delete, deleteExpired, deleteExcess: Statement

    init(_ connection: borrowing Connection) {
        func statement(_ sql: String) -> Statement { connection.statement(sql) }
        select = statement(
            "SELECT value, until FROM hints WHERE kind = ? AND key = ? AND until > ? AND until <= ?")
        selectAll = statement("SELECT key, value, until FROM hints WHERE kind = ? AND until > ? AND until <= ?")
        selectAny = statement("SELECT 1 FROM hints WHERE kind = ? LIMIT 1")
        insert = statement("INSERT OR REPLACE INTO hints(kind, key, value, until) VALUES (?, ?, ?, ?)")
        delete = statement("DELETE FROM hints WHERE kind = ? AND key = ?")
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

    /// Removes expired hints, and those of each kind beyond `maximumCount`.
    func sweep(now: Int64, maximumCount: Int = HintTable.maximumCount) throws {
        try deleteExpired.run(.int(now), .int(now + Self.maximumLifetime))
        for kind in Hint.Kind.allCases { try deleteExcess.run(.text(kind.rawValue), .int(maximumCount)) }
    }
}

/// A disposable fact learnt from earlier responses. It is not synced, and a rebuild of the index drops it.
package struct Hint: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The key is a URL that was answered with 404 or 410; the value is that status.
        case absent
        /// The key is an origin (`scheme://host[:port]`) that asked for a pause; the value is the time of that, in milliseconds since 1970.
        case closed
    }

    package var kind: Kind
    package var key: String
    package var value: String
    /// When the hint expires, in milliseconds since 1970.
    package var until: Int64

    package init(_ kind: Kind, _ key: String, _ value: String, until: Int64) {
        self.kind = kind
        self.key = key
        self.value = value
        self.until = until
    }
}

/// A change to the hints, for `CacheWriter.add(hints:now:)`.
package enum HintChange: Sendable, Hashable {
    /// Replaces the hint of the same kind and key.
    case set(Hint)
    case remove(Hint.Kind, key: String)
}

/// The keys that are pinned, as one connection sees them. A pin belongs to the key: it outlasts a new download, a revalidation and the
/// loss of the entry. `covers.pins` counts the pinned entries of a cover; `IndexChanges` keeps it.
struct PinTable {
    static let schema =
        "CREATE TABLE pins(tag INTEGER NOT NULL, url TEXT NOT NULL, PRIMARY KEY (tag, url)) WITHOUT ROWID;"

    private let select, selectAny, selectAll, insert, delete: Statement

    init(_ connection: borrowing Connection) {
        func statement(_ sql: String) -> Statement { connection.statement(sql) }
        select = statement("SELECT 1 FROM pins WHERE tag = ? AND url = ?")
        selectAny = statement("SELECT 1 FROM pins LIMIT 1")
        selectAll = statement("SELECT url FROM pins")
        insert = statement("INSERT OR IGNORE INTO pins(tag, url) VALUES (?, ?)")
        delete = statement("DELETE FROM pins WHERE tag = ? AND url = ?")
    }

    func contains(_ key: String) throws -> Bool {
        try select.first(.int(IndexTable.tag(key)), .text(key)) { _ in true } ?? false
    }

    /// Most caches have no pins: one look-up then answers for all keys.
    func isEmpty() throws -> Bool { try selectAny.first { _ in true } == nil }

    func all() throws -> [String] {
        var keys: [String] = []
        try selectAll.each { keys.append($0.text(0)) }
        return keys
    }

    /// Returns whether the key was not pinned before.
    func add(_ key: String) throws -> Bool { try insert.run(.int(IndexTable.tag(key)), .text(key)) > 0 }

    /// Returns whether the key was pinned before.
    func remove(_ key: String) throws -> Bool { try delete.run(.int(IndexTable.tag(key)), .text(key)) > 0 }
}
