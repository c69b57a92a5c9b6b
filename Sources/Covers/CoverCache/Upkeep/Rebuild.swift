import Platform
import SQLite

/// Makes a new index from the entry log and the covers.
struct Rebuild {
    private let index: IndexWriter

    init(_ index: IndexWriter) { self.index = index }

    /// Gives a new index its entries and its capacity, in one transaction: an index without a capacity is not complete. One process
    /// rebuilds it; others wait.
    /// - Parameter wanted: nil for the capacity that the log states, 10 GiB for a new cache.
    /// - Throws: `CacheError`, before anything is lost, if the log or a folder of covers cannot be read.
    func completeIndex(_ wanted: Int?, _ willRebuild: () -> Void) throws {
        // Its first line makes a directory a cache, before the index is there.
        let hasLog = AllocatedSpace.length(of: index.log.path) > EntryLog.header.count
        // The files of entries that were replaced or removed are swept, also if this process is killed after the rows are committed.
        if (try? index.directory.covers.folders().isEmpty) != true { index.marker.leave() }
        try index.transaction { changes in
            guard changes.state.knownCapacity == nil else { return }
            if hasLog {
                try index.directory.checkReadable()
                willRebuild()
                try restore(&changes)
            }
            changes.setCapacity(wanted ?? changes.state.knownCapacity ?? IndexWriter.defaultCapacity)
        }
    }

    private func restore(_ changes: inout IndexChanges) throws {
        var lines = 0
        try index.log.read { line in
            lines += 1
            if lines % 10_000 == 0 { index.lock.showProgress() }
            switch line {
            case .format: break
            case .capacity(let capacity): changes.state.capacity = min(capacity, 1 << 48)
            case .pinned(let key, true): _ = try changes.pins.add(key)
            case .pinned(let key, false): _ = try changes.pins.remove(key)
            case .removed(let key): try remove(key)
            case .stored(let entry):
                // Without a file it was evicted, or never committed: an older cover of the URL may still be there.
                guard let cover = try cover(entry, &changes) else { return }
                try remove(entry.metadata.key)
                try changes.table.addEntry(entry.metadata, cover.id, entry.digest)
            }
        }
        try index.connection.execute("DELETE FROM covers WHERE id NOT IN (SELECT cover FROM entries)")
        for key in try changes.pins.all() {
            if let entry = try changes.table.entry(key) { try changes.table.pin(entry.cover, 1) }
        }
        changes.countSizes(index.directory.sizes.trim())
        try changes.state.recount(index.connection)
        changes.state.lines = lines
    }

    private func remove(_ key: String) throws {
        if let entry = try index.table.entry(key) { try index.table.removeEntry(entry) }
    }

    /// The cover's row, which is added if there is a file of its length; nil if there is none. `get` and `verify` compare the bytes.
    private func cover(_ entry: EntryLine, _ changes: inout IndexChanges) throws -> CoverRow? {
        if let cover = try changes.table.cover(entry.digest) { return cover }
        guard let charge = index.directory.covers.charge(of: entry.digest, length: entry.bytes) else { return nil }
        return try changes.table.addCover(
            entry.digest, length: entry.bytes, charge: charge, entry.metadata, used: changes.state.tick())
    }
}
