package import Platform
import SQLite

// Segments: choosing one to append to, recovering what dead writers left in them, and rebuilding the index from them.
extension CacheWriter {
    func openSegment() throws -> SegmentWriter {
        if let segment { return segment }
        let numbers = try directory.segmentNumbers()
        if let last = numbers.last, let taken = SegmentWriter(takingOver: last, in: directory),
            taken.end < segmentLimit,
            let recovered = try recoverTails(of: [taken], isComplete: false).first
        {
            segment = recovered
            return recovered
        }
        let created = try createSegment()
        segment = created
        return created
    }

    func createSegment() throws -> SegmentWriter {
        var next = max(try directory.segmentNumbers().last ?? 0, try reading { try IndexState($0).lastSegment })
        while true {
            next += 1
            guard let created = try SegmentWriter(creating: next, in: directory) else { continue }
            try transaction { state, _ in state.lastSegment = max(state.lastSegment, next) }
            return created
        }
    }

    /// Adds what dead writers appended after their last commit to the index, and gives back the space that they had no time for.
    func recover() throws {
        let (known, freed) = try reading { _ in
            let freed = try index.allFreed()
            // What a damaged row frees may be a cover.
            return (try index.segments(), (ranges: try index.unused(freed.ranges), rows: freed.rows))
        }
        reclaimable.add(freed.ranges, rows: freed.rows)
        var tails: [SegmentWriter] = []
        var isComplete = true
        for number in try directory.segmentNumbers() {
            let length = directory.length(of: directory.segment(number))
            // 0: it is empty, or it cannot be examined.
            if length > 0, length <= known[number]?.scanned ?? 0 { continue }
            guard let taken = SegmentWriter(takingOver: number, in: directory) else {
                isComplete = false
                continue
            }
            if length > 0 {
                tails.append(taken)
            } else if taken.end == 0, known[number] == nil {
                // Its process was killed before it wrote to it.
                taken.remove()
            }
        }
        if !tails.isEmpty { _ = try recoverTails(of: tails, isComplete: isComplete) }
        tails = []
        reclaimSpace()
        // A process was killed before it removed them.
        for (number, row) in known where row.live == 0 { try? removeIfEmpty(number) }
    }

    /// The records after the last committed one of a segment.
    private struct Tail {
        var segment: SegmentWriter
        var records: [SegmentRecord] = []
        /// The offset after the last of them.
        var end = 0
    }

    /// Adds the intact records after the last committed one to the index, and cuts off torn ones.
    /// - Parameter isComplete: no other segment has records that are not in the index.
    /// - Returns: the segments, ready to be appended to. One that cannot be read is left alone until it can, and is not among them; nor
    ///   is one that refers to bytes in another such segment.
    private func recoverTails(of segments: [SegmentWriter], isComplete: Bool) throws -> [SegmentWriter] {
        let known = try reading { _ in try index.segments() }
        var tails: [Tail] = []
        for segment in segments {
            let scanned = known[segment.number]?.scanned ?? 0
            var tail = Tail(segment: segment)
            let end = try? SegmentScanner.scan(segment.file, segment.number, from: scanned) {
                switch $0 {
                case .record(let record): tail.records.append(record)
                case .damage: break
                case .unreadable(let error): throw error
                }
            }
            // A file that is shorter than the index knows it has lost what was in it.
            guard let end, scanned <= segment.end else { continue }
            tail.end = end
            tails.append(tail)
        }
        let isComplete = isComplete && tails.count == segments.count
        try transaction { state, _ in
            if !isComplete { try removeDangling(&tails) }
            try adopt(tails.flatMap(\.records), &state)
            for tail in tails {
                try index.markScanned(tail.segment.number, to: tail.end)
                // Its process may have been killed between creating it and this.
                state.lastSegment = max(state.lastSegment, tail.segment.number)
            }
        }
        return tails.map { tail in
            var segment = tail.segment
            segment.truncate(to: tail.end)
            return segment
        }
    }

