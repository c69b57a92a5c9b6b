import Platform
import SQLite

extension CacheWriter {
    /// Reads the latest committed state of the index.
    func reading<Result>(_ body: (borrowing Connection) throws -> Result) throws -> Result {
        try endSnapshot()
        return try body(connection)
    }

    /// The totals and the pins were added to the index together.
    private var hasTotals: Bool { pins != nil }

    func totals(_ connection: borrowing Connection) throws -> IndexTotals {
        try IndexTotals(connection, isStored: hasTotals)
    }

    func endSnapshot() throws { if connection.isInTransaction { try connection.commit() } }

    /// Another process that finds the index corrupt renames it and makes a new one, which this connection does not know.
    /// - Throws: `CacheError`.
    func checkIndex() throws(CacheError) {
        if directory.indexNumber != indexNumber { throw .index("it was replaced or removed meanwhile") }
    }

    /// Runs one transaction under the writer's lock.
    func transaction<Result>(_ body: (inout IndexState, borrowing Connection) throws -> Result) throws -> Result {
        // Before waiting for the lock: its holder may be waiting for this snapshot to end.
        try endSnapshot()
        return try lock.withLock {
            try checkIndex()
            var state = IndexState()
            var space = reclaimable
            // Recovery starts after what is marked as scanned: it would not find an earlier group that a killed process had synced.
            let ending = abandoned.filter { range in
                !sealed.contains { $0.segment == range.segment && $0.offset < range.offset }
            }
            (charges, freed) = ([:], [])
            let result = try connection.transaction(.immediate) {
                state = try IndexState(connection)
                if state.capacity > 0 { capacity = state.capacity }
                state.lastOldBlob = lastOldBlob
                // Another process may have found and taken their records.
                freed = try ending.filter { try !index.hasRows(in: $0) }
                for range in ending { try index.markScanned(range.segment, to: range.end) }
                let result = try body(&state, connection)
                for (segment, bytes) in charges { try index.charge(bytes, to: segment) }
                if !charges.isEmpty, hasTotals { try totals(connection).save(connection) }
                try index.removeFreed(space.takeReclaimedRows())
                space.add(freed, rows: try index.addFreed(FreedRange.merged(freed)))
                try state.save(connection)
                return result
            }
            // What was rolled back has freed nothing.
            reclaimable = space
            abandoned.removeAll(where: ending.contains)
            (blobCount, clock, charged) = (state.blobs, state.clock, state.charged)
            lastOldBlob = state.lastOldBlob
            evictedNewBlobs += state.evictedNewBlobs
            return result
        }
    }

    /// The longest log, in bytes. A small cache should not have one of many times its size.
    var logLimit: Int { min(Self.maximumLogLength, max(Self.longLogLength, capacity / 8)) }

    /// Checkpoints the index's log if it is longer than `limit`. It waits for no reader: pages that a reader needs stay in the log.
    ///
    /// There are no automatic checkpoints: up to 3.51.2, SQLite can corrupt a database when one connection writes while another
    /// checkpoints. The writer's lock excludes that.
    func checkpointIfLong(_ limit: Int = .max) throws {
        guard directory.walLength > min(limit, logLimit) else { return }
        defer { measureIndex() }
        try endSnapshot()
        try lock.withLock {
            try connection.setBusyTimeout(.zero)
            defer { try? connection.setBusyTimeout(IndexFile.busyTimeout) }
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }
}
