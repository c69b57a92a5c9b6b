import GRDB

/// Something in the cache that is not as it should be.
package struct Defect: Sendable, Hashable, CustomStringConvertible {
    /// The URL, where it is known.
    package var key: String?
    package var place: String
    package var what: String

    package var description: String { (key.map { "\($0): " } ?? "") + "\(what) (\(place))" }
}

/// What `verify` found.
package struct VerifyReport: Sendable {
    package var entries = 0
    package var blobs = 0
    package var bytes = 0
    package var defects: [Defect] = []
    /// Entries in the index after a repair; nil when nothing was repaired.
    package var rebuilt: Int?
}

extension CacheWriter {
    /// Hashes every blob anew and compares it with its digest, and looks whether every entry has one.
    /// - Parameter progress: called now and then with the blobs done and their number.
    package func verify(progress: (Int, Int) -> Void = { _, _ in }) throws -> VerifyReport {
        var report = VerifyReport()
        var files = SegmentFiles(directory)
        try reading { database in
            report.entries = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM entries") ?? 0
            let total = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM blobs") ?? 0
            let rows = FastStatement(
                database,
                """
                SELECT b.digest, b.segment, b.offset, b.body, b.length,
                    (SELECT url FROM entries WHERE blob = b.id LIMIT 1)
                FROM blobs b ORDER BY b.segment, b.offset
                """)
            try rows.each { row in
                report.blobs += 1
                let (segment, offset, length) = (row.int(1), row.int(2), row.int(4))
                let key = row.optionalText(5)
                let place = "\(directory.segment(segment)) at \(offset)"
                func defect(_ what: String) { report.defects.append(Defect(key: key, place: place, what: what)) }
                if let body = files.read(segment, offset: offset + row.int(3), length: length) {
                    report.bytes += length
                    if body.withUnsafeBytes({ Digest(of: $0) }) != row.digest(0) {
                        defect("the bytes do not match their digest")
                    } else if !Self.isSound(files.read(segment, offset: offset, length: row.int(3)), row.digest(0)) {
                        // What a rebuild would not find, it would drop.
                        defect("the record's head is damaged")
                    }
                } else {
                    defect("the bytes are gone")
                }
                if key == nil { defect("a blob that no entry names") }
                progress(report.blobs, total)
            }
            let references = FastStatement(
                database,
                """
                SELECT e.url, e.segment, e.offset, e.span, b.digest FROM entries e JOIN blobs b ON b.id = e.blob
                WHERE e.segment IS NOT NULL ORDER BY e.segment, e.offset
                """)
            try references.each { row in
                let (segment, offset) = (row.int(1), row.int(2))
                if Self.isSound(files.read(segment, offset: offset, length: row.int(3)), row.digest(4)) { return }
                let place = "\(directory.segment(segment)) at \(offset)"
                report.defects.append(Defect(key: row.text(0), place: place, what: "the reference is damaged"))
            }
            let strays = try Row.fetchCursor(
                database,
                sql: "SELECT url FROM entries e WHERE NOT EXISTS (SELECT 1 FROM blobs b WHERE b.id = e.blob)")
            while let row = try strays.next() {
                report.defects.append(Defect(key: row[0], place: directory.index, what: "an entry without a blob"))
            }
            let entries = FastStatement(database, "SELECT id, url FROM entries")
            try entries.each { row in
                if try index.entry(row.text(1))?.id == row.int64(0) { return }
                report.defects.append(
                    Defect(key: row.text(1), place: directory.entryTags, what: "an entry that is not found"))
            }
            for line in try String.fetchAll(database, sql: "PRAGMA quick_check") where line != "ok" {
                report.defects.append(Defect(key: nil, place: directory.index, what: line))
            }
        }
        return report
    }

    /// Whether head and metadata are those of a record with this digest.
    private static func isSound(_ front: [UInt8]?, _ digest: Digest?) -> Bool {
        guard let front else { return false }
        return front.withUnsafeBytes { bytes in
            guard let head = RecordHead(bytes), bytes.count >= RecordHead.size + head.metadataLength else {
                return false
            }
            let whole = UnsafeRawBufferPointer(rebasing: bytes[..<(RecordHead.size + head.metadataLength)])
            return head.digest == digest && RecordHead.isSound(whole)
        }
    }

    /// Rebuilds the index from the segments alone: every whole record is taken whose bytes match their digest, the newest of
    /// a key wins, and what is damaged is given back to the file system. One transaction, so that readers see the old index
    /// or the new one.
    /// - Returns: how many entries there are now.
    package func rebuild() throws -> Int {
        var files = SegmentFiles(directory)
        let entries = try transaction { state, database in
            try database.execute(sql: "DELETE FROM entries; DELETE FROM blobs; DELETE FROM segments;")
            if hasMemory { try memory.removeAll() }
            (state.live, state.blobs) = (0, 0)
            let numbers = try directory.segmentNumbers()
            for number in numbers {
                guard let descriptor = files.descriptor(number) else { continue }
                let end = try SegmentScanner.scan(descriptor, verifyingDigest: true) { found in
                    switch found {
                    case .record(let record): try rebuildBlob(record, in: number, &state)
                    case .damage(let offset):
                        note(freed: FreedRange(segment: number, offset: offset, length: RecordHead.alignment))
                    }
                }
                try index.markScanned(number, to: end)
                state.lastSegment = max(state.lastSegment, number)
            }
            for number in numbers {
                guard let descriptor = files.descriptor(number) else { continue }
                _ = try SegmentScanner.scan(descriptor) { found in
                    if case .record(let record) = found { try rebuildEntry(record, in: number, &state) }
                }
            }
            try removeOrphans(database, &state)
            return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM entries") ?? 0
        }
        tidy()
        return entries
    }
}
