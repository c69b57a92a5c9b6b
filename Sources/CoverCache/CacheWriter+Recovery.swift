import GRDB

// Segments: choosing one to append to, recovering what dead writers left in them, and rebuilding the index from them.
extension CacheWriter {
    func openSegment() throws -> SegmentWriter {
        if let segment { return segment }
        let numbers = try directory.segmentNumbers()
        if let last = numbers.last, let taken = SegmentWriter(takingOver: last, in: directory), !taken.isFull,
            let recovered = try recoverTails(of: [taken]).first
        {
            segment = recovered
            return recovered
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

    /// Adds what dead writers appended after their last commit to the index, and gives back the space that they had no time for.
    func recover() throws {
        let (segments, freed) = try reading { database in
            (
                try Row.fetchAll(database, sql: "SELECT id, scanned, live FROM segments"), try index.allFreed()
            )
        }
        reclaimable.add(freed.ranges, rows: freed.rows)
        let rows = Dictionary(segments.map { ($0["id"] as Int, $0) }) { first, _ in first }
        var tails: [SegmentWriter] = []
        for number in try directory.segmentNumbers() {
            let length = directory.length(of: directory.segment(number))
            guard length > rows[number]?["scanned"] as Int? ?? 0 else { continue }
            if let taken = SegmentWriter(takingOver: number, in: directory) { tails.append(taken) }
        }
        if !tails.isEmpty { _ = try recoverTails(of: tails) }
        tails = []
        reclaimSpace()
        // A process was killed before it removed them.
        for row in segments where row["live"] as Int == 0 { try? removeIfEmpty(row["id"]) }
    }

    /// Adds the intact records after the last committed one to the index, and cuts off torn ones.
    /// - Returns: the segments, ready to be appended to. One that cannot be read is left alone until it can, and is not among them.
    private func recoverTails(of segments: [SegmentWriter]) throws -> [SegmentWriter] {
        var recovered: [(segment: SegmentWriter, end: Int)] = []
        var bodies: [SegmentRecord] = []
        var references: [SegmentRecord] = []
        for segment in segments {
            let scanned = try reading { database in
                try Int.fetchOne(
                    database, sql: "SELECT scanned FROM segments WHERE id = ?", arguments: [segment.number])
            }
            var found: [SegmentRecord] = []
            let end = try? SegmentScanner.scan(segment.file, segment.number, from: scanned ?? 0) {
                switch $0 {
                case .record(let record): found.append(record)
                case .damage: break
                case .unreadable(let error): throw error
                }
            }
            guard let end else { continue }
            recovered.append((segment, end))
            bodies += found.filter { !$0.header.isReference }
            references += found.filter(\.header.isReference)
        }
        try transaction { state, _ in
            // A reference may precede its blob, which another process has written.
            for record in bodies + references { try recover(record, &state) }
            for (segment, end) in recovered { try index.markScanned(segment.number, to: end) }
        }
        return recovered.map { segment, end in
            var segment = segment
            segment.truncate(to: end)
            return segment
        }
    }

    private func recover(_ record: SegmentRecord, _ state: inout IndexState) throws {
        let range = record.range
        // Power loss may have brought back the row of a blob that is gone.
        let blob = try intactBlob(for: record, &state)
        if blob == nil, record.header.isReference { return freed.append(range) }
        if let entry = try index.entry(record.metadata.key) {
            if let blob, blob.id == entry.blob { return free(range, unlessOf: entry, blob) }
            if entry.storedAt > record.metadata.storedAt { return freed.append(range) }
            try replace(entry, &state)
        }
        try insert(record.header, record.metadata, range, blob, &state)
    }

    // MARK: Damaged blobs

    /// Whether a blob's bytes are there and match their checksum.
    /// - Throws: `CacheError` if they cannot be read, which says nothing about them.
    func isIntact(_ blob: BlobRow, _ digest: Digest) throws(CacheError) -> Bool {
        guard let record = try files.read(blob.segment, offset: blob.offset, length: blob.span) else {
            files.close(blob.segment)
            return false
        }
        return record.withUnsafeBytes { record in
            guard let header = RecordHeader(record), header.digest == digest, header.span == record.count else {
                return false
            }
            return Checksum.of(UnsafeRawBufferPointer(rebasing: record.suffix(header.bodyLength)))
                == header.bodyChecksum
        }
    }

    /// The blob of a record's digest. If its own bytes are damaged or gone, it gets those of the record, or is removed if the record
    /// is a reference.
    func intactBlob(for record: SegmentRecord, _ state: inout IndexState) throws -> BlobRow? {
        let header = record.header
        guard let blob = try index.blob(header.digest) else { return nil }
        if (try? isIntact(blob, header.digest)) ?? true { return blob }
        if header.isReference {
            try removeBlob(blob, &state)
            return nil
        }
        release([blob.range], &state)
        try index.moveBlob(blob.id, to: header, record.range)
        charge(record.range, &state)
        return try index.blob(header.digest)
    }

    // MARK: Rebuilding

    /// Rebuilds the index from the segments alone. Every intact record whose bytes match their digest is taken, the newest of a key
    /// wins, and damaged ones are freed. It is one transaction: readers see the old index or the new one.
    /// - Returns: the number of entries.
    /// - Throws: `CacheError` if a segment cannot be opened: its covers are not lost.
    package func rebuild() throws -> Int {
        let entries = try transaction { state, database in
            // Evicted covers whose holes have not been punched yet are not brought back.
            let evicted = try index.allFreed().ranges
            try database.execute(sql: "DELETE FROM entries; DELETE FROM blobs; DELETE FROM segments;")
            try hints?.removeAll()
            (state.charged, state.blobs) = (0, 0)
            let numbers = try directory.segmentNumbers()
            for number in numbers {
                guard let file = try files.file(number) else { continue }
                var damaged: [FreedRange] = []
                let end = try SegmentScanner.scan(file, number, verifyingDigest: true) { found in
                    switch found {
                    case .record(let record):
                        if !evicted.contains(where: { $0.contains(record.range) }) { try rebuildBlob(record, &state) }
                    case .damage(let offset):
                        damaged.append(FreedRange(segment: number, offset: offset, length: RecordHeader.alignment))
                    case .unreadable: break
                    }
                }
                // What looks torn in the segment of a living writer, or after the last intact record, may yet be written.
                if SegmentWriter(takingOver: number, in: directory) != nil { freed += damaged.filter { $0.end <= end } }
                try index.markScanned(number, to: end)
                state.lastSegment = max(state.lastSegment, number)
            }
            for number in numbers {
                guard let file = try files.file(number) else { continue }
                _ = try SegmentScanner.scan(file, number) { found in
                    if case .record(let record) = found, !evicted.contains(where: { $0.contains(record.range) }) {
                        try rebuildEntry(record, &state)
                    }
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
        let isBlob = blob.range == range
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
