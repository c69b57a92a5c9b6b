import Platform
import SQLite

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
            storedAt: row.time(4), freshUntil: row.optionalTime(5), fields: row.text(6))
        return CachedEntry(
            metadata: metadata, digest: digest, bytes: try row.size(8), validatedAt: row.time(9),
            lastUsed: row.int(11), isPinned: row.int(13) != 0,
            row: EntryRow(id: row.int64(entryColumn), cover: row.int64(coverColumn)))
    }
}
