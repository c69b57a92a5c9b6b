package import Platform
import SQLite

/// The rows of entries and covers, as one connection changes them. `IndexChanges` decides which changes belong together.
struct IndexTable {
    private let selectEntry, selectCover, selectCoverByID, selectLeastUsed, selectAfter: Statement
    private let selectAnyEntry, selectKeys, selectSeal: Statement
    private let insertCover, insertEntry, updateEntry, renewEntry, touchCover, pinCover: Statement
    private let updateColor, deleteEntry, deleteEntries, deleteCover: Statement

    init(_ connection: borrowing Connection) {
        func statement(_ sql: String) -> Statement { connection.statement(sql) }
        let cover = "SELECT id, digest, length, charge, pins FROM covers"
        selectEntry = statement("SELECT id, cover FROM entries WHERE tag = ? AND url = ?")
        selectCover = statement(cover + " WHERE tag = ? AND digest = ?")
        selectCoverByID = statement(cover + " WHERE id = ?")
        selectLeastUsed = statement(cover + " WHERE pins = 0 AND used <= ? ORDER BY used LIMIT ?")
        updateColor = statement("UPDATE covers SET color = ? WHERE id = ?")
        selectAfter = statement(cover + " WHERE id > ? ORDER BY id LIMIT ?")
        selectSeal = statement("SELECT seal FROM entries WHERE id = ?")
        selectAnyEntry = statement("SELECT 1 FROM entries WHERE cover = ? LIMIT 1")
        selectKeys = statement("SELECT url FROM entries WHERE cover = ?")
        insertCover = statement(
            """
            INSERT INTO covers(tag, digest, length, charge, type, width, height, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insertEntry = statement(
            """
            INSERT INTO entries(tag, url, cover, seal, stored, validated, fresh, fields) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        updateEntry = statement("UPDATE entries SET validated = ?, fresh = ?, fields = ? WHERE id = ?")
        // The row may have been replaced, renewed or deleted since it was read.
        renewEntry = statement(
            """
            UPDATE entries SET validated = ?, fresh = ?, fields = ? WHERE id = ? AND cover = ? AND url = ? AND validated = ?
            """)
        touchCover = statement("UPDATE covers SET used = ? WHERE id = ?")
        pinCover = statement("UPDATE covers SET pins = max(0, pins + ?) WHERE id = ?")
        deleteEntry = statement("DELETE FROM entries WHERE id = ?")
        deleteEntries = statement("DELETE FROM entries WHERE cover = ?")
        deleteCover = statement("DELETE FROM covers WHERE id = ?")
    }

    /// The number that SQLite's index finds a key by. Two keys may share it, so the key itself is always compared too.
    static func tag(_ key: String) -> Int64 { Int64(bitPattern: FNV1a.hash(key)) }

    // MARK: Entries

    func entry(_ key: String) throws -> EntryRow? {
        try selectEntry.first(.int(Self.tag(key)), .text(key)) { EntryRow(id: $0.int64(0), cover: $0.int64(1)) }
    }

    /// Whether the row's check matches its key and its cover's digest.
    func isSealed(_ entry: EntryRow, _ key: String, _ digest: Digest) throws -> Bool {
        try selectSeal.first(.int(entry.id)) { $0.int64(0) } == EntryLine.seal(key, digest)
    }

    /// - Parameter cover: the row of the entry's cover.
    func addEntry(_ line: EntryLine, _ cover: Int64) throws {
        let metadata = line.metadata
        try insertEntry.run(
            .int(Self.tag(metadata.key)), .text(metadata.key), .int(cover), .int(line.seal), .int(metadata.storedAt),
            .int(metadata.validatedAt), .int(metadata.freshUntil), .text(metadata.fields))
    }

    /// Marks an entry as validated when the metadata was stored or validated.
    func validate(_ entry: EntryRow, _ metadata: EntryMetadata) throws {
        try updateEntry.run(
            .int(metadata.validatedAt), .int(metadata.freshUntil), .text(metadata.fields), .int(entry.id))
    }

    /// Does nothing if the entry has changed since the renewal read it, or the new fields are too long. Returns whether there still is one.
    func renew(_ renewal: Renewal) throws -> Bool {
        let (former, key) = (renewal.entry, renewal.entry.metadata.key)
        if renewal.fields.utf8.count > EntryMetadata.maximumLength { return try entry(key) != nil }
        let changed = try renewEntry.run(
            .int(renewal.validatedAt), .int(renewal.freshUntil), .text(renewal.fields), .int(former.row.id),
            .int(former.row.cover), .text(key), .int(former.validatedAt))
        return try changed > 0 || entry(key) != nil
    }

    func removeEntry(_ entry: EntryRow) throws { try deleteEntry.run(.int(entry.id)) }

    // MARK: Covers

    func cover(_ digest: Digest) throws -> CoverRow? {
        try selectCover.first(.int(digest.tag), .digest(digest), read: Self.cover)
    }

    func cover(id: Int64) throws -> CoverRow? { try selectCoverByID.first(.int(id), read: Self.cover) }

    /// Adds the cover of an entry, without entries, and returns its row.
    func addCover(_ line: EntryLine, charge: Int, used: Int) throws -> CoverRow {
        let (digest, metadata) = (line.digest, line.metadata)
        try insertCover.run(
            .int(digest.tag), .digest(digest), .int(line.bytes), .int(charge), .text(metadata.mediaType),
            .int(metadata.width), .int(metadata.height), .int(used))
        return CoverRow(id: insertCover.lastInsertedRow, digest: digest, length: line.bytes, charge: charge, pins: 0)
    }

    func touch(_ cover: Int64, used: Int) throws { try touchCover.run(.int(used), .int(cover)) }

    /// Adds to the number of the cover's pinned entries; `count` may be negative.
    func pin(_ cover: Int64, _ count: Int) throws { try pinCover.run(.int(count), .int(cover)) }

    /// Whether no entry names the cover.
    func isUnused(_ cover: Int64) throws -> Bool { try selectAnyEntry.first(.int(cover)) { _ in true } == nil }

    func keys(of cover: Int64) throws -> [String] {
        var keys: [String] = []
        try selectKeys.each(.int(cover)) { keys.append($0.text(0)) }
        return keys
    }

    /// Removes a cover with all its entries. Returns how many they were.
    func removeCover(_ cover: CoverRow) throws -> Int {
        let entries = try deleteEntries.run(.int(cover.id))
        try deleteCover.run(.int(cover.id))
        return entries
    }

    /// The covers without pinned entries that were used least recently.
    /// - Parameter recency: covers that were used later are left out.
    func leastRecentlyUsed(_ limit: Int, usedUpTo recency: Int) throws -> [CoverRow] {
        var covers: [CoverRow] = []
        try selectLeastUsed.each(.int(recency), .int(limit)) { covers.append(try Self.cover($0)) }
        return covers
    }

    func setColor(of cover: Int64, _ color: UInt32) throws { try updateColor.run(.int(Int(color)), .int(cover)) }

    func covers(after row: Int64, limit: Int) throws -> [CoverRow] {
        var covers: [CoverRow] = []
        try selectAfter.each(.int(row), .int(limit)) { covers.append(try Self.cover($0)) }
        return covers
    }

    private static func cover(_ row: borrowing Row) throws -> CoverRow {
        guard let digest = row.digest(1) else { throw SQLiteError(.corrupt, "a digest has the wrong length") }
        return CoverRow(
            id: row.int64(0), digest: digest, length: try row.size(2), charge: try row.size(3), pins: try row.size(4))
    }
}

/// An entry as the index describes it.
package struct CachedEntry: Sendable, Hashable {
    package var line: EntryLine
    /// The recency clock at the last use.
    package var lastUsed: Int
    /// The key is pinned, so eviction spares the cover.
    package var isPinned = false
    package var row: EntryRow

    package var metadata: EntryMetadata { line.metadata }
    package var digest: Digest { line.digest }
    /// The body's length.
    package var bytes: Int { line.bytes }
    package var validatedAt: Int64 { metadata.validatedAt }
}

/// Selects entries with their covers.
enum EntrySelection {
    /// Selects what `entry(_:key:)` decodes.
    static let sql = """
        SELECT e.url, c.type, c.width, c.height, e.stored, e.fresh, e.fields, c.digest, c.length, e.validated, c.id, c.used, e.id,
            c.pins AND EXISTS (SELECT 1 FROM pins p WHERE p.tag = e.tag AND p.url = e.url), e.seal
        FROM entries e JOIN covers c ON c.id = e.cover
        """
    /// Columns of `sql`.
    static let (coverColumn, entryColumn): (Int32, Int32) = (10, 12)

