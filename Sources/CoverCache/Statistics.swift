import GRDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the cache holds.
package struct Statistics: Sendable {
    package var entries = 0
    package var blobs = 0
    /// Length of all bodies.
    package var bytes = 0
    /// Length of all bodies if every entry had its own.
    package var entryBytes = 0
    package var charged = 0
    package var onDisk = 0
    package var capacity = 0
    package var hits = 0
    package var misses = 0
    package var oldest: Int64?
    package var newest: Int64?
}

extension CacheWriter {
    /// Only `entries`, `charged`, `capacity`, `hits` and `misses`: what can be had quickly.
    package func totals() throws -> Statistics {
        try reading { database in
            var totals = try kept(database)
            totals.entries = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM entries") ?? 0
            return totals
        }
    }

    /// What the index keeps count of.
    private func kept(_ database: Database) throws -> Statistics {
        let state = try IndexState(database)
        var kept = Statistics()
        (kept.charged, kept.hits, kept.misses) = (state.live, state.hits, state.misses)
        kept.capacity = capacity
        return kept
    }

    package func statistics() throws -> Statistics {
        try reading { database in
            var statistics = try kept(database)
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
    /// What the segments and the index really take, holes not counted.
    func blocksOnDisk() throws(CacheError) -> Int {
        let files =
            try segmentNumbers().map { segment($0) } + [index, index + "-wal", index + "-shm", entryTags, blobTags]
        var blocks = 0
        for file in files {
            var status = stat()
            if stat(file, &status) == 0 { blocks += Int(status.st_blocks) }
        }
        return blocks * 512
    }
}
