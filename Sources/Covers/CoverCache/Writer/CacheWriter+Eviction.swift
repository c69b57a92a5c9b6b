import Platform

/// Evicts the least recently used covers in transactions, so that other processes can write in between.
extension CacheWriter {
    /// Covers that one transaction evicts.
    private static let slice = 2_000
    /// On a full disk the log has room in the reserve for the rows of this many, if the reserve is whole.
    private static let smallSlice = 12

    /// Evicts the least recently used covers until at most `bytes` are charged. Uncommitted puts stay.
    @discardableResult
    package func evict(to bytes: Int) throws -> EvictionSummary {
        // On a full disk, the uses are less important than the room.
        try? writeDeferred()
        return try evict(to: bytes, usedUpTo: .max)
    }

    /// Evicts until at most `bytes` are charged, and writes no uses before.
    ///
    /// On a full disk the rows' log gets its room from the reserve, which stays free until covers have made more. Slices are small then, and
    /// the log is given back after each: the next one may be larger by what the covers have freed.
    /// - Parameter recency: covers that were used later stay.
    @discardableResult
    func evict(to bytes: Int, usedUpTo recency: Int) throws -> EvictionSummary {
        var total = EvictionSummary()
        var limit = Self.slice
        var isDiskFull = false
        defer { if isDiskFull { index.directory.allocateReserve() } }
        while true {
            do {
                let evicted = try evict(limit, to: bytes, recency)
                if evicted == EvictionSummary() { break }
                total.covers += evicted.covers
                total.bytes += evicted.bytes
                try index.checkpoint(ifLongerThan: isDiskFull ? 0 : .max)
                limit = min(2 * limit, Self.slice)
            } catch {
                guard CacheError(error).mayNeedRoom else { throw error }
                if limit == 1, try unlinkFiles(to: bytes, recency) == 0 { throw error }
                if !isDiskFull { index.directory.freeReserve() }
                isDiskFull = true
                // What was written of the slice has stayed in the log's file.
                _ = try? index.checkpoint(ifLongerThan: 0)
                limit = limit == 1 || limit > Self.smallSlice ? Self.smallSlice : 1
            }
        }
        if total.bytes > 0 {
            index.directory.covers.removeEmptyFolders()
            index.directory.sizes.removeEmptyFolders()
            try? index.shrink()
        }
        return total
    }

    private func evict(_ limit: Int, to bytes: Int, _ recency: Int) throws -> EvictionSummary {
        try index.transaction { changes in
            let before = changes.state
            try changes.evict(to: bytes, limit: limit, usedUpTo: recency, sparing: isUncommitted)
            return EvictionSummary(
                covers: before.covers - changes.state.covers, bytes: before.charged - changes.state.charged)
        }
    }

    /// Unlinks files before their rows are deleted, which makes their covers misses: the disk has no room for the log of one row.
    /// - Returns: how many; 0 if all are gone that may go.
    private func unlinkFiles(to bytes: Int, _ recency: Int) throws -> Int {
        try index.transaction { changes in
            let state = changes.state
            // Those that an earlier call has unlinked come first.
            for limit in sequence(first: Self.slice, next: { $0 < state.covers ? 2 * $0 : nil }) {
                var (charged, files) = (state.charged, [Digest]())
                for cover in try index.table.leastRecentlyUsed(limit, usedUpTo: recency)
                where charged > bytes && files.count < Self.slice && !isUncommitted(cover.digest) {
                    charged -= cover.charge
                    if index.directory.covers.exists(cover.digest) { files.append(cover.digest) }
                }
                let unlinked = files.count { index.directory.covers.remove($0) }
                if unlinked > 0 { return unlinked }
            }
            return 0
        }
    }
}
