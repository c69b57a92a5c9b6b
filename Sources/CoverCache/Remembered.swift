import GRDB

/// Something remembered that is no cover: a hint, which is lost with the index, and may be lost with the power.
package struct Remembered: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A URL whose server said that nothing is there. The value is its status.
        case absent
        /// A URL that has moved for good. The value is the URL it has moved to.
        case moved
        /// What was learnt of an origin (`scheme://host[:port]`). The value is for those who learnt it.
        case host
    }

    package var kind: Kind
    package var key: String
    package var value: String
    /// Told to nobody from then on; in milliseconds since 1970.
    package var until: Int64

    package init(_ kind: Kind, _ key: String, _ value: String, until: Int64) {
        self.kind = kind
        self.key = key
        self.value = value
        self.until = until
    }
}

/// A step of remembering, for `CacheWriter.note`.
package enum MemoryChange: Sendable, Hashable {
    /// In place of what was remembered under the same kind and key.
    case remember(Remembered)
    case forget(Remembered.Kind, String)
}

/// The table of what is remembered, seen from one connection. It came after version 1 of the index, whose older programs
/// know nothing of it: it is made when the index is opened for writing, and who reads copes without.
struct MemoryTable {
    static let schema = """
        CREATE TABLE IF NOT EXISTS remembered(
            kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, until INTEGER NOT NULL,
            PRIMARY KEY (kind, key)) WITHOUT ROWID
        """
    /// So many of a kind are kept, those that end last.
    static let most = 65_536
    /// In bytes of key and value together: longer ones are not remembered, so that the table stays small.
    static let longest = 4_096

    private let recallOne, recallEvery, hasAny, remember, forget, forgetAll, sweepOld, sweepMany: FastStatement

    init(_ database: Database) {
        func prepare(_ sql: String) -> FastStatement { FastStatement(database, sql) }
        recallOne = prepare("SELECT value, until FROM remembered WHERE kind = ? AND key = ? AND until > ?")
        recallEvery = prepare("SELECT key, value, until FROM remembered WHERE kind = ? AND until > ?")
        hasAny = prepare("SELECT 1 FROM remembered WHERE kind = ? LIMIT 1")
        remember = prepare("INSERT OR REPLACE INTO remembered(kind, key, value, until) VALUES (?, ?, ?, ?)")
        forget = prepare("DELETE FROM remembered WHERE kind = ? AND key = ?")
        forgetAll = prepare("DELETE FROM remembered")
        sweepOld = prepare("DELETE FROM remembered WHERE until <= ?")
        sweepMany = prepare(
            """
            DELETE FROM remembered WHERE kind = ?1 AND key IN
                (SELECT key FROM remembered WHERE kind = ?1 ORDER BY until DESC LIMIT -1 OFFSET ?2)
            """)
    }

    func recall(_ kind: Remembered.Kind, _ key: String, now: Int64) throws -> Remembered? {
        try recallOne.first(.text(kind.rawValue), .text(key), .int(now)) { row in
            Remembered(kind, key, row.text(0), until: row.int64(1))
        }
    }

    func recallAll(_ kind: Remembered.Kind, now: Int64) throws -> [Remembered] {
        var all: [Remembered] = []
        try recallEvery.each(.text(kind.rawValue), .int(now)) { row in
            all.append(Remembered(kind, row.text(0), row.text(1), until: row.int64(2)))
        }
        return all
    }

    func remembersAny(_ kind: Remembered.Kind) throws -> Bool {
        try hasAny.first(.text(kind.rawValue)) { _ in true } ?? false
    }

    func apply(_ change: MemoryChange) throws {
        switch change {
        case .remember(let new):
            guard new.key.utf8.count + new.value.utf8.count <= Self.longest else { return }
            try remember.run(.text(new.kind.rawValue), .text(new.key), .text(new.value), .int(new.until))
        case .forget(let kind, let key): try forget.run(.text(kind.rawValue), .text(key))
        }
    }

    func removeAll() throws { try forgetAll.run() }

    /// Removes what has ended, and of each kind what there is too much of.
    func sweep(now: Int64, most: Int = MemoryTable.most) throws {
        try sweepOld.run(.int(now))
        for kind in Remembered.Kind.allCases { try sweepMany.run(.text(kind.rawValue), .int(most)) }
    }
}

extension CacheReader {
    /// What is remembered of each key at `now` (milliseconds since 1970); nil: nothing.
    package func recall(_ kind: Remembered.Kind, of keys: some Collection<String>, now: Int64) throws -> [Remembered?] {
        let none = [Remembered?](repeating: nil, count: keys.count)
        if keys.isEmpty { return none }
        do {
            return try reading { _ in
                // Most libraries remember nothing: one look then does for all keys.
                guard try memory.remembersAny(kind) else { return none }
                return try keys.map { try memory.recall(kind, $0, now: now) }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // The table is not there: no newer program has had this cache open for writing.
            return none
        }
    }

    /// Everything of a kind that is remembered at `now` (milliseconds since 1970).
    package func recallAll(_ kind: Remembered.Kind, now: Int64) throws -> [Remembered] {
        do {
            return try reading { _ in try memory.recallAll(kind, now: now) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return []
        }
    }
}