    /// Decodes a row of `sql`. Returns nil if it is not what was written.
    /// - Parameter key: the entry's key if it is known already.
    static func entry(_ row: borrowing Row, key: String? = nil) throws -> CachedEntry? {
        let key = key ?? row.text(0)
        guard let digest = row.digest(7), row.int64(14) == EntryLine.seal(key, digest) else { return nil }
        let metadata = EntryMetadata(
            key: key, mediaType: row.text(1), width: row.optionalInt(2), height: row.optionalInt(3),
            storedAt: row.time(4), validatedAt: row.time(9), freshUntil: row.optionalTime(5), fields: row.text(6))
        return CachedEntry(
            line: EntryLine(metadata, digest, bytes: try row.size(8)), lastUsed: row.int(11),
            isPinned: row.int(13) != 0, row: EntryRow(id: row.int64(entryColumn), cover: row.int64(coverColumn)))
    }
}

/// An entry's row, and the row of the cover that it named when it was read.
package struct EntryRow: Sendable, Hashable {
    package let id: Int64
    let cover: Int64
}

/// A cover's row.
struct CoverRow: Sendable, Hashable {
    var id: Int64
    var digest: Digest
    /// The body's length in bytes.
    var length: Int
    /// Bytes of the file's blocks.
    var charge: Int
    /// The number of pinned entries.
    var pins: Int
}

// The values of the index: read with their ranges, because another program or a failing disk may have changed them.
extension Row {
    /// A length, an offset or a counter: 0 to 2⁴⁸.
    /// - Throws: SQLite's error for a corrupt database if it is out of that range. Arithmetic with it would trap.
    borrowing func size(_ column: Int32) throws(SQLiteError) -> Int { try Self.size(int64(column)) }
    /// - Throws: the same error for a value that is no integer.
    borrowing func counter(_ column: Int32) throws(SQLiteError) -> Int {
        guard let number = optionalInt64(column) else { throw SQLiteError(.corrupt, "a counter is no number") }
        return try Self.size(number)
    }
    private static func size(_ number: Int64) throws(SQLiteError) -> Int {
        guard (0...1 << 48).contains(number) else {
            throw SQLiteError(.corrupt, "the number \(number) is out of range")
        }
        return Int(number)
    }
    /// Milliseconds since 1970, cut to the years until 10889.
    borrowing func time(_ column: Int32) -> Int64 { min(max(int64(column), 0), 1 << 48) }
    borrowing func optionalTime(_ column: Int32) -> Int64? { optionalInt64(column).map { min(max($0, 0), 1 << 48) } }
}

/// A change to an entry's times and fields after a revalidation. The bytes stay.
package struct Renewal: Sendable, Hashable {
    /// As it was read. If it was validated, replaced or evicted since, the renewal does nothing.
    let entry: CachedEntry
    /// Milliseconds since 1970.
    package let validatedAt: Int64
    /// Milliseconds since 1970; nil if the response states no lifetime.
    package let freshUntil: Int64?
    package let fields: String
    /// If true, the renewal is skipped when the entry's bytes are damaged or gone; the caller downloads the cover again.
    let isConfirmation: Bool

    /// - Parameters:
    ///   - entry: the entry as it was read.
    ///   - isConfirmation: the origin has confirmed the stored bytes, which are read again.
    package init(
        _ entry: CachedEntry, validatedAt: Int64, freshUntil: Int64?, fields: String, isConfirmation: Bool = true
    ) {
        (self.entry, self.isConfirmation) = (entry, isConfirmation)
        (self.validatedAt, self.freshUntil, self.fields) = (validatedAt, freshUntil, fields)
    }
}
