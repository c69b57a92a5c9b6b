import Platform
import SQLite

/// Evicts the least recently used covers in transactions, so that other processes can write in between.
struct Eviction {
    /// Covers that one transaction evicts.
    private static let slice = 2_000
    /// On a full disk the log has room in the reserve for the rows of this many, if the reserve is whole.
    private static let smallSlice = 12

    private let index: IndexWriter
    private let isSpared: (Digest) -> Bool

    /// - Parameter isSpared: covers that stay.
    init(_ index: IndexWriter, isSpared: @escaping (Digest) -> Bool) { (self.index, self.isSpared) = (index, isSpared) }

    /// Evicts until at most `bytes` are charged.
    ///
    /// On a full disk the rows' log gets its room from the reserve, which stays free until covers have made more. Slices are small then, and
    /// the log is given back after each: the next one may be larger by what the covers have freed.
    /// - Parameter recency: covers that were used later stay.
    /// - Returns: how many covers were evicted, and the bytes that were charged for them.
    @discardableResult
    func run(to bytes: Int, usedUpTo recency: Int = .max) throws -> (covers: Int, bytes: Int) {
        var total = (covers: 0, bytes: 0)
        var limit = Self.slice
        var isDiskFull = false
        defer { if isDiskFull { index.directory.allocateReserve() } }
        while true {
            do {
                let evicted = try evict(limit, to: bytes, recency)
                if evicted == (0, 0) { break }
                total = (total.covers + evicted.covers, total.bytes + evicted.bytes)
                try index.checkpoint(ifLongerThan: isDiskFull ? 0 : .max)
                limit = min(2 * limit, Self.slice)
            } catch {
                guard CacheError(error).mayNeedRoom else { throw error }
                if limit == 1, try unlink(to: bytes, recency) == 0 { throw error }
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

    /// What `run` would return, if nothing is spared.
    static func count(
        to bytes: Int, in connection: borrowing Connection, _ directory: CacheDirectory
    ) throws -> (covers: Int, bytes: Int) {
        let state = try IndexState(connection)
        var (covers, charged, sizes) = (0, state.charged, state.sizes)
        for cover in try IndexTable(connection).leastRecentlyUsed(.max, usedUpTo: .max) where charged > bytes {
            let own = sizes > 0 ? min(sizes, directory.sizes.charge(of: cover.digest)) : 0
            (covers, charged, sizes) = (covers + 1, charged - cover.charge - own, sizes - own)
        }
        if charged > bytes { charged -= sizes }
        return (covers, state.charged - charged)
    }

    private func evict(_ limit: Int, to bytes: Int, _ recency: Int) throws -> (covers: Int, bytes: Int) {
        try index.transaction { changes in
            let before = changes.state
            try changes.evict(to: bytes, limit: limit, usedUpTo: recency, sparing: isSpared)
            return (before.covers - changes.state.covers, before.charged - changes.state.charged)
        }
    }

    /// Unlinks files before their rows are deleted, which makes their covers misses: the disk has no room for the log of one row.
    /// - Returns: how many; 0 if all are gone that may go.
    private func unlink(to bytes: Int, _ recency: Int) throws -> Int {
        try index.transaction { changes in
            let state = changes.state
            // Those that an earlier call has unlinked come first.
            for limit in sequence(first: Self.slice, next: { $0 < state.covers ? 2 * $0 : nil }) {
                var (charged, files) = (state.charged, [Digest]())
                for cover in try index.table.leastRecentlyUsed(limit, usedUpTo: recency)
                where charged > bytes && files.count < Self.slice && !isSpared(cover.digest) {
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

/// The result of `LibraryAPI.remove(_:includingPinned:dryRun:onFailure:)`.
public struct RemovalSummary: Sendable, Hashable {
    /// URLs that were removed from the cache.
    public var entries = 0
    /// Bytes of the capacity that this freed. Covers that other URLs share stay.
    public var bytes = 0
    /// URLs of the selection that stay because they are pinned.
    public var pinned = 0
    /// Covers that are not cached, and URLs that cannot be used.
    public var failed = 0

    /// A summary of nothing.
    package init() {}
}
