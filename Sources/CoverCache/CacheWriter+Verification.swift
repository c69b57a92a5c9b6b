import Platform
import SQLite

/// A fault that `verify` found.
package struct Defect: Sendable, Hashable, CustomStringConvertible {
    /// The entry's key, if it is known.
    package var key: String?
    /// The file, and the offset in it.
    package var location: String
    package var problem: String

    package init(key: String?, location: String, problem: String) {
        (self.key, self.location, self.problem) = (key, location, problem)
    }

    package var description: String { (key.map { "\($0): " } ?? "") + "\(problem) (\(location))" }
}

/// The result of `verify`.
package struct VerifyReport: Sendable {
    package var entries: Int
    package var blobs: Int
    /// The length of all bodies read.
    package var bytes: Int
    package var defects: [Defect] = []
    /// Whether the index agrees with itself and with the records that are intact. If it does not, only a rebuild mends it.
    package var isIndexSound = true
    /// Why SQLite cannot read the index. Only a new file helps.
    package var corruption: String?

    package init(entries: Int = 0, blobs: Int = 0, bytes: Int = 0) {
        (self.entries, self.blobs, self.bytes) = (entries, blobs, bytes)
    }

    package mutating func add(corruption: String, at path: String) {
        self.corruption = corruption
        add(indexDefect: Defect(key: nil, location: path, problem: "the index is damaged: \(corruption)"))
    }

    /// Adds a defect of the index itself.
    package mutating func add(indexDefect defect: Defect) {
        defects.append(defect)
        isIndexSound = false
    }
}

/// A defect of a record. It counts if the index still names the range in which it was found: another process may have evicted or moved
/// the record since.
struct Suspect {
    /// What names the record.
    enum Row {
        case blob(Int64, Digest)
        /// The record of an entry, which has no body.
        case reference(key: String)
        /// An entry without a record: its blob's names another key.
        case unrecorded(key: String)
    }
    var defect: Defect
    var row: Row
    var range: FreedRange
    /// The index is wrong, not the record.
    var isOfIndex = false
}

extension CacheWriter {
    /// Compares every blob with its digest, and checks the records and the index.
    /// - Parameter progress: called after each blob with the number of blobs checked and the number of all blobs.
    package func verify(progress: (Int, Int) -> Void = { _, _ in }) throws -> VerifyReport {
        var report = VerifyReport()
        _ = try suspects(&report, progress: progress)
        return report
    }

    /// Verifies the cache. Returns the defects of records, which the report has, too.
    func suspects(_ report: inout VerifyReport, progress: (Int, Int) -> Void) throws -> [Suspect] {
        do {
            return try reading { connection in
                report.entries = Int(try connection.integer("SELECT COUNT(*) FROM entries") ?? 0)
                let total = Int(try connection.integer("SELECT COUNT(*) FROM blobs") ?? 0)
                var suspects =
                    try (verifyBlobs(connection, &report) { progress($0, total) } + verifyReferences(connection))
                    .filter { try range(of: $0.row) == $0.range }
                let known = try index.segments()
                for index in suspects.indices
                where suspects[index].range.end > known[suspects[index].range.segment]?.scanned ?? 0 {
                    // Nothing is freed where a writer may append.
                    suspects[index].isOfIndex = true
                }
                report.defects += suspects.map(\.defect)
                if suspects.contains(where: \.isOfIndex) { report.isIndexSound = false }
                for record in try lostRecords(suspects) {
                    let location = location(record.segment, record.offset)
                    report.add(
                        indexDefect: Defect(
                            key: record.metadata.key, location: location, problem: "the index has lost this record"))
                }
                for (key, problem) in try indexProblems(connection) {
                    report.add(indexDefect: Defect(key: key, location: directory.index, problem: problem))
                }
                try connection.statement("PRAGMA integrity_check").each { row in
                    if row.text(0) != "ok" { throw SQLiteError(.corrupt, row.text(0)) }
                }
                return suspects
            }
        } catch let error as SQLiteError where error.isCorruption {
            report.add(corruption: error.message, at: directory.index)
            return []
        }
    }

    /// The range that the index names now. For an entry without a record, its blob's.
    func range(of row: Suspect.Row) throws -> FreedRange? {
        switch row {
        case .blob(let id, _): return try index.blob(id: id)?.range
        case .reference(let key): return try index.entry(key)?.reference
        case .unrecorded(let key):
            guard let entry = try index.entry(key), entry.reference == nil else { return nil }
            return try index.blob(id: entry.blob)?.range
        }
    }

