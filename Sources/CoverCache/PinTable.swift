import Platform
import SQLite

/// The keys that are pinned, as one connection sees them. Eviction spares a blob while an entry of it has one of these keys.
///
/// A pin belongs to the key: it outlasts a new download, a revalidation and the loss of the entry. `blobs.pinned` follows from this
/// table and is kept by triggers, whichever statement or program changes an entry.
struct PinTable {
    private static let isPinned = """
        EXISTS (SELECT 1 FROM entries e JOIN pins p ON p.tag = e.tag AND p.url = e.url WHERE e.blob = blobs.id)
        """

    /// The index on `used` of earlier programs is replaced: eviction would read every pinned row of it first.
    static let schema = """
        CREATE TABLE pins(tag INTEGER NOT NULL, url TEXT NOT NULL, PRIMARY KEY (tag, url)) WITHOUT ROWID;
        DROP INDEX IF EXISTS blobs_used;
        CREATE INDEX blobs_evictable ON blobs(used) WHERE pinned = 0;
        """
    static let triggers = """
        CREATE TRIGGER pins_added AFTER INSERT ON pins BEGIN
            UPDATE blobs SET pinned = 1
            WHERE id IN (SELECT blob FROM entries WHERE tag = NEW.tag AND url = NEW.url) AND pinned = 0;
        END;
        CREATE TRIGGER pins_removed AFTER DELETE ON pins BEGIN
            UPDATE blobs SET pinned = \(isPinned)
            WHERE id IN (SELECT blob FROM entries WHERE tag = OLD.tag AND url = OLD.url);
        END;
        CREATE TRIGGER pins_entry_added AFTER INSERT ON entries
            WHEN EXISTS (SELECT 1 FROM pins WHERE tag = NEW.tag AND url = NEW.url)
        BEGIN
            UPDATE blobs SET pinned = 1 WHERE id = NEW.blob AND pinned = 0;
        END;
        CREATE TRIGGER pins_entry_removed AFTER DELETE ON entries
            WHEN EXISTS (SELECT 1 FROM pins WHERE tag = OLD.tag AND url = OLD.url)
        BEGIN
            UPDATE blobs SET pinned = \(isPinned) WHERE id = OLD.blob;
        END;
        """

    private let select, selectAll, insert, delete, deleteAll: Statement

    init(_ connection: borrowing Connection) {
        func statement(_ sql: String) -> Statement { connection.statement(sql) }
        select = statement("SELECT 1 FROM pins WHERE tag = ? AND url = ?")
        selectAll = statement("SELECT url FROM pins")
        insert = statement("INSERT OR IGNORE INTO pins(tag, url) VALUES (?, ?)")
        delete = statement("DELETE FROM pins WHERE tag = ? AND url = ?")
        deleteAll = statement("DELETE FROM pins")
    }

    /// Whether the blobs with pinned entries, and no others, are marked.
    static func isRight(_ connection: borrowing Connection) throws -> Bool {
        try connection.statement("SELECT 1 FROM blobs WHERE pinned != \(isPinned) LIMIT 1").first { _ in true } == nil
    }

    func contains(_ key: String) throws -> Bool {
        try select.first(.int(Index.tag(key)), .text(key)) { _ in true } ?? false
    }

    /// Returns whether the key was not pinned before.
    @discardableResult
    func add(_ key: String) throws -> Bool {
        try insert.run(.int(Index.tag(key)), .text(key)) > 0
    }

    /// Returns whether the key was pinned before.
    @discardableResult
    func remove(_ key: String) throws -> Bool {
        try delete.run(.int(Index.tag(key)), .text(key)) > 0
    }

    /// Returns the number of pins removed.
    func removeAll() throws -> Int { try deleteAll.run() }

    func each(_ visit: (String) throws -> Void) throws { try selectAll.each { try visit($0.text(0)) } }
}

/// The file beside the index from which the pins are restored if the index is lost.
///
///     # Sleeve pins 1: URLs whose covers are never evicted, one a line
///     http://127.0.0.1:8731/covers/1.jpg
enum PinFile {
    private static let header = "# Sleeve pins 1: URLs whose covers are never evicted, one a line\n"
    private static let blockSize = 64 << 10

    /// Replaces the file. Call it with the writer's lock held.
    static func write(_ pins: PinTable, to path: String) throws {
        var file = try AtomicFile(replacing: path, isLocked: true, mode: 0o600)
        var block = Array(header.utf8)
        try pins.each { key in
            block += key.utf8
            block.append(UInt8(ascii: "\n"))
            if block.count < blockSize { return }
            try file.append(block)
            block.removeAll(keepingCapacity: true)
        }
        try file.append(block)
        try file.sync()
        try file.replace()
    }

    /// The keys in the file; none if there is no file.
    /// - Throws: `CacheError` if it cannot be read.
    static func keys(in path: String) throws(CacheError) -> [String] {
        guard let file = try SegmentFile(reading: path), let bytes = try file.read(at: 0, length: file.length) else {
            return []
        }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            line.first == UInt8(ascii: "#") ? nil : String(decoding: line, as: UTF8.self)
        }
    }
}
