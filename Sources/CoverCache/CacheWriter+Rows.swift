import SQLite

// The changes that a transaction makes to entries and blobs, and what they charge and free.
extension CacheWriter {
    /// Adds the entry of a synced put, and evicts if it must.
    func commit(
        _ put: SegmentRecord, _ state: inout IndexState
    ) throws -> PutOutcome {
        let (header, range) = (put.header, put.range)
        let blob = try intactBlob(for: put, &state)
        if blob == nil, header.isReference {
            freed.append(range)
            return .lost
        }
        // The bytes were stored before, unless the blob has this record: then the ones it had were damaged.
        let outcome = PutOutcome.stored(header.digest, deduplicated: blob.map { $0.range != range } ?? false)
        let entry = try index.entry(put.metadata.key)
        if let blob, let entry, entry.blob == blob.id {
            // The same cover arrived twice, or another process stored it or recovered this record.
            try index.validate(entry.id, put.metadata)
            if blob.range == range || entry.reference == range { return outcome }
            if isNamed(put.metadata.key, header.digest, by: entry.reference ?? blob.range) {
                freed.append(range)
            } else {
                try replaceReference(of: entry, with: range, &state)
            }
            return outcome
        }
        if blob?.range == range || state.charged + range.length <= room {
            if let entry { try remove(entry, &state) }
            try insert(header, put.metadata, range, blob, &state)
            return outcome
        }
        // A cover that does not fit evicts nothing and replaces nothing.
        let before = (state: state, charges: charges, freed: freed)
        var isStored = false
        try connection.savepoint {
            if let entry { try remove(entry, &state) }
            try evictSlice(
                &state, to: room - range.length, limit: .max, usedUpTo: sparedFrom ?? .max, sparing: blob?.id)
            if state.charged + range.length > room { return false }
            try insert(header, put.metadata, range, blob, &state)
            isStored = true
            return true
        }
        if isStored { return outcome }
        (state, charges, freed) = before
        freed.append(range)
        return .noRoom
    }

    /// Gives an entry without a record this one.
    func commitReference(_ record: SegmentRecord, _ state: inout IndexState) throws {
        let entry = try index.entry(record.metadata.key)
        // A rebuild by another process has taken it.
        if entry?.reference == record.range { return }
        guard let entry, let blob = try index.blob(record.header.digest), entry.blob == blob.id, entry.reference == nil
        else { return freed.append(record.range) }
        try index.setReference(of: entry.id, to: record.range)
        charge(record.range, &state)
    }

    /// Gives an entry a new record instead of its own, which is damaged or missing.
    private func replaceReference(of entry: Index.Entry, with range: FreedRange, _ state: inout IndexState) throws {
        if let reference = entry.reference { release([reference], &state) }
        try index.setReference(of: entry.id, to: range)
        charge(range, &state)
    }

    /// Frees a record's range, unless the blob or the entry uses it.
    func free(_ range: FreedRange, unlessOf entry: Index.Entry, _ blob: BlobRow) {
        if blob.range != range, entry.reference != range { freed.append(range) }
    }

    /// Adds an entry, and its blob if there is none.
    func insert(
        _ header: RecordHeader, _ metadata: EntryMetadata, _ range: FreedRange, _ blob: BlobRow?,
        _ state: inout IndexState
    ) throws {
        if let blob, blob.range == range {
            try index.addEntry(metadata, blob: blob.id, reference: nil)
        } else if let blob {
            try index.addEntry(metadata, blob: blob.id, reference: range)
            charge(range, &state)
        } else {
            let id = try addBlob(header, metadata, range, &state)
            try index.addEntry(metadata, blob: id, reference: nil)
        }
    }

    /// Adds a blob and returns its row.
    func addBlob(
        _ header: RecordHeader, _ metadata: EntryMetadata, _ range: FreedRange, _ state: inout IndexState
    ) throws -> Int64 {
        let id = try index.addBlob(header, metadata, range, used: state.tick())
        // SQLite gives a new row the number after the highest: that of a row that was deleted, if it was the highest.
        state.lastOldBlob = min(state.lastOldBlob, id - 1)
        state.blobs += 1
        charge(range, &state)
        return id
    }

    func charge(_ range: FreedRange, _ state: inout IndexState) {
        charges[range.segment, default: 0] += range.length
        state.charged += range.length
    }

    /// Removes an entry, and its blob if no other entry names it.
    func remove(_ entry: Index.Entry, _ state: inout IndexState) throws {
        try removeEntry(entry, &state)
        try removeUnused(entry.blob, &state)
    }

    /// Removes a blob if no entry names it.
    func removeUnused(_ id: Int64, _ state: inout IndexState) throws {
        guard let blob = try index.blob(id: id) else { return }
        if try index.isOrphan(id) {
            try removeBlob(blob, &state)
        } else if pins != nil, let key = record(of: blob, checking: .front)?.metadata.key,
            try index.entry(key)?.blob != id
        {
            // The record stays for others, and names an entry that is gone or has other bytes.
            try index.markRemoved(blob.range)
        }
    }

    func removeEntry(_ entry: Index.Entry, _ state: inout IndexState) throws {
        try index.removeEntry(entry.id)
        if let reference = entry.reference { release([reference], &state) }
    }

    /// Removes a blob with all its entries.
    func removeBlob(_ blob: BlobRow, _ state: inout IndexState) throws {
        release(try index.removeBlob(blob), &state)
        state.blobs -= 1
    }

    func release(_ ranges: [FreedRange], _ state: inout IndexState) {
        for range in ranges {
            charges[range.segment, default: 0] -= range.length
            state.charged -= range.length
        }
        freed += ranges
    }
}
