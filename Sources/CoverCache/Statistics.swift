import GRDB
import Platform

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
    /// When the first and the last entry were stored.
    package var oldest: Int64?
    package var newest: Int64?
}

extension CacheWriter {
    /// Returns `entries`, `charged`, `capacity`, `hits` and `misses`, which need no scan of all rows' contents.
    package func totals() throws -> Statistics {
        try reading { database in
            var totals = try counters(database)
            totals.entries = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM entries") ?? 0
            return totals
        }
    }

    private func counters(_ database: Database) throws -> Statistics {
        let state = try IndexState(database)
        return Statistics(charged: state.charged, capacity: capacity, hits: state.hits, misses: state.misses)
    }

    package func statistics() throws -> Statistics {
        try reading { database in
            var statistics = try counters(database)
            if let row = try Row.fetchOne(database, sql: "SELECT COUNT(*), COALESCE(SUM(length), 0) FROM blobs") {
                (statistics.blobs, statistics.bytes) = (row[0], row[1])
            }
            let entries = try Row.fetchOne(
                database,
                sql: """
                    SELECT COUNT(*), COALESCE(SUM(b.length), 0), MIN(e.stored), MAX(e.stored)
                    FROM entries e JOIN blobs b ON b.id = e.blob
                    """)
            if let row = entries {
                (statistics.entries, statistics.entryBytes) = (row[0], row[1])
                (statistics.oldest, statistics.newest) = (row[2], row[3])
            }
            statistics.onDisk = try directory.blocksOnDisk()
            return statistics
        }
    }
}

extension CacheDirectory {
    /// Bytes of the blocks allocated to the segments and the index. Holes do not count.
    func blocksOnDisk() throws(CacheError) -> Int {
        let files = try segmentNumbers().map { segment($0) } + [index, index + "-wal", index + "-shm"]
        var blocks = 0
        for file in files {
            var status = stat()
            if stat(file, &status) == 0 { blocks += Int(status.st_blocks) }
        }
        return blocks * 512
    }
}
