import GRDB

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

    package init(entries: Int = 0, blobs: Int = 0, bytes: Int = 0) {
        (self.entries, self.blobs, self.bytes) = (entries, blobs, bytes)
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
        case entry(key: String)
    }
    var defect: Defect
    var row: Row
    var range: FreedRange
    /// Whether the record is intact, but the row does not match it.
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
            return try reading { database in
                report.entries = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM entries") ?? 0
                let total = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM blobs") ?? 0
                let suspects =
                    try (verifyBlobs(database, &report) { progress($0, total) } + verifyReferences(database))
                    .filter { try range(of: $0.row) == $0.range }
                report.defects += suspects.map(\.defect)
                if suspects.contains(where: \.isOfIndex) { report.isIndexSound = false }
                for (key, problem) in try indexProblems(database) {
                    report.add(indexDefect: Defect(key: key, location: directory.index, problem: problem))
                }
                return suspects
            }
        } catch let error as DatabaseError where IndexFile.isCorrupt(error) {
            let problem = "the index is damaged: \(error.message ?? "corrupt")"
            report.add(indexDefect: Defect(key: nil, location: directory.index, problem: problem))
            return []
        }
    }

    /// The range that the index names now.
    func range(of row: Suspect.Row) throws -> FreedRange? {
        switch row {
        case .blob(let id, _): try index.blob(id: id)?.range
        case .entry(let key): try index.entry(key)?.reference
        }
    }

    private func verifyBlobs(
        _ database: Database, _ report: inout VerifyReport, progress: (Int) -> Void
    ) throws -> [Suspect] {
        let rows = FastStatement(
            database,
            """
            SELECT b.digest, b.segment, b.offset, b.body, b.length, (SELECT url FROM entries WHERE blob = b.id LIMIT 1),
                b.span, b.id, b.checksum, b.tag
            FROM blobs b ORDER BY b.segment, b.offset
            """)
        var suspects: [Suspect] = []
        try rows.each { row in
            report.blobs += 1
            guard let digest = row.digest(0) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a digest has the wrong length")
            }
            let (key, blob) = (row.optionalText(5), row.int64(7))
            let (segment, offset, length) = (try row.size(1), try row.size(2), try row.size(4))
            let (bodyStart, span) = (try row.size(3), try row.size(6))
            func add(_ problem: String, isOfIndex: Bool = false) {
                suspects.append(
                    Suspect(
                        defect: Defect(key: key, location: location(segment, offset), problem: problem),
                        row: .blob(blob, digest),
                        range: FreedRange(segment: segment, offset: offset, length: RecordHeader.charge(span)),
                        isOfIndex: isOfIndex))
            }
            do throws(CacheError) {
                if let record = try files.read(segment, offset: offset, length: span) {
                    report.bytes += length
                    switch record.withUnsafeBytes({ RecordState($0, checking: .digest) }) {
                    case .damagedFront: add("the record's head is damaged")
                    case .damagedBody(let header) where header.span == span: add("the bytes do not match their digest")
                    case .damagedBody: add("the index does not match the record", isOfIndex: true)
                    case .intact(let header):
                        let isMatching =
                            !header.isReference && header.digest == digest && digest.tag == row.int64(9)
                            && header.bodyLength == length
                            && RecordHeader.size + header.metadataLength == bodyStart && header.span == span
                            && Int64(bitPattern: header.bodyChecksum) == row.int64(8)
                        if !isMatching { add("the index does not match the record", isOfIndex: true) }
                    }
                } else {
                    add("the bytes are gone")
                }
            } catch {
                add("\(error)")
            }
            if key == nil { add("a blob that no entry names", isOfIndex: true) }
            progress(report.blobs)
        }
        return suspects
    }

    private func verifyReferences(_ database: Database) throws -> [Suspect] {
        let rows = FastStatement(
            database,
            """
            SELECT e.url, e.segment, e.offset, e.span, b.digest FROM entries e JOIN blobs b ON b.id = e.blob
            WHERE e.segment IS NOT NULL ORDER BY e.segment, e.offset
            """)
        var suspects: [Suspect] = []
        try rows.each { row in
            let (key, segment, offset, span) = (row.text(0), try row.size(1), try row.size(2), try row.size(3))
            var problem = "the reference is damaged"
            do throws(CacheError) {
                let front = try files.read(segment, offset: offset, length: span)
                if front?.withUnsafeBytes({ Self.key(of: $0, row.digest(4)) }) == key { return }
            } catch {
                problem = "\(error)"
            }
            suspects.append(
                Suspect(
                    defect: Defect(key: key, location: location(segment, offset), problem: problem),
                    row: .entry(key: key), range: FreedRange(segment: segment, offset: offset, length: span)))
        }
        return suspects
    }

    /// What is wrong with the rows, without their records: the key, if it is known, and the problem.
    private func indexProblems(_ database: Database) throws -> [(key: String?, problem: String)] {
        var problems: [(key: String?, problem: String)] = []
        let strays = FastStatement(
            database, "SELECT url FROM entries e WHERE NOT EXISTS (SELECT 1 FROM blobs b WHERE b.id = e.blob)")
        try strays.each { problems.append(($0.text(0), "an entry without a blob")) }
        try FastStatement(database, "SELECT tag, url FROM entries").each { row in
            let key = row.text(1)
            if Index.tag(key) != row.int64(0) { problems.append((key, "the index does not find this entry")) }
        }
        if try !hasRightCounts(database) { problems.append((nil, "its counts are wrong")) }
        for line in try String.fetchAll(database, sql: "PRAGMA integrity_check") where line != "ok" {
            problems.append((nil, line))
        }
        return problems
    }

    /// Whether the stored counts are those of the rows.
    private func hasRightCounts(_ database: Database) throws -> Bool {
        var isRight = false
        try database.inTransaction(.deferred) {
            let (state, live) = (try IndexState(database), try index.liveBytes())
            let counted = try IndexTotals(counting: database)
            let areSegmentsRight = try index.segments().allSatisfy { live[$0.key] ?? 0 == $0.value.live }
            let areTotalsRight = try pins == nil || totals(database) == counted && PinTable.isRight(database)
            isRight =
                areSegmentsRight && areTotalsRight && live.values.reduce(0, +) == state.charged
                && counted.blobs == state.blobs
            return .commit
        }
        return isRight
    }

    private func location(_ segment: Int, _ offset: Int) -> String { "\(directory.segment(segment)) at \(offset)" }

    /// The key of an intact record with this digest.
    private static func key(of record: UnsafeRawBufferPointer, _ digest: Digest?) -> String? {
        guard case .intact(let header) = RecordState(record, checking: .front), header.digest == digest else {
            return nil
        }
        let metadata = UnsafeRawBufferPointer(rebasing: record[RecordHeader.size...].prefix(header.metadataLength))
        return EntryMetadata(decoding: metadata)?.key
    }
}