    /// Removes the tails with a reference whose bytes are in none of them and not in the index.
    private func removeDangling(_ tails: inout [Tail]) throws {
        var count = 0
        repeat {
            count = tails.count
            let bodies = Set(tails.flatMap(\.records).filter { !$0.header.isReference }.map(\.header.digest))
            tails = try tails.filter { tail in
                try tail.records.allSatisfy { record in
                    try !record.header.isReference || bodies.contains(record.header.digest)
                        || index.blob(record.header.digest) != nil
                }
            }
        } while tails.count < count
    }

    // MARK: Adding records

    /// Adds intact records to the index: first the bodies, as blobs without entries, then the newest record of each key as its entry.
    /// A reference may precede its blob, which another process has written, and an entry may share its bytes with others before it
    /// gets newer ones.
    func adopt(_ records: [SegmentRecord], _ state: inout IndexState) throws {
        let evicted = RangeSet(try index.allFreed().ranges + abandoned)
        let records = try records.filter { record in
            if evicted.overlaps(record.range) { return false }
            let isCopy = try isCopy(record)
            if isCopy { freed.append(record.range) }
            return !isCopy
        }
        var blobs: Set<Int64> = []
        for record in records where !record.header.isReference { blobs.insert(try adoptBody(record, &state)) }
        for record in records {
            if try pins != nil && index.isRemoved(record.range) { continue }
            // Power loss may have brought back the row of a blob that is gone.
            let blob =
                try record.header.isReference ? intactBlob(for: record, &state) : index.blob(record.header.digest)
            if let former = try adoptEntry(record, blob, &state) { blobs.insert(former) }
        }
        for blob in blobs { try removeUnused(blob, &state) }
    }

    /// Whether a compaction was killed before it let the blob name this copy of its record. The entry that the record names may have been
    /// removed before.
    private func isCopy(_ record: SegmentRecord) throws -> Bool {
        guard !record.header.isReference, let blob = try index.blob(record.header.digest), blob.range != record.range,
            let original = self.record(of: blob)
        else { return false }
        return original.header == record.header && original.metadata == record.metadata
    }

    /// Adds the body of a record as a blob, unless there is an intact one. Returns the blob's row.
    private func adoptBody(_ record: SegmentRecord, _ state: inout IndexState) throws -> Int64 {
        try intactBlob(for: record, &state)?.id ?? addBlob(record.header, record.metadata, record.range, &state)
    }

    /// Makes the record its key's entry, unless there is a newer one.
    /// - Parameter blob: of the record's digest; nil if its bytes are gone.
    /// - Returns: the blob that the key's entry had before.
    private func adoptEntry(_ record: SegmentRecord, _ blob: BlobRow?, _ state: inout IndexState) throws -> Int64? {
        let range = record.range
        guard let blob else {
            freed.append(range)
            return nil
        }
        let entry = try index.entry(record.metadata.key)
        if let entry {
            // Another process may have committed it.
            if (entry.reference ?? (entry.blob == blob.id ? blob.range : nil)) == range { return nil }
            if entry.storedAt > record.metadata.storedAt {
                free(range, unlessOf: entry, blob)
                return nil
            }
            try removeEntry(entry, &state)
        }
        try insert(record.header, record.metadata, range, blob, &state)
        return entry?.blob
    }

    // MARK: Damaged blobs

    /// Whether a blob's record is there and matches its checksums.
    /// - Throws: `CacheError` if they cannot be read, which says nothing about them.
    func isIntact(
        _ blob: BlobRow, _ digest: Digest, checking check: RecordState.Check = .checksum
    ) throws(CacheError) -> Bool {
        guard let record = try files.read(blob.segment, offset: blob.offset, length: blob.span) else {
            files.close(blob.segment)
            return false
        }
        guard case .intact(let header) = record.withUnsafeBytes({ RecordState($0, checking: check) }) else {
            return false
        }
        return !header.isReference && header.digest == digest && header.span == record.count
    }

    /// Whether the record at `range` names the entry of `key`: without the index, the entry would be found. The body is not examined.
    func isNamed(_ key: String, _ digest: Digest, by range: FreedRange) -> Bool {
        guard let file = try? files.file(range.segment),
            case .record(let record) = try? SegmentScanner.record(
                file, range.segment, at: range.offset, end: range.end, checking: .front)
        else { return false }
        return record.header.digest == digest && record.metadata.key == key
    }

