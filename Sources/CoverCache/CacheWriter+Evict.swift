import GRDB

// Making the cache smaller.
extension CacheWriter {
    /// Evicts the least recently used blobs until at most `bytes` are charged. Puts not yet committed stay.
    /// - Returns: how many blobs went, and how many bytes were charged for them.
    @discardableResult
    package func evict(to bytes: Int) throws -> (blobs: Int, bytes: Int) {
        do {
            return try evictInSlices(to: bytes)
        } catch {
            // Deleting from the index takes room as well.
            guard case .diskFull = CacheError(error), directory.hasReserve else { throw error }
            directory.releaseRoom()
            defer { directory.reserveRoom() }
            return try evictInSlices(to: bytes)
        }
    }

    func evictInSlices(to bytes: Int) throws -> (blobs: Int, bytes: Int) {
        try writeUsage()
        var total = (blobs: 0, bytes: 0)
        while true {
            let slice = try transaction { state, _ in
                let before = (state.blobs, state.live)
                if state.live > bytes { try evictSlice(&state, to: bytes, limit: 2_000) }
                return (before.0 - state.blobs, before.1 - state.live)
            }
            tidy()
            if slice.0 == 0 { return total }
            total = (total.blobs + slice.0, total.bytes + slice.1)
        }
    }

    func evictSlice(
        _ state: inout IndexState, to bytes: Int, limit: Int, sparing spared: Int64? = nil
    ) throws {
        var left = limit
        while state.live > bytes, left > 0 {
            let batch = try index.leastRecentlyUsed(min(left, 200)).filter { $0.id != spared }
            if batch.isEmpty { return }
            for blob in batch where state.live > bytes {
                try release(index.removeBlob(blob), &state)
                state.blobs -= 1
            }
            left -= batch.count
        }
    }

    /// Evicts down to the low-water mark, or further, when the next `bytes` would find the cache full. Between groups, so that
    /// a commit seldom has to.
    package func makeRoom(_ bytes: Int) throws {
        if live + bytes > capacity { try evict(to: min(Int(Double(capacity) * Self.lowWater), capacity - bytes)) }
        tidy()
    }

    /// Gives freed blocks back to the file system and removes empty segments: work that nobody waits for.
    package func tidy() {
        for range in FreedRange.merged(freed) { range.punch(in: directory) }
        let segments = Set(freed.map(\.segment))
        freed = []
        for number in segments { try? removeIfEmpty(number) }
    }

    func removeIfEmpty(_ number: Int) throws {
        guard number != segment?.number, let held = SegmentWriter(taking: number, in: directory) else { return }
        try transaction { _, database in
            let row = try Row.fetchOne(
                database, sql: "SELECT scanned, live FROM segments WHERE id = ?", arguments: [number])
            guard let row, row["live"] as Int == 0, row["scanned"] as Int >= held.end else { return }
            try database.execute(sql: "DELETE FROM segments WHERE id = ?", arguments: [number])
            held.unlink()
        }
    }

    /// Drops an entry whose bytes turned out wrong or gone. The blob goes with it, and every other entry that shares it.
    /// - Parameter segment, offset: where the bytes were read; nothing is dropped if the blob lies elsewhere by now.
    package func drop(_ key: String, segment: Int, offset: Int) throws {
        try transaction { state, _ in
            guard let entry = try index.entry(key), let blob = try index.blob(id: entry.blob),
                blob.segment == segment, blob.offset == offset
            else { return }
            try release(index.removeBlob(blob), &state)
            state.blobs -= 1
        }
        tidy()
    }
}
