import Platform
import SQLite

/// Counts and sizes of a cache; all sizes in bytes, times in milliseconds since 1970.
package struct Statistics: Sendable {
    package var entries = 0
    package var blobs = 0
    /// The length of all bodies.
    package var bytes = 0
    /// The length of all bodies if no two entries shared one.
    package var entryBytes = 0
    /// What counts towards the capacity.
    package var charged = 0
    /// Blocks allocated to the segments and the index.
    package var onDisk = 0
    package var capacity = 0
    package var hits = 0
    package var misses = 0
    /// Blobs that eviction spares.
    package var pinnedBlobs = 0
    /// The length of their bodies.
    package var pinnedBytes = 0
    /// When the first and the last entry were stored.
    package var oldest: Int64?
    package var newest: Int64?
}

extension CacheWriter {
    /// Returns the statistics without `onDisk`, `oldest` and `newest`.
    package func totals() throws -> Statistics { try reading { try counters($0) } }

    package func statistics() throws -> Statistics {
        try reading { connection in
            var statistics = try counters(connection)
            statistics.oldest = try connection.integer("SELECT MIN(stored) FROM entries")
            statistics.newest = try connection.integer("SELECT MAX(stored) FROM entries")
            statistics.onDisk = try directory.blocksOnDisk()
            return statistics
        }
    }

    private func counters(_ connection: borrowing Connection) throws -> Statistics {
        let (state, totals) = (try IndexState(connection), try totals(connection))
        return Statistics(
            entries: totals.entries, blobs: totals.blobs, bytes: totals.bytes, entryBytes: totals.entryBytes,
            charged: state.charged, capacity: capacity, hits: state.hits, misses: state.misses,
            pinnedBlobs: totals.pinnedBlobs, pinnedBytes: totals.pinnedBytes)
    }
}

extension CacheDirectory {
    /// Bytes of the blocks allocated to the segments, the index and the files of fixed size. Holes do not count.
    func blocksOnDisk() throws(CacheError) -> Int {
        let others = [index, index + "-wal", index + "-shm", leases, reserve]
        let files = try segmentNumbers().map { segment($0) } + others
        return files.reduce(0) { $0 + AllocatedSpace.bytes(of: $1) }
    }
}
