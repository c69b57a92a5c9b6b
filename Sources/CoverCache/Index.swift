import Platform
import SQLite

/// A blob's row.
struct BlobRow {
    var id: Int64
    var segment: Int
    var offset: Int
    var span: Int
    /// The blob's record.
    var range: FreedRange { FreedRange(segment: segment, offset: offset, length: RecordHeader.charge(span)) }
}

/// A row that names a record: a blob's, or an entry's with a record of its own.
struct IndexedRecord {
    var id: Int64
    /// The blob's row.
    var blob: Int64
    var isReference: Bool
    var range: FreedRange
}

/// An entry that a rebuild would not find: the record that named it was damaged, and its blob has another one.
struct UnrecordedEntry {
    var metadata: EntryMetadata
    var digest: Digest
    var bodyLength: Int
    var bodyChecksum: UInt64
}

/// Where a record begins.
struct RecordPosition: Hashable {
    var segment: Int
    var offset: Int
}

/// The index's rows, as one connection writes them in its transactions. `CacheWriter` decides which changes belong together.
struct Index {
    private let selectEntry, selectBlob, selectBlobByID, selectLeastUsed, selectReferences,
        selectAnyEntry: Statement
    private let insertBlob, insertEntry, updateEntry, renewEntry, touchBlob: Statement
    private let deleteEntry, deleteEntriesOfBlob, deleteBlob: Statement
    private let chargeSegment, setScanned, deleteSegment: Statement
    private let selectSegments, selectBlobIn, selectReferenceIn: Statement
    private let selectBlobsOf, selectReferencesOf, moveBlobRecord, moveReference, removeReference: Statement
    private let selectOwnKeys, insertRemoved, selectRemoved, selectRemovedAt: Statement
    private let selectOwnEntries, selectReference, setReference, selectLiveBytes, selectAllRecords: Statement
    private let moveBlob, insertFreed, selectFreed, deleteFreed: Statement
    /// The segment, the offset and the length of each record that a row names.
    static let selectRecords = """
        SELECT segment, offset, span FROM blobs UNION ALL SELECT segment, offset, span FROM entries WHERE segment IS NOT NULL
        """
    /// The table `freed` is missing if the disk was too full to create it.
    private let hasFreed: Bool

