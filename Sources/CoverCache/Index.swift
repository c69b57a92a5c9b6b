import GRDB

/// A blob's row.
struct BlobRow {
    var id: Int64
    var segment: Int
    var offset: Int
    var span: Int
}

/// Rows of the index, seen from one connection and inside one of its transactions. Each method is one step of a commit; what
/// must happen together is `CacheWriter`'s to say.
struct Index {
    private let tags: IndexTags
    private let findEntry: FastStatement
    private let findBlob: FastStatement
    private let insertBlob: FastStatement
    private let insertEntry: FastStatement
    private let updateEntry: FastStatement
    private let renewEntry: FastStatement
    private let deleteEntry: FastStatement
    private let deleteEntriesOfBlob: FastStatement
    private let deleteBlob: FastStatement
    private let referencesOfBlob: FastStatement
    private let hasEntries: FastStatement
    private let touchBlob: FastStatement
    private let leastUsed: FastStatement
    private let blobByID: FastStatement
    private let changeSegment: FastStatement
    private let setScanned: FastStatement

    init(_ database: Database, _ tags: IndexTags) {
        self.tags = tags
        func prepare(_ sql: String) -> FastStatement { FastStatement(database, sql) }
        findEntry = prepare("SELECT id, blob, stored, segment, offset, span FROM entries WHERE id = ? AND url = ?")
        findBlob = prepare("SELECT id, segment, offset, span FROM blobs WHERE id = ? AND digest = ?")
        insertBlob = prepare(
            """
            INSERT INTO blobs(tag, digest, segment, offset, span, body, length, checksum, type, width, height, used)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insertEntry = prepare(
            """
            INSERT INTO entries(tag, url, blob, segment, offset, span, stored, validated, fresh, fields)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        updateEntry = prepare("UPDATE entries SET validated = ?, fresh = ?, fields = ? WHERE id = ?")
        // The row may be another's by now, or its cover another.
        renewEntry = prepare(
            """
            UPDATE entries SET validated = ?, fresh = ?, fields = ? WHERE id = ? AND blob = ? AND url = ? AND validated = ?
            """)
        deleteEntry = prepare("DELETE FROM entries WHERE id = ?")
        deleteEntriesOfBlob = prepare("DELETE FROM entries WHERE blob = ?")
        deleteBlob = prepare("DELETE FROM blobs WHERE id = ?")
        referencesOfBlob = prepare(
            "SELECT segment, offset, span FROM entries WHERE blob = ? AND segment IS NOT NULL")
        hasEntries = prepare("SELECT 1 FROM entries WHERE blob = ? LIMIT 1")
        touchBlob = prepare("UPDATE blobs SET used = ? WHERE id = ?")
        leastUsed = prepare("SELECT id, segment, offset, span FROM blobs WHERE pinned = 0 ORDER BY used LIMIT ?")
        blobByID = prepare("SELECT id, segment, offset, span FROM blobs WHERE id = ?")
        changeSegment = prepare(
            """
            INSERT INTO segments(id, scanned, live) VALUES (?1, 0, ?2)
            ON CONFLICT(id) DO UPDATE SET live = live + ?2
            """)
        setScanned = prepare(
            """
            INSERT INTO segments(id, scanned, live) VALUES (?1, ?2, 0)
            ON CONFLICT(id) DO UPDATE SET scanned = max(scanned, ?2)
            """)
    }

    /// The index finds a key by this; two keys may share it, so the key itself is always compared too.
    static func tag(_ key: String) -> Int64 { Int64(bitPattern: Checksum.of(key)) }

    struct Entry {
        var id: Int64
        var blob: Int64
        var storedAt: Int64
        var reference: FreedRange?
    }

    func entry(_ key: String) throws -> Entry? {
        try tags.entries.find(Self.tag(key)) { id in
            try findEntry.first(.int(id), .text(key)) { row in
                Entry(
                    id: row.int64(0), blob: row.int64(1), storedAt: row.int64(2), reference: Self.range(row, from: 3))
            }
        }
    }

    func blob(_ digest: Digest) throws -> BlobRow? {
        try tags.blobs.find(digest.tag) { id in
            try findBlob.first(.int(id), .digest(digest), read: Self.blobRow)
        }
    }

    func blob(id: Int64) throws -> BlobRow? { try blobByID.first(.int(id), read: Self.blobRow) }

    func addBlob(_ head: RecordHead, _ metadata: EntryMetadata, segment: Int, offset: Int, used: Int64) throws -> Int64
    {
        try insertBlob.run(
            .int(head.digest.tag), .digest(head.digest), .int(segment), .int(offset), .int(head.span),
            .int(RecordHead.size + head.metadataLength), .int(head.bodyLength),
            .int(Int64(bitPattern: head.bodyChecksum)),
            .text(metadata.mediaType), .int(metadata.width), .int(metadata.height), .int(used))
        let id = insertBlob.lastRowID
        try tags.blobs.add(head.digest.tag, row: id)
        return id
    }

    func addEntry(_ metadata: EntryMetadata, blob: Int64, reference: FreedRange?) throws {
        try insertEntry.run(
            .int(Self.tag(metadata.key)), .text(metadata.key), .int(blob), .int(reference?.segment),
            .int(reference?.offset), .int(reference?.length), .int(metadata.storedAt), .int(metadata.storedAt),
            .int(metadata.freshUntil), .text(metadata.fields))
        try tags.entries.add(Self.tag(metadata.key), row: insertEntry.lastRowID)
    }

    func validate(_ entry: Int64, _ metadata: EntryMetadata) throws {
        try updateEntry.run(
            .int(metadata.storedAt), .int(metadata.freshUntil), .text(metadata.fields), .int(entry))
    }

    /// Does nothing when the entry is not what it was.
    func renew(_ renewal: Renewal) throws {
        try renewEntry.run(
            .int(renewal.validatedAt), .int(renewal.freshUntil), .text(renewal.fields), .int(renewal.row.id),
            .int(renewal.row.blob), .text(renewal.key), .int(renewal.before))
    }

    func removeEntry(_ id: Int64) throws { try deleteEntry.run(.int(id)) }
    func isOrphan(_ blob: Int64) throws -> Bool { try hasEntries.first(.int(blob)) { _ in true } == nil }
    func touch(_ blob: Int64, used: Int64) throws { try touchBlob.run(.int(used), .int(blob)) }

    /// Deletes a blob with all its entries and returns the stretches their records took.
    func removeBlob(_ blob: BlobRow) throws -> [FreedRange] {
        var freed = [FreedRange(segment: blob.segment, offset: blob.offset, length: RecordHead.charge(blob.span))]
        try referencesOfBlob.each(.int(blob.id)) { row in
            if let range = Self.range(row, from: 0) { freed.append(range) }
        }
        try deleteEntriesOfBlob.run(.int(blob.id))
        try deleteBlob.run(.int(blob.id))
        return freed
    }

    func leastRecentlyUsed(_ limit: Int) throws -> [BlobRow] {
        var blobs: [BlobRow] = []
        try leastUsed.each(.int(limit)) { blobs.append(Self.blobRow($0)) }
        return blobs
    }

    func charge(_ bytes: Int, to segment: Int) throws { try changeSegment.run(.int(segment), .int(bytes)) }
    func markScanned(_ segment: Int, to offset: Int) throws { try setScanned.run(.int(segment), .int(offset)) }

    private static func blobRow(_ row: FastRow) -> BlobRow {
        BlobRow(id: row.int64(0), segment: row.int(1), offset: row.int(2), span: row.int(3))
    }

    private static func range(_ row: FastRow, from column: Int32) -> FreedRange? {
        guard let segment = row.optionalInt(column) else { return nil }
        return FreedRange(segment: segment, offset: row.int(column + 1), length: row.int(column + 2))
    }
}

/// The index's one row of counters.
struct IndexState {
    var live = 0
    var blobs = 0
    var clock: Int64 = 0
    var hits = 0
    var misses = 0
    var capacity = 0
    var lastSegment = 0

    init(_ database: Database) throws {
        guard let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT * FROM state")) else { return }
        live = row["live"]
        blobs = row["blobs"]
        clock = row["clock"]
        hits = row["hits"]
        misses = row["misses"]
        capacity = row["capacity"]
        lastSegment = row["lastSegment"]
    }

    func save(_ database: Database) throws {
        try database.cachedStatement(
            sql: "UPDATE state SET live=?, blobs=?, clock=?, hits=?, misses=?, capacity=?, lastSegment=?"
        ).execute(arguments: [live, blobs, clock, hits, misses, capacity, lastSegment])
    }
}