    /// Whether the entry of `key` has these bytes, and they and the record that names it are as they were stored.
    /// - Throws: `CacheError` if the bytes cannot be read, which says nothing about them.
    package func isIntact(_ key: String, _ digest: Digest) throws -> Bool {
        let (entry, blob) = try reading { _ in try (index.entry(key), index.blob(digest)) }
        guard let entry, let blob, entry.blob == blob.id else { return false }
        return try isIntact(blob, digest) && isNamed(key, digest, by: entry.reference ?? blob.range)
    }

    /// A blob's record; nil if it is damaged or cannot be read.
    func record(of blob: BlobRow, checking check: RecordState.Check = .checksum) -> SegmentRecord? {
        guard let file = try? files.file(blob.segment),
            case .record(let record) = try? SegmentScanner.record(
                file, blob.segment, at: blob.offset, end: blob.range.end, checking: check)
        else { return nil }
        return record
    }

    /// The blob of a record's digest. If its own record is damaged or cannot be read, it gets this one, or is removed if this one is a
    /// reference and the other damaged.
    func intactBlob(for record: SegmentRecord, _ state: inout IndexState) throws -> BlobRow? {
        let header = record.header
        guard let blob = try index.blob(header.digest) else { return nil }
        if (try? isIntact(blob, header.digest)) ?? header.isReference { return blob }
        if header.isReference {
            try removeBlob(blob, &state)
            return nil
        }
        try addUnrecorded(blob, record)
        release([blob.range], &state)
        try index.moveBlob(blob.id, to: header, record.range)
        charge(record.range, &state)
        return try index.blob(header.digest)
    }

    /// The next group has a record for each entry of the blob that has none but this one, which names another entry.
    func addUnrecorded(_ blob: BlobRow, _ record: SegmentRecord) throws {
        unrecorded += try index.entriesOfOwnRecord(blob.id, record.header).filter {
            $0.metadata.key != record.metadata.key
        }
    }

    // MARK: Rebuilding

