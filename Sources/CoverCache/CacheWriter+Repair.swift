import GRDB

/// The result of `repair`.
package struct RepairReport: Sendable {
    package var found = VerifyReport()
    /// Damaged covers that were removed, by digest.
    package var dropped = 0
    /// Covers and records that the disk cannot read. They are kept: they may be whole.
    package var unreadable = 0
    /// Intact covers in the segments that the index had lost, by URL.
    package var restored = 0
    /// The number of entries of the rebuilt index; nil if it was sound.
    package var rebuiltEntries: Int?

    package init(rebuiltEntries: Int? = nil) { self.rebuiltEntries = rebuiltEntries }
}

extension CacheWriter {
    /// Transactions of a repair change this many rows, so that other processes can write in between.
    private static let repairSlice = 500

    /// Verifies the cache and mends it. If the index is sound, damaged covers are removed and lost ones added, and all other entries
    /// keep their times and their order of use. If it is not, it is rebuilt from the segments.
    /// - Parameter progress: as in `verify`.
    /// - Throws: `CacheError` if a segment cannot be opened: its covers are not lost. `.corruptIndex` if the index must be set aside.
    package func repair(progress: (Int, Int) -> Void = { _, _ in }) throws -> RepairReport {
        var report = RepairReport()
        let suspects = try suspects(&report.found, progress: progress)
        // Dropping a row frees the range that it names, which must not be another's.
        if try report.found.isIndexSound && (suspects.isEmpty || !hasOverlaps()) {
            try drop(suspects, &report)
            report.restored = try restoreLost()
            reclaimSpace()
        } else {
            report.rebuiltEntries = try rebuild()
        }
        return report
    }

    /// Whether two rows name records that overlap.
    private func hasOverlaps() throws -> Bool {
        try reading { database in
            var (last, end) = (-1, 0)
            var isOverlapping = false
            try FastStatement(database, Index.selectRecords + " ORDER BY 1, 2").each { row in
                let (segment, offset) = (try row.size(0), try row.size(1))
                if segment == last, offset < end { isOverlapping = true }
                (last, end) = (segment, offset + RecordHeader.charge(try row.size(2)))
            }
            return isOverlapping
        }
    }

    /// Removes the blobs whose records still are damaged. A damaged record without a body is written again.
    private func drop(_ suspects: [Suspect], _ report: inout RepairReport) throws {
        for start in stride(from: 0, to: suspects.count, by: Self.repairSlice) {
            try transaction { state, _ in
                for suspect in suspects[start...].prefix(Self.repairSlice) { try drop(suspect, &state, &report) }
            }
        }
        // Writes them.
        _ = try commit()
    }

    private func drop(_ suspect: Suspect, _ state: inout IndexState, _ report: inout RepairReport) throws {
        let range = suspect.range
        // Throws if the segment cannot be opened.
        let file = try files.file(range.segment)
        guard try self.range(of: suspect.row) == range else { return }
        guard file?.isReadable(at: range.offset, length: range.length) ?? true else {
            report.unreadable += 1
            return
        }
        switch suspect.row {
        case .blob(let id, let digest):
            guard let blob = try index.blob(id: id), try !isIntact(blob, digest) else { return }
            try removeBlob(blob, &state)
            report.dropped += 1
        case .entry(let key):
            guard let entry = try index.entry(key), let blob = try index.blob(id: entry.blob),
                let header = record(of: blob)?.header
            else { return }
            try index.setReference(of: entry.id, to: nil)
            release([range], &state)
            unrecorded += try index.entriesOfOwnRecord(blob.id, header).filter { $0.metadata.key == key }
        }
    }

    /// Adds the intact records that no row names.
    /// - Returns: how many there are.
    private func restoreLost() throws -> Int {
        let known = try reading { _ in try index.segments() }
        var lost: [SegmentRecord] = []
        for number in try directory.segmentNumbers() {
            guard let scanned = known[number]?.scanned, let file = try files.file(number) else { continue }
            _ = try SegmentScanner.scan(file, number, to: scanned, checking: .front) { found in
                if case .record(let record) = found, try reading({ _ in try !isIndexed(record) }) {
                    lost.append(record)
                }
            }
        }
        if lost.isEmpty { return 0 }
        return try transaction { state, _ in
            let evicted = try index.allFreed().ranges + abandoned
            // Other processes have continued meanwhile.
            let records = try lost.filter { record in
                let range = record.range
                guard let file = try files.file(range.segment), try !isIndexed(record),
                    !evicted.contains(where: { $0.contains(range) }),
                    case .record = try? SegmentScanner.record(
                        file, range.segment, at: range.offset, end: range.end, checking: .digest)
                else { return false }
                return true
            }
            try adopt(records, &state)
            return try records.count { try isIndexed($0) }
        }
    }

    /// Whether a row names the record, and the entry that it names is there or was removed.
    private func isIndexed(_ record: SegmentRecord) throws -> Bool {
        let entry = try index.entry(record.metadata.key)
        if record.header.isReference { return entry?.reference == record.range }
        guard let blob = try index.blob(record.header.digest), blob.range == record.range else { return false }
        return try entry.map { $0.blob == blob.id && $0.reference == nil } ?? false || index.isRemoved(record.range)
    }
}