    private func verifyBlobs(
        _ connection: borrowing Connection, _ report: inout VerifyReport, progress: (Int) -> Void
    ) throws -> [Suspect] {
        let rows = connection.statement(
            """
            SELECT b.digest, b.segment, b.offset, b.body, b.length, (SELECT url FROM entries WHERE blob = b.id LIMIT 1),
                b.span, b.id, b.checksum, b.tag
            FROM blobs b ORDER BY b.segment, b.offset
            """)
        var suspects: [Suspect] = []
        try rows.each { row in
            report.blobs += 1
            guard let digest = row.digest(0) else {
                throw SQLiteError(.corrupt, "a digest has the wrong length")
            }
            let (key, blob) = (row.optionalText(5), row.int64(7))
            let (segment, offset, length) = (try row.size(1), try row.size(2), try row.size(4))
            let (bodyStart, span) = (try row.size(3), try row.size(6))
            func add(
                _ problem: String, key: String? = key, row: Suspect.Row = .blob(blob, digest), isOfIndex: Bool = false
            ) {
                suspects.append(
                    Suspect(
                        defect: Defect(key: key, location: location(segment, offset), problem: problem), row: row,
                        range: FreedRange(segment: segment, offset: offset, length: RecordHeader.charge(span)),
                        isOfIndex: isOfIndex))
            }
            var record: [UInt8]?
            var problem = "the bytes are gone"
            do throws(CacheError) {
                record = try files.read(segment, offset: offset, length: span)
            } catch {
                problem = "\(error)"
            }
            if let record {
                report.bytes += length
                switch record.withUnsafeBytes({ RecordState($0, checking: .digest) }) {
                case .damagedFront: add("the record's head is damaged")
                case .damagedBody(let header) where header.span == span: add("the bytes do not match their digest")
                case .damagedBody: add("the index does not match the record", isOfIndex: true)
                case .intact(let header):
                    let isMatching =
                        !header.isReference && header.digest == digest && digest.tag == row.int64(9)
                        && header.bodyLength == length && RecordHeader.size + header.metadataLength == bodyStart
                        && header.span == span && Int64(bitPattern: header.bodyChecksum) == row.int64(8)
                    if !isMatching { add("the index does not match the record", isOfIndex: true) }
                    let own = Self.metadata(of: record, header)?.key
                    for key in try index.keysOfOwnRecord(blob) where key != own {
                        add("it has no record in the segments", key: key, row: .unrecorded(key: key))
                    }
                }
            } else {
                add(problem)
            }
            if key == nil { add("a blob that no entry names", isOfIndex: true) }
            progress(report.blobs)
        }
        return suspects
    }

    private func verifyReferences(_ connection: borrowing Connection) throws -> [Suspect] {
        let rows = connection.statement(
            """
            SELECT e.url, e.segment, e.offset, e.span, b.digest FROM entries e JOIN blobs b ON b.id = e.blob
            WHERE e.segment IS NOT NULL ORDER BY e.segment, e.offset
            """)
        var suspects: [Suspect] = []
        try rows.each { row in
            let (key, segment, offset, span) = (row.text(0), try row.size(1), try row.size(2), try row.size(3))
            var problem = "the reference is damaged"
            var isOfIndex = false
            do throws(CacheError) {
                if let record = try files.read(segment, offset: offset, length: span),
                    case .intact(let header) = record.withUnsafeBytes({ RecordState($0, checking: .front) })
                {
                    if header.digest == row.digest(4), Self.metadata(of: record, header)?.key == key { return }
                    problem = "the index does not match the record"
                    isOfIndex = true
                }
            } catch {
                problem = "\(error)"
            }
            suspects.append(
                Suspect(
                    defect: Defect(key: key, location: location(segment, offset), problem: problem),
                    row: .reference(key: key), range: FreedRange(segment: segment, offset: offset, length: span),
                    isOfIndex: isOfIndex))
        }
        return suspects
    }

    private static func metadata(of record: [UInt8], _ header: RecordHeader) -> EntryMetadata? {
        record.withUnsafeBytes {
            EntryMetadata(
                decoding: UnsafeRawBufferPointer(rebasing: $0[RecordHeader.size...].prefix(header.metadataLength)))
        }
    }