    /// Rebuilds the index from the segments alone. Every intact record whose bytes match their digest is taken, the newest of a key
    /// wins, and damaged ones are freed. It is one transaction: readers see the old index or the new one. The bytes are verified before
    /// it, so that other processes can write meanwhile. During it, they wait for as long as it makes progress.
    ///
    /// Nothing is freed in a segment that another process writes to, or that cannot be read everywhere: what looks torn or unused there
    /// may be a cover.
    /// - Parameters:
    ///   - didVerify: called with the number of each segment whose bytes have been verified.
    ///   - onProgress: called now and then.
    /// - Returns: the number of entries.
    /// - Throws: `CacheError` if a segment cannot be opened: its covers are not lost.
    package func rebuild(
        didVerify: (Int) throws -> Void = { _ in }, onProgress: () -> Void = {}
    ) throws -> Int {
        // Locked until the end.
        let held = try directory.segmentNumbers().compactMap { SegmentWriter(takingOver: $0, in: directory) }
        var verified: [Int: Set<Int>] = [:]
        for number in try directory.segmentNumbers() {
            verified[number] = try verifiedRecords(of: number)
            try didVerify(number)
            onProgress()
        }
        let entries = try transaction { state, connection in
            let numbers = try directory.segmentNumbers()
            // Evicted covers whose holes have not been punched yet are not brought back.
            let (evicted, before) = (try index.unused(index.allFreed().ranges) + abandoned, freed)
            let evictedSet = RangeSet(evicted)
            let known = try index.segments()
            let removed = pins == nil ? [] : try index.removedRecords()
            try removeAllRows(connection)
            try hints?.removeAll()
            (state.charged, state.blobs) = (0, 0)
            var uncertain = Set(numbers).subtracting(held.map(\.number))
            var ends: [Int: Int] = [:]
            var visited = 0
            func showProgress() {
                visited += 1
                guard visited.isMultiple(of: 256) else { return }
                lock.showProgress()
                onProgress()
            }
            for number in numbers {
                guard let file = try files.file(number) else { continue }
                // The end of the last intact record.
                var last = 0
                func freeGap(to offset: Int) {
                    guard offset > last, file.nextData(from: last) < offset else { return }
                    freed.append(FreedRange(segment: number, offset: last, length: offset - last))
                }
                let end = try SegmentScanner.scan(
                    file, number, checking: .digest, trusting: verified[number] ?? []
                ) { found in
                    showProgress()
                    switch found {
                    case .record(let record):
                        verified[number, default: []].insert(record.offset)
                        freeGap(to: record.offset)
                        last = record.range.end
                        if !record.header.isReference, !evictedSet.overlaps(record.range) {
                            _ = try adoptBody(record, &state)
                        }
                    case .damage: break
                    case .unreadable: uncertain.insert(number)
                    }
                }
                ends[number] = end
                // No offset is used again, even if what was there is gone.
                let freedEnd = evicted.lazy.filter { $0.segment == number }.map(\.end).max() ?? 0
                let scanned = max(end, freedEnd, min(known[number]?.scanned ?? 0, file.length))
                // The next opening cuts off what follows.
                freeGap(to: scanned)
                try index.markScanned(number, to: scanned)
                state.lastSegment = max(state.lastSegment, number)
            }
            for number in numbers {
                guard let file = try files.file(number), let end = ends[number] else { continue }
                _ = try SegmentScanner.scan(file, number, to: end, trusting: verified[number] ?? []) { found in
                    showProgress()
                    switch found {
                    case .record(let record):
                        if evictedSet.overlaps(record.range) { return }
                        let blob = try index.blob(record.header.digest)
                        if !removed.contains(record.position) {
                            _ = try adoptEntry(record, blob, &state)
                        } else if blob?.range != record.range {
                            freed.append(record.range)
                        }
                    case .damage: break
                    case .unreadable: uncertain.insert(number)
                    }
                }
            }
            try removeUnused(connection, &state)
            freed = before + freed.dropFirst(before.count).filter { !uncertain.contains($0.segment) }
            return Int(try connection.integer("SELECT COUNT(*) FROM entries") ?? 0)
        }
        withExtendedLifetime(held) {}
        reclaimSpace()
        try? checkpointIfLong()
        return entries
    }

    /// The offsets of the intact records of a segment. No offset is used again: what frees a record later leaves none at its offset.
    private func verifiedRecords(of number: Int) throws -> Set<Int> {
        var offsets: Set<Int> = []
        guard let file = try files.file(number) else { return [] }
        _ = try SegmentScanner.scan(file, number, checking: .digest) { found in
            if case .record(let record) = found { offsets.insert(record.offset) }
        }
        return offsets
    }

    /// Empties the index. The pins stay.
    private func removeAllRows(_ connection: borrowing Connection) throws {
        // With triggers, SQLite would delete a million entries one by one, in half a minute.
        var triggers: [String] = []
        try connection.statement("SELECT name FROM sqlite_schema WHERE type = 'trigger'").each {
            triggers.append($0.text(0))
        }
        for name in triggers { try connection.execute("DROP TRIGGER \(name)") }
        try connection.execute("DELETE FROM entries; DELETE FROM blobs; DELETE FROM segments;")
        if pins == nil { return }
        try connection.execute(
            """
            DELETE FROM totals; INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            """ + PinTable.triggers + IndexTotals.triggers + IndexFile.removedTriggers)
    }

    /// The last pass: removes the blobs that no entry names, and marks records whose own entry has newer bytes.
    private func removeUnused(_ connection: borrowing Connection, _ state: inout IndexState) throws {
        var unused: [Int64] = []
        try connection.statement(
            "SELECT id FROM blobs WHERE NOT EXISTS (SELECT 1 FROM entries WHERE blob = blobs.id AND segment IS NULL)"
        ).each { unused.append($0.int64(0)) }
        for id in unused { try removeUnused(id, &state) }
    }
}
