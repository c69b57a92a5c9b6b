import GRDB

/// A fault that `verify` found.
package struct Defect: Sendable, Hashable, CustomStringConvertible {
    /// The entry's key, if it is known.
    package var key: String?
    /// The file, and the offset in it.
    package var location: String
    package var problem: String

    package var description: String { (key.map { "\($0): " } ?? "") + "\(problem) (\(location))" }
}

/// The result of `verify`.
package struct VerifyReport: Sendable {
    package var entries = 0
    package var blobs = 0
    /// The length of all bodies read.
    package var bytes = 0
    package var defects: [Defect] = []
}

/// A defect that counts if the index still names the range in which it was found.
private struct Suspect {
    var defect: Defect
    var range: FreedRange
    /// The range that the index names now.
    var currentRange: () throws -> FreedRange?
}

extension CacheWriter {
    /// Compares every blob with its digest, and checks the records and the index.
    /// - Parameter progress: called after each blob with the number of blobs checked and the number of all blobs.
    package func verify(progress: (Int, Int) -> Void = { _, _ in }) throws -> VerifyReport {
        var report = VerifyReport()
        do {
            try verifyRows(&report, progress: progress)
        } catch let error as DatabaseError where IndexFile.isCorrupt(error) {
            report.defects.append(
                Defect(
                    key: nil, location: directory.index, problem: "the index is damaged: \(error.message ?? "corrupt")")
            )
        }
        return report
    }

    private func verifyRows(_ report: inout VerifyReport, progress: (Int, Int) -> Void) throws {
        try reading { database in
            report.entries = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM entries") ?? 0
            let total = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM blobs") ?? 0
            var suspects = try verifyBlobs(database, &report) { progress($0, total) }
            suspects += try verifyReferences(database)
            // Another process may have evicted or moved the record since the query began.
            report.defects += try suspects.filter { try $0.currentRange() == $0.range }.map(\.defect)
            let strays = try String.fetchCursor(
                database,
                sql: "SELECT url FROM entries e WHERE NOT EXISTS (SELECT 1 FROM blobs b WHERE b.id = e.blob)")
            while let key = try strays.next() {
                report.defects.append(Defect(key: key, location: directory.index, problem: "an entry without a blob"))
            }
            for line in try String.fetchAll(database, sql: "PRAGMA integrity_check") where line != "ok" {
                report.defects.append(Defect(key: nil, location: directory.index, problem: line))
            }
        }
    }

    private func verifyBlobs(
        _ database: Database, _ report: inout VerifyReport, progress: (Int) -> Void
    ) throws -> [Suspect] {
        let rows = FastStatement(
            database,
            """
            SELECT b.digest, b.segment, b.offset, b.body, b.length, (SELECT url FROM entries WHERE blob = b.id LIMIT 1),
                b.span, b.id
            FROM blobs b ORDER BY b.segment, b.offset
            """)
        var suspects: [Suspect] = []
        try rows.each { row in
            report.blobs += 1
            let (segment, offset, length) = (try row.size(1), try row.size(2), try row.size(4))
            let (bodyStart, span) = (try row.size(3), try row.size(6))
            let (key, blob) = (row.optionalText(5), row.int64(7))
            func defect(_ problem: String) {
                suspects.append(
                    Suspect(
                        defect: Defect(key: key, location: location(segment, offset), problem: problem),
                        range: FreedRange(segment: segment, offset: offset, length: RecordHeader.charge(span)),
                        currentRange: { try self.index.blob(id: blob)?.range }))
            }
            do throws(CacheError) {
                if let body = try files.read(segment, offset: offset + bodyStart, length: length) {
                    report.bytes += length
                    let front = try files.read(segment, offset: offset, length: bodyStart)
                    if body.withUnsafeBytes({ Digest(of: $0) }) != row.digest(0) || span != bodyStart + length {
                        defect("the bytes do not match their digest")
                    } else if Self.key(of: front, row.digest(0)) == nil {
                        // A rebuild would not find the record.
                        defect("the record's head is damaged")
                    }
                } else {
                    defect("the bytes are gone")
                }
            } catch {
                defect("\(error)")
            }
            if key == nil { defect("a blob that no entry names") }
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
            do {
                let front = try files.read(segment, offset: offset, length: span)
                if Self.key(of: front, row.digest(4)) == key { return }
            } catch let error as CacheError {
                problem = "\(error)"
            }
            suspects.append(
                Suspect(
                    defect: Defect(key: key, location: location(segment, offset), problem: problem),
                    range: FreedRange(segment: segment, offset: offset, length: span),
                    currentRange: { try self.index.entry(key)?.reference }))
        }
        return suspects
    }

    private func location(_ segment: Int, _ offset: Int) -> String { "\(directory.segment(segment)) at \(offset)" }

    /// The key in the header and metadata that `front` begins with; nil if they are damaged or have another digest.
    private static func key(of front: [UInt8]?, _ digest: Digest?) -> String? {
        guard let front else { return nil }
        return front.withUnsafeBytes { bytes in
            guard let header = RecordHeader(bytes), bytes.count >= RecordHeader.size + header.metadataLength else {
                return nil
            }
            let whole = UnsafeRawBufferPointer(rebasing: bytes[..<(RecordHeader.size + header.metadataLength)])
            guard header.digest == digest, RecordHeader.isIntact(whole) else { return nil }
            return EntryMetadata(decoding: UnsafeRawBufferPointer(rebasing: whole[RecordHeader.size...]))?.key
        }
    }
}