    // MARK: Lost records

    /// The intact records that the index should name and does not: their rows are gone, or name another place.
    /// - Parameter suspects: what the index names in vain.
    private func lostRecords(_ suspects: [Suspect]) throws -> [SegmentRecord] {
        var digests: Set<Digest> = []
        var keys: Set<String> = []
        var ranges: Set<FreedRange> = []
        for suspect in suspects {
            switch suspect.row {
            case .blob(_, let digest):
                digests.insert(digest)
                ranges.insert(suspect.range)
            case .reference(let key):
                keys.insert(key)
                ranges.insert(suspect.range)
            case .unrecorded(let key): keys.insert(key)
            }
        }
        let known = try index.segments()
        var lost: [SegmentRecord] = []
        for number in try directory.segmentNumbers() {
            // What follows is not committed yet.
            guard let scanned = known[number]?.scanned, let file = try? files.file(number) else { continue }
            _ = try SegmentScanner.scan(file, number, to: scanned, checking: .front) { found in
                guard case .record(let record) = found, !ranges.contains(record.range) else { return }
                let isMisplaced = !record.header.isReference && digests.contains(record.header.digest)
                if try isMisplaced || isLost(record, keys) { lost.append(record) }
            }
        }
        if lost.isEmpty { return [] }
        // Eviction frees a record before it gives it back, so that what is neither freed nor gone was not evicted.
        let evicted = RangeSet(try index.allFreed().ranges + abandoned + reclaimable.ranges)
        return lost.filter { record in
            guard !evicted.overlaps(record.range), let file = try? files.file(record.segment),
                case .record = try? SegmentScanner.record(
                    file, record.segment, at: record.offset, end: record.range.end, checking: .digest)
            else { return false }
            return true
        }
    }

    /// Whether the record's key has no entry, an older one, or one whose own record is damaged or missing.
    private func isLost(_ record: SegmentRecord, _ damaged: Set<String>) throws -> Bool {
        if let entry = try index.entry(record.metadata.key) {
            if entry.storedAt > record.metadata.storedAt { return false }
            if entry.storedAt == record.metadata.storedAt { return damaged.contains(record.metadata.key) }
            // A later download of the same bytes, which were damaged, does not change when the entry was stored.
            if try index.blob(id: entry.blob)?.range == record.range { return false }
        }
        if record.header.isReference { return try index.blob(record.header.digest) != nil }
        return try pins == nil || !index.isRemoved(record.range)
    }

    // MARK: The index alone

    /// What is wrong with the rows, without their records: the key, if it is known, and the problem.
    private func indexProblems(_ connection: borrowing Connection) throws -> [(key: String?, problem: String)] {
        var problems: [(key: String?, problem: String)] = []
        let strays = connection.statement(
            "SELECT url FROM entries e WHERE NOT EXISTS (SELECT 1 FROM blobs b WHERE b.id = e.blob)")
        try strays.each { problems.append(($0.text(0), "an entry without a blob")) }
        try connection.statement("SELECT tag, url FROM entries").each { row in
            let key = row.text(1)
            if Index.tag(key) != row.int64(0) { problems.append((key, "the index does not find this entry")) }
        }
        if try !hasRightCounts(connection) { problems.append((nil, "its counts are wrong")) }
        return problems
    }

    /// Whether the stored counts are those of the rows.
    private func hasRightCounts(_ connection: borrowing Connection) throws -> Bool {
        try connection.transaction(.deferred) {
            let (state, live) = (try IndexState(connection), try index.liveBytes())
            let counted = try IndexTotals(counting: connection)
            let rows = try pins == nil ? nil : connection.integer("SELECT COUNT(*) FROM totals")
            let areSegmentsRight = try index.segments().allSatisfy { number, row in
                live[number]?.bytes ?? 0 == row.live && live[number]?.end ?? 0 <= row.scanned
            }
            let areTotalsRight =
                try pins == nil || rows == 1 && totals(connection) == counted && PinTable.isRight(connection)
            return areSegmentsRight && areTotalsRight
                && live.values.reduce(0) { $0 + $1.bytes } == state.charged
                && counted.blobs == state.blobs
        }
    }

    private func location(_ segment: Int, _ offset: Int) -> String { "\(directory.segment(segment)) at \(offset)" }
}
