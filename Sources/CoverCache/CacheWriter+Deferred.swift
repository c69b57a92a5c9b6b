/// Changes without durability needs. They are written with the next commit.
struct DeferredChanges {
    /// Blobs that were used, in order.
    var used: [Int64] = []
    var hits = 0
    var misses = 0
    var hints: [HintChange] = []
    /// The time of the last hint change, in milliseconds since 1970.
    var now: Int64 = 0

    var isEmpty: Bool { used.isEmpty && hits + misses == 0 && hints.isEmpty }
}

extension CacheWriter {
    /// Hint changes between two sweeps of the table. The first change after opening also sweeps.
    private static let sweepInterval = 4_096

    /// Records uses, hits and misses. The next commit or `writeDeferred` writes them.
    ///
    /// A use of the most recently used 64th of all blobs is not written: it hardly changes the order, and every read of a cache in
    /// use would otherwise cost a write.
    package func record(_ usage: CacheUsage) {
        let recent = clock - Int64(blobCount / 64)
        for use in usage.uses where use.lastUsed <= recent { deferred.used.append(use.blob) }
        deferred.hits += usage.hits
        deferred.misses += usage.misses
    }

    /// Records changes to the hints. The next commit or `writeDeferred` writes them, without a sync: power loss may undo them.
    /// - Parameter now: milliseconds since 1970.
    package func record(_ changes: [HintChange], now: Int64) {
        deferred.hints += changes
        deferred.now = now
    }

    /// Writes what was recorded in a transaction of its own.
    package func writeDeferred() throws {
        guard !deferred.isEmpty else { return }
        try transaction { state, _ in try writeDeferred(&state) }
        try checkpointIfLong()
    }

    func writeDeferred(_ state: inout IndexState) throws {
        for blob in deferred.used { try index.touch(blob, used: state.tick()) }
        state.hits += deferred.hits
        state.misses += deferred.misses
        if let hints, !deferred.hints.isEmpty {
            for change in deferred.hints { try hints.apply(change) }
            hintsUntilSweep -= deferred.hints.count
            if hintsUntilSweep < 0 {
                try hints.sweep(now: deferred.now)
                hintsUntilSweep = Self.sweepInterval
            }
        }
        deferred.used.removeAll(keepingCapacity: true)
        deferred.hints.removeAll(keepingCapacity: true)
        (deferred.hits, deferred.misses) = (0, 0)
    }

    /// Removes the `absent` hints of URLs that have just been stored.
    func removeAbsentHints(for keys: some Sequence<String>) throws {
        guard let hints, try hints.hasAny(.absent) else { return }
        for key in keys { try hints.apply(.remove(.absent, key: key)) }
    }
}
