import GRDB

// Segments: choosing one to append to, recovering what dead writers left in them, and rebuilding the index from them.
extension CacheWriter {
    func openSegment() throws -> SegmentWriter {
        if let segment { return segment }
        let numbers = try directory.segmentNumbers()
        if let last = numbers.last, var taken = SegmentWriter(takingOver: last, in: directory), !taken.isFull {
            try recoverTail(of: &taken)
            segment = taken
            return taken
        }
        var next = max(numbers.last ?? 0, try reading { try IndexState($0).lastSegment })
        while true {
            next += 1
            guard let created = try SegmentWriter(creating: next, in: directory) else { continue }
            try transaction { state, _ in state.lastSegment = max(state.lastSegment, next) }
            segment = created
            return created
        }
    }

    /// Reads the records that writers appended after their last commit before they died.
    /// - Parameter scanned: the offset up to which the index knows each segment's records.
    func recover(scanned: [Int: Int]) throws {
        for number in try directory.segmentNumbers() {
            guard directory.length(of: directory.segment(number)) > scanned[number] ?? 0,
                var taken = SegmentWriter(takingOver: number, in: directory)
            else { continue }
            try recoverTail(of: &taken)
        }
    }

    /// Adds the intact records after the last committed one to the index, and cuts off a torn one.
    private func recoverTail(of segment: inout SegmentWriter) throws {
        let (file, number) = (segment.file, segment.number)
        let end = try transaction { state, database in
            let scanned =
                try Int.fetchOne(database, sql: "SELECT scanned FROM segments WHERE id = ?", arguments: [number]) ?? 0
            let end = try SegmentScanner.scan(file, number, from: scanned) { found in
                if case .record(let record) = found { try recover(record, &state) }
            }
            try index.markScanned(number, to: end)
            return end
        }
        segment.truncate(to: end)
    }

    private func recover(_ record: SegmentRecord, _ state: inout IndexState) throws {
        let range = record.range
        let blob = try index.blob(record.header.digest)
        if blob == nil, record.header.isReference { return freed.append(range) }
        if let entry = try index.entry(record.metadata.key) {
            if let blob, blob.id == entry.blob { return free(range, unlessOf: entry, blob) }
            if entry.storedAt > record.metadata.storedAt { return freed.append(range) }
            try replace(entry, &state)
        }
        try insert(record.header, record.metadata, range, blob, &state)
    }

    // MARK: Rebuilding

    /// Rebuilds the index from the segments alone. Every intact record whose bytes match their digest is taken, the newest of a key
    /// wins, and damaged ones are freed. It is one transaction: readers see the old index or the new one.
    /// - Returns: the number of entries.
    package func rebuild() throws -> Int {
        var files = SegmentFiles(directory)
        let entries = try transaction { state, database in
            try database.execute(sql: "DELETE FROM entries; DELETE FROM blobs; DELETE FROM segments;")
            try hints?.removeAll()
            (state.charged, state.blobs) = (0, 0)
            let numbers = try directory.segmentNumbers()
            for number in numbers {
                guard let file = files.file(number) else { continue }
                let end = try SegmentScanner.scan(file, number, verifyingDigest: true) { found in
                    switch found {
                    case .record(let record): try rebuildBlob(record, &state)
                    case .damage(let offset):
                        freed.append(FreedRange(segment: number, offset: offset, length: RecordHeader.alignment))
                    }
                }
                try index.markScanned(number, to: end)
                state.lastSegment = max(state.lastSegment, number)
            }
            for number in numbers {
                guard let file = files.file(number) else { continue }
                _ = try SegmentScanner.scan(file, number) { found in
                    if case .record(let record) = found { try rebuildEntry(record, &state) }
                }
            }
            try removeOrphans(database, &state)
            return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM entries") ?? 0
        }
        reclaimSpace()
        return entries
    }

    /// The first pass: each new body becomes a blob without entries.
    private func rebuildBlob(_ record: SegmentRecord, _ state: inout IndexState) throws {
        guard !record.header.isReference, try index.blob(record.header.digest) == nil else { return }
        _ = try addBlob(record.header, record.metadata, record.range, &state)
    }

    /// The second pass: the newest record of a key becomes its entry.
    private func rebuildEntry(_ record: SegmentRecord, _ state: inout IndexState) throws {
        let range = record.range
        guard let blob = try index.blob(record.header.digest) else { return freed.append(range) }
        let isBlob = blob.segment == record.segment && blob.offset == record.offset
        if let entry = try index.entry(record.metadata.key) {
            if entry.storedAt > record.metadata.storedAt {
                if !isBlob { freed.append(range) }
                return
            }
            try removeEntry(entry, &state)
        }
        try index.addEntry(record.metadata, blob: blob.id, reference: isBlob ? nil : range)
        if !isBlob { charge(range, &state) }
    }

    /// The last pass: blobs that no entry names are removed.
    private func removeOrphans(_ database: Database, _ state: inout IndexState) throws {
        let orphans = try Int64.fetchAll(
            database, sql: "SELECT id FROM blobs WHERE NOT EXISTS (SELECT 1 FROM entries WHERE blob = blobs.id)")
        for id in orphans {
            if let blob = try index.blob(id: id) { try removeBlob(blob, &state) }
        }
    }
}
