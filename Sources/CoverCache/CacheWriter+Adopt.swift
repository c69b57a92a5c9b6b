import GRDB

// Segments: which one to append to, what dead writers left in them, and making the index anew from them.
extension CacheWriter {
    func openSegment() throws -> SegmentWriter {
        if let segment { return segment }
        let numbers = try directory.segmentNumbers()
        if let last = numbers.last, let taken = SegmentWriter(taking: last, in: directory), !taken.isFull {
            try adoptTail(of: taken)
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

    /// Reads what writers that died had appended after their last commit.
    func adopt(scanned: [Int: Int]) throws {
        for number in try directory.segmentNumbers() {
            let length = directory.length(ofSegment: number)
            guard length > scanned[number] ?? 0, let held = SegmentWriter(taking: number, in: directory) else {
                continue
            }
            try adoptTail(of: held)
        }
    }

    /// Adopts the whole records after the last committed one, and cuts off a torn one.
    func adoptTail(of taken: SegmentWriter) throws {
        let end = try transaction { state, database in
            let number = taken.number
            let scanned =
                try Int.fetchOne(database, sql: "SELECT scanned FROM segments WHERE id = ?", arguments: [number]) ?? 0
            let end = try SegmentScanner.scan(taken.descriptor, from: scanned) { found in
                if case .record(let record) = found { try adopt(record, in: number, &state) }
            }
            try index.markScanned(number, to: end)
            return end
        }
        taken.resume(at: end)
    }

    func adopt(_ record: ScannedRecord, in segment: Int, _ state: inout IndexState) throws {
        let own = record.range(in: segment)
        let blob = try index.blob(record.head.digest)
        if blob == nil, record.head.isReference { return freed.append(own) }
        if let entry = try index.entry(record.metadata.key) {
            if let blob, blob.id == entry.blob { return free(own, unlessOf: entry, blob) }
            if entry.storedAt > record.metadata.storedAt { return freed.append(own) }
            try replace(entry, &state)
        }
        try insert(record.head, record.metadata, own, blob, &state)
    }

    /// The first pass of a rebuild: a body that is not there yet becomes a blob that no entry names.
    func rebuildBlob(_ record: ScannedRecord, in segment: Int, _ state: inout IndexState) throws {
        guard !record.head.isReference, try index.blob(record.head.digest) == nil else { return }
        let own = record.range(in: segment)
        _ = try index.addBlob(
            record.head, record.metadata, segment: segment, offset: record.offset, used: state.tick())
        charges[segment, default: 0] += own.length
        state.live += own.length
        state.blobs += 1
    }

    /// The second pass: the newest record of a key becomes its entry.
    func rebuildEntry(_ record: ScannedRecord, in segment: Int, _ state: inout IndexState) throws {
        let own = record.range(in: segment)
        guard let blob = try index.blob(record.head.digest) else { return freed.append(own) }
        let isBlobs = blob.segment == segment && blob.offset == record.offset
        if let entry = try index.entry(record.metadata.key) {
            if entry.storedAt > record.metadata.storedAt {
                if !isBlobs { freed.append(own) }
                return
            }
            try index.removeEntry(entry.id)
            if let reference = entry.reference { try release([reference], &state) }
        }
        try index.addEntry(record.metadata, blob: blob.id, reference: isBlobs ? nil : own)
        if !isBlobs {
            charges[segment, default: 0] += own.length
            state.live += own.length
        }
    }

    /// The last pass: blobs that no entry names go.
    func removeOrphans(_ database: Database, _ state: inout IndexState) throws {
        let orphans = try Int64.fetchAll(
            database, sql: "SELECT id FROM blobs WHERE NOT EXISTS (SELECT 1 FROM entries WHERE blob = blobs.id)")
        for id in orphans {
            guard let blob = try index.blob(id: id) else { continue }
            try release(index.removeBlob(blob), &state)
            state.blobs -= 1
        }
    }

    func note(freed range: FreedRange) { freed.append(range) }
}