    init(_ connection: borrowing Connection, hasFreed: Bool) {
        self.hasFreed = hasFreed
        func statement(_ sql: String) -> Statement { connection.statement(sql) }
        selectEntry = statement("SELECT id, blob, stored, segment, offset, span FROM entries WHERE tag = ? AND url = ?")
        selectBlob = statement("SELECT id, segment, offset, span FROM blobs WHERE tag = ? AND digest = ?")
        selectBlobByID = statement("SELECT id, segment, offset, span FROM blobs WHERE id = ?")
        selectLeastUsed = statement(
            "SELECT id, segment, offset, span FROM blobs WHERE pinned = 0 AND used <= ? ORDER BY used LIMIT ?")
        selectReferences = statement(
            "SELECT segment, offset, span FROM entries WHERE blob = ? AND segment IS NOT NULL")
        selectAnyEntry = statement("SELECT 1 FROM entries WHERE blob = ? LIMIT 1")
        insertBlob = statement(
            """
            INSERT INTO blobs(tag, digest, segment, offset, span, body, length, checksum, type, width, height, used)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insertEntry = statement(
            """
            INSERT INTO entries(tag, url, blob, segment, offset, span, stored, validated, fresh, fields)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        updateEntry = statement("UPDATE entries SET validated = ?, fresh = ?, fields = ? WHERE id = ?")
        // The row may have been replaced, renewed or deleted since it was read.
        renewEntry = statement(
            """
            UPDATE entries SET validated = ?, fresh = ?, fields = ? WHERE id = ? AND blob = ? AND url = ? AND validated = ?
            """)
        touchBlob = statement("UPDATE blobs SET used = ? WHERE id = ?")
        deleteEntry = statement("DELETE FROM entries WHERE id = ?")
        deleteEntriesOfBlob = statement("DELETE FROM entries WHERE blob = ?")
        deleteBlob = statement("DELETE FROM blobs WHERE id = ?")
        chargeSegment = statement(
            """
            INSERT INTO segments(id, scanned, live) VALUES (?1, 0, ?2)
            ON CONFLICT(id) DO UPDATE SET live = live + ?2
            """)
        setScanned = statement(
            """
            INSERT INTO segments(id, scanned, live) VALUES (?1, ?2, 0)
            ON CONFLICT(id) DO UPDATE SET scanned = max(scanned, ?2)
            """)
        deleteSegment = statement("DELETE FROM segments WHERE id = ?")
        selectSegments = statement("SELECT id, scanned, live FROM segments")
        selectBlobIn = statement("SELECT 1 FROM blobs WHERE segment = ? AND offset >= ? AND offset < ? LIMIT 1")
        selectReferenceIn = statement("SELECT 1 FROM entries WHERE segment = ? AND offset >= ? AND offset < ? LIMIT 1")
        selectBlobsOf = statement("SELECT segment, offset, span, id, id FROM blobs WHERE segment = ? ORDER BY offset")
        selectReferencesOf = statement(
            "SELECT segment, offset, span, id, blob FROM entries WHERE segment = ? ORDER BY offset")
        moveBlobRecord = statement(
            "UPDATE blobs SET segment = ?, offset = ? WHERE id = ? AND segment = ? AND offset = ?")
        moveReference = statement(
            "UPDATE entries SET segment = ?, offset = ? WHERE id = ? AND segment = ? AND offset = ?")
        removeReference = statement(
            """
            UPDATE entries SET segment = NULL, offset = NULL, span = NULL WHERE id = ? AND segment = ? AND offset = ?
            """)
        selectOwnKeys = statement("SELECT url FROM entries WHERE blob = ? AND segment IS NULL")
        insertRemoved = statement("INSERT OR IGNORE INTO removed(segment, offset) VALUES (?, ?)")
        selectRemoved = statement("SELECT segment, offset FROM removed")
        selectRemovedAt = statement("SELECT 1 FROM removed WHERE segment = ? AND offset = ?")
        selectOwnEntries = statement(
            """
            SELECT e.url, b.type, b.width, b.height, e.stored, e.fresh, e.fields
            FROM entries e JOIN blobs b ON b.id = e.blob WHERE e.blob = ? AND e.segment IS NULL
            """)
        selectReference = statement("SELECT segment, offset, span FROM entries WHERE id = ? AND url = ?")
        setReference = statement("UPDATE entries SET segment = ?, offset = ?, span = ? WHERE id = ?")
        selectAllRecords = statement(Self.selectRecords)
        selectLiveBytes = statement(
            """
            SELECT segment, SUM((span + 4095) / 4096 * 4096), MAX(offset + span) FROM (\(Self.selectRecords)) GROUP BY segment
            """)
        moveBlob = statement(
            "UPDATE blobs SET segment = ?, offset = ?, span = ?, body = ?, length = ?, checksum = ? WHERE id = ?")
        insertFreed = statement("INSERT INTO freed(segment, offset, length) VALUES (?, ?, ?)")
        selectFreed = statement("SELECT id, segment, offset, length FROM freed ORDER BY id")
        deleteFreed = statement("DELETE FROM freed WHERE id BETWEEN ? AND ?")
    }

    /// The number that SQLite's index finds a key by. Two keys may share it, so the key itself is always compared too.
    static func tag(_ key: String) -> Int64 { Int64(bitPattern: Checksum.of(key)) }

    // MARK: Entries

    struct Entry {
        var id: Int64
        var blob: Int64
        var storedAt: Int64
        /// The entry's own record, if the blob's record does not name this entry.
        var reference: FreedRange?
    }

    func entry(_ key: String) throws -> Entry? {
        try selectEntry.first(.int(Self.tag(key)), .text(key)) { row in
            Entry(
                id: row.int64(0), blob: row.int64(1), storedAt: row.int64(2), reference: try Self.range(row, from: 3))
        }
    }

    func addEntry(_ metadata: EntryMetadata, blob: Int64, reference: FreedRange?) throws {
        try insertEntry.run(
            .int(Self.tag(metadata.key)), .text(metadata.key), .int(blob), .int(reference?.segment),
            .int(reference?.offset), .int(reference?.length), .int(metadata.storedAt),
            .int(metadata.validatedAt ?? metadata.storedAt),
            .int(metadata.freshUntil), .text(metadata.fields))
    }

    /// Marks an entry as validated when the metadata was stored or validated.
    func validate(_ entry: Int64, _ metadata: EntryMetadata) throws {
        try updateEntry.run(
            .int(metadata.validatedAt ?? metadata.storedAt), .int(metadata.freshUntil), .text(metadata.fields),
            .int(entry))
    }

    /// Does nothing if the entry has changed since the renewal read it. Returns whether there still is one.
    func renew(_ renewal: Renewal) throws -> Bool {
        let changed = try renewEntry.run(
            .int(renewal.validatedAt), .int(renewal.freshUntil), .text(renewal.fields), .int(renewal.row.id),
            .int(renewal.row.blob), .text(renewal.key), .int(renewal.before))
        return try changed > 0 || entry(renewal.key) != nil
    }

    /// The own record of an entry that still has this row.
    func reference(of row: EntryRow, _ key: String) throws -> FreedRange? {
        try selectReference.first(.int(row.id), .text(key)) { try Self.range($0, from: 0) } ?? nil
    }

    /// The entries that have no record but the blob's.
    /// - Parameter header: of a record with the blob's bytes.
    func entriesOfOwnRecord(_ blob: Int64, _ header: RecordHeader) throws -> [UnrecordedEntry] {
        var entries: [UnrecordedEntry] = []
        try selectOwnEntries.each(.int(blob)) { row in
            let metadata = EntryMetadata(
                key: row.text(0), mediaType: row.text(1), width: row.optionalInt(2), height: row.optionalInt(3),
                storedAt: row.time(4), freshUntil: row.optionalTime(5), fields: row.text(6))
            entries.append(
                UnrecordedEntry(
                    metadata: metadata, digest: header.digest, bodyLength: header.bodyLength,
                    bodyChecksum: header.bodyChecksum))
        }
        return entries
    }

    /// The keys of the entries that have no record but the blob's.
    func keysOfOwnRecord(_ blob: Int64) throws -> [String] {
        var keys: [String] = []
        try selectOwnKeys.each(.int(blob)) { keys.append($0.text(0)) }
        return keys
    }

    func setReference(of entry: Int64, to range: FreedRange?) throws {
        try setReference.run(.int(range?.segment), .int(range?.offset), .int(range?.length), .int(entry))
    }

    func removeEntry(_ id: Int64) throws { try deleteEntry.run(.int(id)) }

    // MARK: Blobs

    func blob(_ digest: Digest) throws -> BlobRow? {
        try selectBlob.first(.int(digest.tag), .digest(digest), read: Self.blobRow)
    }

    func blob(id: Int64) throws -> BlobRow? { try selectBlobByID.first(.int(id), read: Self.blobRow) }

    /// Adds a blob without entries and returns its row.
    func addBlob(_ header: RecordHeader, _ metadata: EntryMetadata, _ range: FreedRange, used: Int64) throws -> Int64 {
        try insertBlob.run(
            .int(header.digest.tag), .digest(header.digest), .int(range.segment), .int(range.offset), .int(header.span),
            .int(RecordHeader.size + header.metadataLength), .int(header.bodyLength),
            .int(Int64(bitPattern: header.bodyChecksum)),
            .text(metadata.mediaType), .int(metadata.width), .int(metadata.height), .int(used))
        return insertBlob.lastInsertedRow
    }

    /// Lets a blob refer to another record with the same bytes.
    func moveBlob(_ id: Int64, to header: RecordHeader, _ range: FreedRange) throws {
        try moveBlob.run(
            .int(range.segment), .int(range.offset), .int(header.span),
            .int(RecordHeader.size + header.metadataLength), .int(header.bodyLength),
            .int(Int64(bitPattern: header.bodyChecksum)), .int(id))
    }

    /// Whether no entry names the blob.
    func isOrphan(_ blob: Int64) throws -> Bool { try selectAnyEntry.first(.int(blob)) { _ in true } == nil }

    func touch(_ blob: Int64, used: Int64) throws { try touchBlob.run(.int(used), .int(blob)) }

    /// Deletes a blob with all its entries. Returns the ranges of their records.
    func removeBlob(_ blob: BlobRow) throws -> [FreedRange] {
        var freed = [blob.range]
        try selectReferences.each(.int(blob.id)) { row in
            if let range = try Self.range(row, from: 0) { freed.append(range) }
        }
        try deleteEntriesOfBlob.run(.int(blob.id))
        try deleteBlob.run(.int(blob.id))
        return freed
    }

    /// - Parameter recency: Blobs that were used later are left out.
    func leastRecentlyUsed(_ limit: Int, usedUpTo recency: Int64) throws -> [BlobRow] {
        var blobs: [BlobRow] = []
        try selectLeastUsed.each(.int(recency), .int(limit)) { blobs.append(try Self.blobRow($0)) }
        return blobs
    }

    // MARK: Segments

    /// Adds to a segment's live bytes; `bytes` may be negative.
    func charge(_ bytes: Int, to segment: Int) throws { try chargeSegment.run(.int(segment), .int(bytes)) }

    /// What the index knows about each segment: the offset of the records that it does not know, and the bytes charged.
    func segments() throws -> [Int: (scanned: Int, live: Int)] {
        var segments: [Int: (scanned: Int, live: Int)] = [:]
        try selectSegments.each { segments[try $0.size(0)] = (try $0.size(1), $0.int(2)) }
        return segments
    }

    /// The bytes charged in each segment, and the end of the last record that a row names. Reads all rows.
    func liveBytes() throws -> [Int: (bytes: Int, end: Int)] {
        var live: [Int: (bytes: Int, end: Int)] = [:]
        try selectLiveBytes.each { live[try $0.size(0)] = (try $0.size(1), try $0.size(2)) }
        return live
    }

    /// Whether a row names a record that begins in the range. Reads all rows.
    func hasRows(in range: FreedRange) throws -> Bool {
        try [selectBlobIn, selectReferenceIn].contains { statement in
            try statement.first(.int(range.segment), .int(range.offset), .int(range.end)) { _ in true } ?? false
        }
    }

    /// The records of a segment that rows name. Reads all rows.
    func records(in segment: Int) throws -> [IndexedRecord] {
        var records: [IndexedRecord] = []
        for (statement, isReference) in [(selectBlobsOf, false), (selectReferencesOf, true)] {
            try statement.each(.int(segment)) { row in
                let range = FreedRange(
                    segment: segment, offset: try row.size(1), length: RecordHeader.charge(try row.size(2)))
                records.append(
                    IndexedRecord(id: row.int64(3), blob: row.int64(4), isReference: isReference, range: range))
            }
        }
        return records
    }

    /// Records that the entry that the record names was removed.
    func markRemoved(_ range: FreedRange) throws { try insertRemoved.run(.int(range.segment), .int(range.offset)) }

    /// Whether the entry that a record names was removed.
    func isRemoved(_ range: FreedRange) throws -> Bool {
        try selectRemovedAt.first(.int(range.segment), .int(range.offset)) { _ in true } != nil
    }

    /// Where the records begin whose entries were removed while their blobs stay.
    func removedRecords() throws -> Set<RecordPosition> {
        var records: Set<RecordPosition> = []
        try selectRemoved.each { row in
            records.insert(RecordPosition(segment: try row.size(0), offset: try row.size(1)))
        }
        return records
    }

    /// Lets a row name a copy of its record. Returns false if it names another one by now, or is gone.
    func move(_ record: IndexedRecord, to range: FreedRange) throws -> Bool {
        let statement = record.isReference ? moveReference : moveBlobRecord
        return try statement.run(
            .int(range.segment), .int(range.offset), .int(record.id), .int(record.range.segment),
            .int(record.range.offset)) > 0
    }

    /// Leaves an entry without a record of its own. Returns false if it has another one by now, or is gone.
    func removeReference(_ record: IndexedRecord) throws -> Bool {
        try removeReference.run(.int(record.id), .int(record.range.segment), .int(record.range.offset)) > 0
    }

    /// Records that the index knows all records of a segment before `offset`.
    func markScanned(_ segment: Int, to offset: Int) throws { try setScanned.run(.int(segment), .int(offset)) }

    func removeSegment(_ segment: Int) throws { try deleteSegment.run(.int(segment)) }

    // MARK: Freed ranges

    /// Records ranges that the transaction frees. Returns their rows; nil if there are none.
    func addFreed(_ ranges: [FreedRange]) throws -> ClosedRange<Int64>? {
        guard hasFreed else { return nil }
        var rows: ClosedRange<Int64>?
        for range in ranges {
            try insertFreed.run(.int(range.segment), .int(range.offset), .int(range.length))
            rows = (rows?.lowerBound ?? insertFreed.lastInsertedRow)...insertFreed.lastInsertedRow
        }
        return rows
    }

    /// Every freed range that some process may not have given back yet.
    func allFreed() throws -> (ranges: [FreedRange], rows: ClosedRange<Int64>?) {
        guard hasFreed else { return ([], nil) }
        var ranges: [FreedRange] = []
        var rows: ClosedRange<Int64>?
        try selectFreed.each { row in
            if let range = try Self.range(row, from: 1) { ranges.append(range) }
            let id = row.int64(0)
            rows = min(rows?.lowerBound ?? id, id)...max(rows?.upperBound ?? id, id)
        }
        return (ranges, rows)
    }

    /// The ranges that overlap no record that a row names. Reads all rows, unless there are no ranges.
    func unused(_ ranges: [FreedRange]) throws -> [FreedRange] {
        if ranges.isEmpty { return [] }
        let freed = RangeSet(ranges)
        var used: [FreedRange] = []
        try selectAllRecords.each { row in
            let length = RecordHeader.charge(try row.size(2))
            let range = FreedRange(segment: try row.size(0), offset: try row.size(1), length: length)
            if freed.overlaps(range) { used.append(range) }
        }
        if used.isEmpty { return ranges }
        let usedSet = RangeSet(used)
        return ranges.filter { !usedSet.overlaps($0) }
    }

    func removeFreed(_ rows: [ClosedRange<Int64>]) throws {
        for rows in rows { try deleteFreed.run(.int(rows.lowerBound), .int(rows.upperBound)) }
    }

    private static func blobRow(_ row: borrowing Row) throws -> BlobRow {
        BlobRow(id: row.int64(0), segment: try row.size(1), offset: try row.size(2), span: try row.size(3))
    }

    private static func range(_ row: borrowing Row, from column: Int32) throws -> FreedRange? {
        guard let segment = try row.optionalSize(column) else { return nil }
        return FreedRange(segment: segment, offset: try row.size(column + 1), length: try row.size(column + 2))
    }
}
