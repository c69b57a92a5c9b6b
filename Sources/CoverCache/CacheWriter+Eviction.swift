extension CacheWriter {
    /// Evicts the least recently used blobs until at most `bytes` are charged. Uncommitted puts stay. Without holes, segments are
    /// removed too, until their files have at most `bytes`.
    /// - Returns: how many blobs were evicted, and how many bytes were charged for them.
    @discardableResult
    package func evict(to bytes: Int) throws -> (blobs: Int, bytes: Int) {
        var evicted = try evictBlobs(to: bytes)
        if !hasHoles {
            let more = try compact(to: bytes)
            evicted = (evicted.blobs + more.blobs, evicted.bytes + more.bytes)
        }
        return evicted
    }

    /// Runs `body`, which deletes rows. That needs disk space for the log: on a full disk it runs again without the reserve.
    func usingReserve<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            guard CacheError(error).mayNeedRoom, directory.hasReserve else { throw error }
            directory.releaseReserve()
            defer { directory.allocateReserve() }
            return try body()
        }
    }

    /// From now on, covers that are stored or used stay when others need room: those that follow have no room then. A run whose covers
    /// exceed the capacity would else evict what it has just downloaded, and download it again next time.
    package func spareFromNow() {
        // Uses of the most recent 64th are not written.
        sparedFrom = clock - Int64(blobCount / 64)
    }

    /// Ends `spareFromNow`.
    package func spareNothing() { sparedFrom = nil }

    /// Why a cover was not stored (`PutOutcome.noRoom`).
    /// - Parameter bytes: the length of its body.
    package func noRoom(for bytes: Int) throws -> CacheError {
        let pinned = try pinnedCharge()
        let isFull =
            sparedFrom != nil
            && pinned + RecordHeader.charge(RecordHeader.size + bytes) + RecordHeader.alignment <= room
        return isFull ? .full(capacity: capacity) : .noRoom(pinned: pinned, capacity: capacity)
    }

    /// Evicts in transactions of 2,000 blobs, so that other processes can write in between.
    /// - Parameter recency: Blobs that were used later stay.
    func evictBlobs(to bytes: Int, usedUpTo recency: Int64 = .max) throws -> (blobs: Int, bytes: Int) {
        // What was evicted before the disk was full counts, too.
        var total = (blobs: 0, bytes: 0)
        try usingReserve {
            try writeDeferred()
            while true {
                let slice = try transaction { state, _ in
                    let before = state
                    if state.charged > bytes {
                        try evictSlice(&state, to: bytes, limit: 2_000, usedUpTo: recency)
                    }
                    return (blobs: before.blobs - state.blobs, bytes: before.charged - state.charged)
                }
                reclaimSpace()
                if slice.blobs == 0 { return }
                total = (total.blobs + slice.blobs, total.bytes + slice.bytes)
            }
        }
        return total
    }

    func evictSlice(
        _ state: inout IndexState, to bytes: Int, limit: Int, usedUpTo recency: Int64 = .max,
        sparing spared: Int64? = nil
    ) throws {
        var left = limit
        while state.charged > bytes, left > 0 {
            let batch = try index.leastRecentlyUsed(min(left, 200), usedUpTo: recency).filter { $0.id != spared }
            if batch.isEmpty { return }
            for blob in batch where state.charged > bytes {
                try removeBlob(blob, &state)
                if blob.id > state.lastOldBlob { state.evictedNewBlobs += 1 }
            }
            left -= batch.count
        }
    }

    /// Counts the bytes charged to the capacity again, which takes as long as reading all rows.
    func recount() throws {
        try transaction { state, _ in state.charged = try index.liveBytes().values.reduce(0) { $0 + $1.bytes } }
    }

    /// Evicts down to the low-water mark or further if the next `bytes` would exceed the capacity. Called between groups, so that a
    /// commit seldom has to evict. Without holes, it also removes segments.
    package func makeRoom(_ bytes: Int) throws {
        if charged + bytes > room {
            // Pinned blobs stay. The mark is a share of the rest, so that the rest is not emptied after each group.
            let pinned = min(try pinnedCharge(), room)
            let rest = room - pinned
            let target = pinned + min(Int(Double(rest) * Self.lowWater), rest - min(bytes, rest / 4))
            if charged > target { _ = try evictBlobs(to: target, usedUpTo: sparedFrom ?? .max) }
        }
        reclaimSpace()
        if !hasHoles { _ = try compact(to: room - bytes) }
    }

    /// What the records of pinned blobs count towards the capacity, in bytes.
    package func pinnedCharge() throws -> Int { try reading { try totals($0).pinnedCharge } }

    /// Returns freed blocks to the file system and removes empty segments.
    ///
    /// The commits that freed them are made durable first. Otherwise power loss would bring back rows whose bytes are gone.
    package func reclaimSpace() {
        let ranges = reclaimable.ranges
        guard !ranges.isEmpty, (try? checkIndex()) != nil, (try? directory.syncLog()) != nil else { return }
        let isComplete = FreedRange.merged(ranges).reduce(true) { $1.punch(in: directory) && $0 }
        if isComplete { reclaimable.didReclaim() }
        for number in Set(ranges.map(\.segment)) { try? removeIfEmpty(number) }
    }

    /// Removes a segment that holds nothing and has no writer.
    func removeIfEmpty(_ number: Int) throws {
        guard number != segment?.number, let taken = SegmentWriter(takingOver: number, in: directory) else { return }
        let isEmpty = try reading { _ in
            guard let known = try index.segments()[number], known.live == 0, known.scanned >= taken.end else {
                return false
            }
            // The count may be wrong.
            return try !index.hasRows(in: FreedRange(segment: number, offset: 0, length: taken.end))
        }
        guard isEmpty else { return }
        try checkIndex()
        try directory.syncLog()
        taken.remove()
        // The row stays until the file is gone for good: an unknown segment would be scanned for covers.
        try CacheDirectory.sync(directory.segments)
        try transaction { _, _ in try index.removeSegment(number) }
    }

    /// Removes an entry whose bytes are damaged or gone, with its blob and every other entry of that blob.
    /// - Parameters:
    ///   - segment: the segment that was read. Nothing is removed if the blob is elsewhere by now.
    ///   - offset: the offset of the record that was read.
    package func drop(_ key: String, segment: Int, offset: Int) throws {
        try checkSegments()
        try usingReserve {
            try transaction { state, _ in
                guard let entry = try index.entry(key), let blob = try index.blob(id: entry.blob),
                    blob.segment == segment, blob.offset == offset
                else { return }
                try removeBlob(blob, &state)
            }
        }
        reclaimSpace()
    }
}
