import Platform
import SQLite

/// Makes a new index from the entry log and the covers.
extension IndexWriter {
    /// Gives a new index its entries and its capacity, in one transaction: an index without a capacity is not complete. One process
    /// rebuilds it; others wait.
    /// - Parameter wanted: nil for the capacity that the log states, 10 GiB for a new cache.
    /// - Throws: `CacheError`, before anything is lost, if the log or a folder of covers cannot be read.
    func complete(_ wanted: Int?) throws {
        // Its first line makes a directory a cache, before the index is there.
        let hasLog = AllocatedSpace.length(of: log.path) > EntryLog.header.count
        // The files of entries that were replaced or removed are swept, also if this process is killed after the rows are committed.
        if (try? directory.covers.folders().isEmpty) != true { marker.leave() }
        try transaction { changes in
            guard changes.state.knownCapacity == nil else { return }
            if hasLog {
                try directory.checkReadable()
                willRebuild()
                try restore(&changes)
            }
            changes.setCapacity(wanted ?? changes.state.knownCapacity ?? Self.defaultCapacity)
        }
    }

    private func restore(_ changes: inout IndexChanges) throws {
        var lines = 0
        try log.read { line in
            lines += 1
            if lines % 10_000 == 0 { lock.showProgress() }
            switch line {
            case .format: break
            case .capacity(let capacity): changes.state.capacity = min(capacity, 1 << 48)
            case .pinned(let key, true): _ = try changes.pins.add(key)
            case .pinned(let key, false): _ = try changes.pins.remove(key)
            case .removed(let key): try removeEntry(key)
            case .stored(let entry):
                // Without a file it was evicted, or never committed: an older cover of the URL may still be there.
                guard let cover = try cover(entry, &changes) else { return }
                try removeEntry(entry.metadata.key)
                try changes.table.addEntry(entry.metadata, cover.id, entry.digest)
            }
        }
        try connection.execute("DELETE FROM covers WHERE id NOT IN (SELECT cover FROM entries)")
        for key in try changes.pins.all() {
            if let entry = try changes.table.entry(key) { try changes.table.pin(entry.cover, 1) }
        }
        changes.countSizes(directory.sizes.trim())
        try changes.state.recount(connection)
        changes.state.lines = lines
    }

    private func removeEntry(_ key: String) throws {
        if let entry = try table.entry(key) { try table.removeEntry(entry) }
    }

    /// The cover's row, which is added if there is a file of its length; nil if there is none. `get` and `verify` compare the bytes.
    private func cover(_ entry: EntryLine, _ changes: inout IndexChanges) throws -> CoverRow? {
        if let cover = try changes.table.cover(entry.digest) { return cover }
        guard let charge = directory.covers.charge(of: entry.digest, length: entry.bytes) else { return nil }
        return try changes.table.addCover(
            entry.digest, length: entry.bytes, charge: charge, entry.metadata, used: changes.state.tick())
    }
}
