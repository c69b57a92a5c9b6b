import Platform

/// The room that covers have: a limit for what all processes of the cache write, with the files that have no rows yet.
extension CacheWriter {
    /// Eviction goes down to this share of the capacity, so that it is rare.
    private static let lowWater = 0.9

    /// The most that a file of this length takes, in bytes.
    private static func charge(_ length: Int) -> Int { (length + 4_095) & ~4_095 }

    /// Whether a file of this length fits into what this process has reserved.
    func hasRoom(_ length: Int) -> Bool { writtenBytes + Self.charge(length) <= index.marker.reserved }

    /// Reserves room for a file before it is written, and evicts what must go for it.
    /// - Throws: `CacheError`, among others `.noRoom` and `.full`. Nothing is evicted then.
    func reserveRoom(_ length: Int) throws {
        let length = Self.charge(length)
        var others = 0
        for attempt in 0... {
            do {
                var writesDeferred = false
                try index.transaction { changes in
                    others = max(0, index.marker.reservedByAll - index.marker.reserved)
                    let room = index.room(of: changes.state) - others - writtenBytes
                    writesDeferred = changes.state.charged + length > room
                    if writesDeferred {
                        // What was used just now stays.
                        try deferred.write(to: index, &changes)
                        let target = max(0, room - max(length, groupLimit))
                        try changes.evict(to: target, usedUpTo: sparedFrom ?? .max, sparing: isUncommitted)
                    }
                    let free = room - changes.state.charged
                    guard length <= free else { throw noRoom(for: length) }
                    // Some more, so that not each cover takes the lock.
                    index.marker.reserve(writtenBytes + max(length, min(groupLimit, free / 16)))
                }
                if writesDeferred { deferred.clear() }
                return
            } catch CacheError.noRoom where others > 0 && writtenBytes == 0 && attempt < 200 {
                // What another process has written has rows soon, and can be evicted then, unless the process is stopped.
                usleep(10_000)
            }
        }
    }

    /// From now on, covers that are stored or used stay when others need room: those that follow have no room then. A run whose covers
    /// exceed the capacity would else evict what it has just downloaded, and download it again next time.
    package func spareFromNow() {
        // Uses of the most recent 64th are not written.
        sparedFrom = index.state.clock - index.state.covers / 64
    }

    /// Ends `spareFromNow`.
    package func spareNothing() { sparedFrom = nil }

    /// Why a file of this charge cannot be stored.
    private func noRoom(for charge: Int) -> CacheError {
        let pinned = index.state.pinnedCharge
        let isFull = sparedFrom != nil && pinned + charge <= index.room
        return isFull ? .full(capacity: capacity) : .noRoom(pinned: pinned, capacity: capacity)
    }

    /// Evicts down to the low-water mark or further if the next `bytes` would exceed the capacity. Called between groups, so that a
    /// commit seldom has to evict.
    package func makeRoom(_ bytes: Int) throws {
        let (room, charged) = (index.room, index.state.charged)
        guard charged + bytes > room else { return }
        // Pinned covers stay. The mark is a share of the rest, so that the rest is not emptied after each group.
        let pinned = min(index.state.pinnedCharge, room)
        let rest = room - pinned
        let target = pinned + min(Int(Double(rest) * Self.lowWater), rest - min(bytes, rest / 4))
        if charged > target { try evictUnspared(to: target) }
        // Another process has lowered the capacity, or the index has grown.
        if index.state.charged > room { try evict(to: room, usedUpTo: .max) }
    }

    @discardableResult
    func evictUnspared(to bytes: Int) throws -> EvictionSummary {
        try evict(to: bytes, usedUpTo: sparedFrom ?? .max)
    }
}

extension CacheWriter {
    /// Sizes take at most this part of the capacity.
    private static let share = 16

    /// Keeps sizes of covers that are cached. Those that were not used for longest make room for them, covers do not. The covers' colours
    /// are kept in any case.
    /// - Throws: `CacheError`. The sizes are not kept then.
    package func keep(_ sizes: [SmallCover]) throws {
        if sizes.isEmpty { return }
        index.marker.begin()
        defer { index.marker.end() }
        do {
            try index.transaction { changes in
                let room = index.room(of: changes.state) - index.marker.reservedByAll
                for size in sizes {
                    guard let cover = try index.table.cover(size.digest) else { continue }
                    try index.table.setColor(of: cover.id, size.color)
                    let share = (changes.state.capacity ?? 0) / Self.share
                    let limit = min(share, room - changes.state.charged + changes.state.sizes)
                    let left = limit - size.bytes.count - 4_096
                    if left < 0 { continue }
                    if changes.state.sizes > left {
                        changes.countSizes(directory.sizes.trim(to: min(left, limit / 4 * 3)))
                    }
                    guard changes.state.sizes <= left else { continue }
                    // One that cannot be written is made again.
                    do {
                        let growth = try directory.sizes.write(size)
                        changes.countSizes(changes.state.sizes + growth)
                    } catch  where !CacheError(error).mayNeedRoom { continue }
                }
            }
        } catch {
            // Those that were kept before go, too.
            for size in sizes where !directory.sizes.remove(size.digest) { index.marker.keep() }
            throw error
        }
    }

    /// Unlinks the sizes of no cover, in slices: each holds the lock for a few milliseconds. Then counts the others.
    func sweepSizes() throws {
        for step in directory.sizes.all {
            for folder in (try? step.folders()) ?? [] {
                try index.transaction { _ in
                    for digest in readable({ () throws(CacheError) in try step.sweep(folder) })
                    where try index.table.cover(digest) == nil { step.remove(digest) }
                }
            }
        }
        try index.transaction { $0.countSizes(directory.sizes.trim()) }
    }
}
