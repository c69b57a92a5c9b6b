import Platform

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
    /// - Parameter recency: covers that were used later stay.
    /// - Returns: how many covers were evicted, and the bytes that were charged for them.
    @discardableResult
    func run(to bytes: Int, usedUpTo recency: Int = .max) throws -> (covers: Int, bytes: Int) {
        var total = (covers: 0, bytes: 0)
        var limit = Self.slice
        // On a full disk the reserve stays free until the covers have made room.
        var isReserveFree = false
        defer { if isReserveFree { index.directory.allocateReserve() } }
        while true {
            let evicted: (covers: Int, bytes: Int)
            do {
                evicted = try evict(limit, to: bytes, recency)
                limit = Self.slice
            } catch {
                guard limit > 1, CacheError(error).mayNeedRoom else { throw error }
                limit = limit > Self.smallSlice ? Self.smallSlice : 1
                if !isReserveFree { index.directory.freeReserve() }
                isReserveFree = true
                continue
            }
            if evicted == (0, 0) { break }
            total = (total.covers + evicted.covers, total.bytes + evicted.bytes)
            try index.checkpoint()
        }
        if total.bytes > 0 {
            index.directory.covers.removeEmptyFolders()
            index.directory.sizes.removeEmptyFolders()
            try? index.shrink()
        }
        return total
    }

    private func evict(_ limit: Int, to bytes: Int, _ recency: Int) throws -> (covers: Int, bytes: Int) {
        try index.transaction { changes in
            let before = changes.state
            try changes.evict(to: bytes, limit: limit, usedUpTo: recency, sparing: isSpared)
            return (before.covers - changes.state.covers, before.charged - changes.state.charged)
        }
    }
}
