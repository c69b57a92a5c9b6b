import SQLite

/// Counts and sizes of the index's rows, so that statistics of a million entries take no scan. Lengths are in bytes.
///
/// The table holds the totals of all rows up to `lastEntry` and `lastBlob`; later rows are counted when the totals are read, and each
/// transaction that stores covers adds its own. Triggers subtract rows that are deleted, and follow the pins. So the totals are right
/// even if an earlier program, which does not know them, writes to the cache. Triggers for added rows would cost each cover 4 µs.
struct IndexTotals: Equatable {
    var entries = 0
    var blobs = 0
    /// The length of all bodies.
    var bytes = 0
    /// The length of all bodies if no two entries shared one.
    var entryBytes = 0
    /// Blobs that eviction spares.
    private(set) var pinnedBlobs = 0
    private(set) var pinnedBytes = 0
    /// What the records of pinned blobs count towards the capacity.
    private(set) var pinnedCharge = 0
    private var lastEntry: Int64 = 0
    private var lastBlob: Int64 = 0

    static let schema = """
        CREATE TABLE totals(
            id INTEGER PRIMARY KEY CHECK (id = 1), entries INTEGER NOT NULL, blobs INTEGER NOT NULL, bytes INTEGER NOT NULL,
            entryBytes INTEGER NOT NULL, pinnedBlobs INTEGER NOT NULL, pinnedBytes INTEGER NOT NULL,
            pinnedCharge INTEGER NOT NULL, lastEntry INTEGER NOT NULL, lastBlob INTEGER NOT NULL);
        INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        CREATE INDEX IF NOT EXISTS entries_stored ON entries(stored);
        """
    /// SQLite may use the number of a deleted last row again, so `lastEntry` and `lastBlob` are never beyond the last row.
    static let triggers = """
        CREATE TRIGGER totals_blob_pinned AFTER UPDATE OF pinned, span ON blobs WHEN OLD.pinned OR NEW.pinned BEGIN
            UPDATE totals SET pinnedBlobs = pinnedBlobs + NEW.pinned - OLD.pinned,
                pinnedBytes = pinnedBytes + NEW.pinned * NEW.length - OLD.pinned * OLD.length,
                pinnedCharge = pinnedCharge + NEW.pinned * ((NEW.span + 4095) / 4096 * 4096)
                    - OLD.pinned * ((OLD.span + 4095) / 4096 * 4096);
        END;
        CREATE TRIGGER totals_blob_removed AFTER DELETE ON blobs BEGIN
            UPDATE totals SET blobs = blobs - 1, bytes = bytes - OLD.length WHERE OLD.id <= lastBlob;
            UPDATE totals SET lastBlob = MIN(lastBlob, (SELECT COALESCE(MAX(id), 0) FROM blobs)) WHERE OLD.id >= lastBlob;
        END;
        CREATE TRIGGER totals_pinned_blob_removed AFTER DELETE ON blobs WHEN OLD.pinned BEGIN
            UPDATE totals SET pinnedBlobs = pinnedBlobs - 1, pinnedBytes = pinnedBytes - OLD.length,
                pinnedCharge = pinnedCharge - (OLD.span + 4095) / 4096 * 4096;
        END;
        -- An entry is removed before its blob.
        CREATE TRIGGER totals_entry_removed AFTER DELETE ON entries BEGIN
            UPDATE totals SET entries = entries - 1,
                entryBytes = entryBytes - COALESCE((SELECT length FROM blobs WHERE id = OLD.blob), 0)
            WHERE OLD.id <= lastEntry;
            UPDATE totals SET lastEntry = MIN(lastEntry, (SELECT COALESCE(MAX(id), 0) FROM entries))
            WHERE OLD.id >= lastEntry;
        END;
        """

    /// Reads the totals and counts the rows that they do not contain yet.
    /// - Parameter isStored: false if the table is missing, because the disk was too full to create it. Then all rows are counted.
    init(_ connection: borrowing Connection, isStored: Bool) throws {
        // Wrong totals must not stop a program: out of range, they are cut.
        func size(_ row: borrowing Row, _ column: Int32) -> Int { Int(min(max(row.int64(column), 0), 1 << 48)) }
        if isStored {
            try connection.statement("SELECT * FROM totals").first { row in
                (entries, blobs, bytes, entryBytes) = (size(row, 1), size(row, 2), size(row, 3), size(row, 4))
                (pinnedBlobs, pinnedBytes, pinnedCharge) = (size(row, 5), size(row, 6), size(row, 7))
                (lastEntry, lastBlob) = (Int64(size(row, 8)), Int64(size(row, 9)))
            }
        }
        try connection.statement(
            "SELECT COUNT(*), COALESCE(SUM(length), 0), COALESCE(MAX(id), 0) FROM blobs WHERE id > ?"
        ).first(.int(lastBlob)) { row in
            blobs += size(row, 0)
            bytes += size(row, 1)
            lastBlob = max(lastBlob, Int64(size(row, 2)))
        }
        try connection.statement(
            """
            SELECT COUNT(*), COALESCE(SUM(b.length), 0), COALESCE(MAX(e.id), 0)
            FROM entries e LEFT JOIN blobs b ON b.id = e.blob WHERE e.id > ?
            """
        ).first(.int(lastEntry)) { row in
            entries += size(row, 0)
            entryBytes += size(row, 1)
            lastEntry = max(lastEntry, Int64(size(row, 2)))
        }
    }

    /// Counts all rows.
    init(counting connection: borrowing Connection) throws {
        try self.init(connection, isStored: false)
        try connection.statement(
            """
            SELECT COUNT(*), COALESCE(SUM(length), 0), COALESCE(SUM((span + 4095) / 4096 * 4096), 0)
            FROM blobs WHERE pinned != 0
            """
        ).each { (pinnedBlobs, pinnedBytes, pinnedCharge) = (try $0.size(0), try $0.size(1), try $0.size(2)) }
    }

    /// Stores the totals. Call it in the transaction that read them.
    func save(_ connection: borrowing Connection) throws {
        try connection.statement(
            "UPDATE totals SET entries = ?, blobs = ?, bytes = ?, entryBytes = ?, lastEntry = ?, lastBlob = ?"
        ).run(.int(entries), .int(blobs), .int(bytes), .int(entryBytes), .int(lastEntry), .int(lastBlob))
    }
}
