import Platform
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

    func addEntry(_ metadata: EntryMetadata, _ cover: Int64, _ digest: Digest) throws {
        try insertEntry.run(
            .int(Self.tag(metadata.key)), .text(metadata.key), .int(cover), .int(EntryLine.seal(metadata.key, digest)),
            .int(metadata.storedAt), .int(metadata.validatedAt ?? metadata.storedAt), .int(metadata.freshUntil),
            .text(metadata.fields))
    }

    /// Marks an entry as validated when the metadata was stored or validated.
    func validate(_ entry: EntryRow, _ metadata: EntryMetadata) throws {
        try updateEntry.run(
            .int(metadata.validatedAt ?? metadata.storedAt), .int(metadata.freshUntil), .text(metadata.fields),
            .int(entry.id))
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

    /// Adds a cover without entries and returns its row.
    func addCover(
        _ digest: Digest, length: Int, charge: Int, _ metadata: EntryMetadata, used: Int
    ) throws -> CoverRow {
        try insertCover.run(
            .int(digest.tag), .digest(digest), .int(length), .int(charge), .text(metadata.mediaType),
            .int(metadata.width), .int(metadata.height), .int(used))
        return CoverRow(id: insertCover.lastInsertedRow, digest: digest, length: length, charge: charge, pins: 0)
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
