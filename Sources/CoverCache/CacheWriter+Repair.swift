import SQLite

/// The result of `repair`.
package struct RepairReport: Sendable {
    package var found = VerifyReport()
    /// Damaged covers that were removed, by digest.
    package var dropped = 0
    /// Records without a body that were written again.
    package var rewritten = 0
    /// Covers and records that the disk cannot read. They are kept: they may be whole.
    package var unreadable = 0
    /// The number of entries of the rebuilt index; nil if it was sound.
    package var rebuiltEntries: Int?

    package init(rebuiltEntries: Int? = nil) { self.rebuiltEntries = rebuiltEntries }
}

extension CacheWriter {
    /// A transaction of a repair handles this many defects, so that other processes can write in between.
    private static let repairSlice = 500

    /// Verifies the cache and mends it. If the index is sound, damaged covers are removed, and all others keep their times and their
    /// order of use. If it is not, it is rebuilt from the segments: a wrong row may name any range.
    /// - Parameter progress: as in `verify`.
    /// - Throws: `CacheError` if a segment cannot be opened: its covers are not lost. `.noSegments`, which nothing is dropped for.
    ///   `.corruptIndex` if the index must be set aside.
    package func repair(progress: (Int, Int) -> Void = { _, _ in }) throws -> RepairReport {
        var report = RepairReport()
        let suspects = try suspects(&report.found, progress: progress)
        if let corruption = report.found.corruption { throw CacheError.corruptIndex(corruption) }
        // What a row names is freed with it, and must not be another's.
        if try report.found.isIndexSound && (suspects.isEmpty || !hasOverlaps()) {
            try usingReserve { try mend(suspects, &report) }
            reclaimSpace()
        } else {
            report.rebuiltEntries = try rebuild()
        }
        return report
    }

    /// A single segment may be lost. If all are missing, their folder is more likely to be elsewhere, on a disk that is not mounted.
    /// - Throws: `CacheError.noSegments`.
    func checkSegments() throws(CacheError) {
        if try directory.segmentNumbers().isEmpty { throw .noSegments(directory.segments) }
    }

    /// Whether two rows name records that overlap.
    private func hasOverlaps() throws -> Bool {
        try reading { connection in
            var (last, end) = (-1, 0)
            var isOverlapping = false
            try connection.statement(Index.selectRecords + " ORDER BY 1, 2").each { row in
                let (segment, offset) = (try row.size(0), try row.size(1))
                if segment == last, offset < end { isOverlapping = true }
                (last, end) = (segment, offset + RecordHeader.charge(try row.size(2)))
            }
            return isOverlapping
        }
    }

    /// Removes the blobs whose records still are damaged, and gives entries a record whose own is damaged or missing.
    private func mend(_ suspects: [Suspect], _ report: inout RepairReport) throws {
        if suspects.isEmpty { return }
        try checkSegments()
        for start in stride(from: 0, to: suspects.count, by: Self.repairSlice) {
            let (dropped, unreadable, unrecorded) = try transaction { state, _ in
                var (dropped, unreadable, unrecorded) = (0, 0, [UnrecordedEntry]())
                for suspect in suspects[start...].prefix(Self.repairSlice) {
                    guard try range(of: suspect.row) == suspect.range else { continue }
                    let range = suspect.range
                    // Throws if the segment cannot be opened.
                    guard try files.file(range.segment)?.isReadable(at: range.offset, length: range.length) ?? true
                    else {
                        unreadable += 1
                        continue
                    }
                    switch suspect.row {
                    case .blob(let id, let digest):
                        guard let blob = try index.blob(id: id), try !isIntact(blob, digest, checking: .digest) else {
                            continue
                        }
                        try removeBlob(blob, &state)
                        dropped += 1
                    case .reference(let key), .unrecorded(let key):
                        guard let entry = try index.entry(key), let blob = try index.blob(id: entry.blob),
                            let record = record(of: blob)
                        else { continue }
                        if let reference = entry.reference {
                            try index.setReference(of: entry.id, to: nil)
                            release([reference], &state)
                        }
                        unrecorded += try index.entriesOfOwnRecord(blob.id, record.header).filter {
                            $0.metadata.key == key
                        }
                    }
                }
                return (dropped, unreadable, unrecorded)
            }
            report.dropped += dropped
            report.unreadable += unreadable
            report.rewritten += unrecorded.count
            self.unrecorded += unrecorded
        }
        // `commit` writes the records, but reports no segment that cannot be opened. A process that is killed before leaves entries
        // without a record, which the next repair finds.
        if !unrecorded.isEmpty { _ = try openSegment() }
        _ = try commit()
    }
}
