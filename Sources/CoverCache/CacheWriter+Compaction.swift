import Platform

// Some file systems have no holes, such as exFAT. There, freed blocks come back with their segment: those with little in them are
// emptied, as in a log-structured file system (Rosenblum and Ousterhout, 1991).
extension CacheWriter {
    /// Without holes, segments are short, so that few covers are copied to remove one.
    private static let minimumSegment = 1 << 20

    /// The length at which a segment is closed, in bytes.
    var segmentLimit: Int {
        hasHoles
            ? SegmentWriter.maximumLength : min(max(capacity / 16, Self.minimumSegment), SegmentWriter.maximumLength)
    }

    /// A segment that no process writes to and whose records the index all knows.
    private struct Candidate {
        var number: Int
        var length: Int
        var live: Int
    }

    /// Empties and removes segments until all files together have at most `bytes`, and at most a tenth more than their live bytes. It
    /// empties the one with the least live bytes, and evicts if that is not enough.
    /// - Returns: how many blobs were evicted, and how many bytes were charged for them.
    func compact(to bytes: Int) throws -> (blobs: Int, bytes: Int) {
        var evicted = (blobs: 0, bytes: 0)
        // A segment that another process writes to cannot be emptied.
        var tried: Set<Int> = []
        while true {
            let numbers = try directory.segmentNumbers()
            let lengths = numbers.map { (number: $0, length: directory.length(of: directory.segment($0))) }
            let total = lengths.reduce(0) { $0 + $1.length }
            guard total > min(bytes, charged + charged / 10) else { return evicted }
            let known = try reading { _ in try index.segments() }
            let candidates = lengths.compactMap { number, length -> Candidate? in
                guard let row = known[number], row.scanned >= length, number != compacted?.number,
                    !tried.contains(number)
                else { return nil }
                return Candidate(number: number, length: length, live: max(0, row.live))
            }
            if total > charged + charged / 10,
                let emptiest = candidates.min(by: { $0.live * $1.length < $1.live * $0.length }),
                emptiest.live < emptiest.length
            {
                tried.insert(emptiest.number)
                if emptiest.number == segment?.number {
                    // Offsets of covers that were put but not sealed lie in it.
                    if pendingBytes > 0 { continue }
                    segment = nil
                }
                try moveRecords(outOf: emptiest.number)
                reclaimSpace()
            } else if total > bytes {
                let more = try evictBlobs(to: charged - charged / 10, usedUpTo: sparedFrom ?? .max)
                guard more.blobs > 0 else { return evicted }
                evicted = (evicted.blobs + more.blobs, evicted.bytes + more.bytes)
            } else {
                return evicted
            }
        }
    }

    /// Copies the records that the index names to another segment.
    private func moveRecords(outOf number: Int) throws {
        guard let source = SegmentWriter(takingOver: number, in: directory) else { return }
        let rows = try reading { _ -> [IndexedRecord]? in
            guard let known = try index.segments()[number], known.scanned >= source.end else { return nil }
            return try index.records(in: number)
        }
        var rest = (rows ?? [])[...]
        while !rest.isEmpty {
            var target = try compactionSegment()
            var buffer = RecordBuffer(capacity: groupLimit)
            var moves: [(row: IndexedRecord, range: FreedRange?)] = []
            while buffer.count < groupLimit, let row = rest.popFirst() {
                guard let bytes = try intactRecord(source.file, at: row.range) else {
                    moves.append((row, nil))
                    continue
                }
                let offset =
                    target.end + buffer.append(header: bytes, body: UnsafeRawBufferPointer(start: nil, count: 0))
                moves.append((row, FreedRange(segment: target.number, offset: offset, length: row.range.length)))
            }
            let copies = FreedRange(segment: target.number, offset: target.end, length: buffer.count)
            do {
                try buffer.withUnsafeBytes { bytes throws(CacheError) in try target.file.write(bytes, at: copies.offset)
                }
                try transaction { state, _ in
                    for move in moves { try commitMove(move.row, to: move.range, &state) }
                    try index.markScanned(copies.segment, to: copies.end)
                }
            } catch {
                abandoned.append(copies)
                compacted = nil
                throw error
            }
            target.end = copies.end
            compacted = target.end < segmentLimit ? target : nil
        }
    }

    private func compactionSegment() throws -> SegmentWriter {
        if let compacted { return compacted }
        let created = try createSegment()
        compacted = created
        return created
    }

    /// The record's bytes; nil if they are damaged.
    private func intactRecord(_ file: SegmentFile, at range: FreedRange) throws(CacheError) -> [UInt8]? {
        guard let bytes = try file.read(at: range.offset, length: range.length) else { return nil }
        guard case .intact = bytes.withUnsafeBytes({ RecordState($0, checking: .checksum) }) else { return nil }
        return bytes
    }

    /// Lets a row name the copy of its record.
    /// - Parameter range: nil if the record is damaged.
    private func commitMove(_ row: IndexedRecord, to range: FreedRange?, _ state: inout IndexState) throws {
        guard let range else { return try removeDamaged(row, &state) }
        let isRemoved = try pins != nil && index.isRemoved(row.range)
        if try index.move(row, to: range) {
            // The copy names the removed entry, too.
            if isRemoved { try index.markRemoved(range) }
            release([row.range], &state)
            charge(range, &state)
        } else {
            // Another process has replaced or evicted it.
            freed.append(range)
        }
    }

    /// Removes a blob whose record is damaged. An entry whose own record is damaged gets a new one: its bytes are the blob's.
    private func removeDamaged(_ row: IndexedRecord, _ state: inout IndexState) throws {
        let blob = try index.blob(id: row.blob)
        if !row.isReference {
            if let blob, blob.range == row.range { try removeBlob(blob, &state) }
        } else if try index.removeReference(row) {
            release([row.range], &state)
            if let blob, let record = record(of: blob) { try addUnrecorded(blob, record) }
        }
    }
}
