import Platform
import SQLite

/// The changes of one transaction to entries and covers, with their counts, and what they mean for the files.
struct IndexChanges {
    var state: IndexState
    /// Covers whose rows are gone. Their files are unlinked once that is durable.
    private(set) var removed: Set<Digest> = []
    /// Those of them that had a row.
    private var evicted: Set<Digest> = []
    var removedCovers: [Digest] { evicted.filter(removed.contains) }
    /// Lines for the entry log. Those that take something away follow the commit: a process that is killed before it must not have taken
    /// anything.
    private(set) var lines: (before: [UInt8], after: [UInt8]) = ([], [])
    /// Covers with a higher row count as `evictedNew`.
    var lastOldCover: Int64
    /// Evicted covers that this process has stored.
    private(set) var evictedNew = 0
    let table: IndexTable
    let pins: PinTable
    private let replacements: ReplacementTable
    private let sizes: SizeFolder
    /// Whether there are sizes, which go with their covers.
    let hasSizes: Bool
    private let hasPins: Bool
    /// Whether covers without entries are kept.
    private var keepsReplaced: Bool

    init(
        _ connection: borrowing Connection, _ table: IndexTable, _ pins: PinTable, _ replacements: ReplacementTable,
        _ sizes: SizeFolder, lastOldCover: Int64
    ) throws {
        state = try IndexState(connection)
        (self.table, self.pins, self.replacements) = (table, pins, replacements)
        (self.sizes, self.lastOldCover) = (sizes, lastOldCover)
        (hasSizes, hasPins, keepsReplaced) = (state.sizes > 0, try !pins.isEmpty(), try replacements.keepsAny())
    }

    /// - Parameter capacity: in bytes; at most 2⁴⁸, the largest number that is read back.
    mutating func setCapacity(_ capacity: Int) {
        let capacity = min(capacity, 1 << 48)
        if capacity == state.capacity { return }
        state.capacity = capacity
        log(.capacity(capacity))
    }

    mutating func log(_ line: EntryLog.Line) {
        switch line {
        case .removed, .pinned(_, false): line.append(to: &lines.after)
        default: line.append(to: &lines.before)
        }
        state.lines += 1
    }

    // MARK: Entries

    /// Adds an entry.
    /// - Parameter cover: the row of its cover.
    mutating func addEntry(_ line: EntryLine, _ cover: CoverRow) throws {
        try table.addEntry(line, cover.id)
        state.entries += 1
        state.entryBytes += cover.length
        if try isPinned(line.metadata.key) { try pin(cover, 1) }
        log(.stored(line))
    }

    /// Removes an entry, and its cover if no other entry names it, nor one that can be put back.
    mutating func removeEntry(_ entry: EntryRow, key: String) throws {
        try table.removeEntry(entry)
        state.entries -= 1
        guard let cover = try table.cover(id: entry.cover) else { return }
        state.entryBytes -= cover.length
        if try isPinned(key) { try pin(cover, -1) }
        try removeUnused(cover.id)
    }

    private mutating func removeUnused(_ id: Int64) throws {
        guard try table.isUnused(id), let cover = try table.cover(id: id) else { return }
        if try keepsReplaced && replacements.keeps(cover.digest) {
            // It goes before others when there is no room.
            try table.touch(id, used: 0)
        } else {
            try removeCover(cover)
        }
    }

    // MARK: Covers

    /// Adds the cover of an entry, without entries, used now.
    mutating func addCover(_ line: EntryLine, charge: Int) throws -> CoverRow {
        let cover = try table.addCover(line, charge: charge, used: state.tick())
        // SQLite gives a new row the number after the highest: that of a row that was deleted, if it was the highest.
        lastOldCover = min(lastOldCover, cover.id - 1)
        removed.remove(line.digest)
        state.covers += 1
        state.bytes += line.bytes
        state.charged += charge
        return cover
    }

    /// Removes a cover with all its entries and sizes.
    mutating func removeCover(_ cover: CoverRow) throws {
        let entries = try table.removeCover(cover)
        state.entries -= entries
        state.entryBytes -= entries * cover.length
        state.covers -= 1
        state.bytes -= cover.length
        state.charged -= cover.charge
        if hasSizes { countSizes(max(0, state.sizes - sizes.charge(of: cover.digest))) }
        if cover.pins > 0 { countPinned(cover, -1) }
        removed.insert(cover.digest)
        evicted.insert(cover.digest)
    }

    /// - Parameter bytes: what all sizes take now.
    mutating func countSizes(_ bytes: Int) {
        state.charged += bytes - state.sizes
        state.sizes = bytes
    }

    /// Removes the least recently used covers until at most `bytes` are charged. If they are too few, all sizes go, too.
    /// - Parameters:
    ///   - limit: the largest number of covers to remove.
    ///   - recency: covers that were used later stay.
    ///   - isSpared: covers that stay.
    mutating func evict(
        to bytes: Int, limit: Int = .max, usedUpTo recency: Int = .max,
        sparing isSpared: (Digest) -> Bool = { _ in false }
    ) throws {
        var (left, skipped) = (limit, 0)
        while state.charged > bytes, left > 0 {
            // More after many spared covers, which are read again each time.
            let count = max(skipped, min(left, 200))
            let batch = try table.leastRecentlyUsed(skipped + count, usedUpTo: recency).dropFirst(skipped)
            if batch.isEmpty {
                if hasSizes { countSizes(sizes.trim(to: 0)) }
                return
            }
            for cover in batch where state.charged > bytes && left > 0 {
                if isSpared(cover.digest) {
                    skipped += 1
                    continue
                }
                try removeCover(cover)
                left -= 1
                if cover.id > lastOldCover { evictedNew += 1 }
            }
        }
    }

    /// An abandoned cover's file is unlinked, too, if no row names it.
    mutating func removeFile(of digest: Digest) throws { if try table.cover(digest) == nil { removed.insert(digest) } }

    // MARK: Replacements

    /// A server gives `digest` in place of an entry's cover. A picture that was given in place of three covers with different bytes is a
    /// placeholder, not a cover. It replaces none: what it has replaced before is put back, as far as it was kept.
    /// - Parameters:
    ///   - time: of the answer, in milliseconds since 1970.
    ///   - keeps: keep the entry until `releaseReplaced`, so that it can be put back.
    ///   - writer: who keeps it.
    /// - Returns: the entries that were put back if it is a placeholder; nil for a new cover, which is to replace the entry's.
    mutating func offer(
        _ digest: Digest, for key: String, _ entry: EntryRow, time: Int64, keeps: Bool, writer: Int64
    ) throws -> [EntryLine]? {
        guard let cover = try table.cover(id: entry.cover) else { return nil }
        let replacement = ReplacementTable.Replacement(successor: digest, former: cover.digest, url: key)
        try replacements.add(replacement, time: time)
        let formers = try replacements.formerCount(of: digest, limit: 3)
        if formers == 3 { return try restoreReplaced(by: digest) }
        if keeps || formers == 2 {
            try replacements.keep(replacement, entry, by: writer)
            keepsReplaced = true
        }
        return nil
    }

    /// Puts back the entries that a placeholder has replaced. - Returns: those entries.
    private mutating func restoreReplaced(by digest: Digest) throws -> [EntryLine] {
        var restored: [EntryLine] = []
        for kept in try replacements.takeKept(of: digest) {
            // Either may be gone, and the URL may have another cover by now.
            guard let former = try table.cover(kept.digest) else { continue }
            if let entry = try table.entry(kept.metadata.key), try table.cover(id: entry.cover)?.digest == digest {
                try removeEntry(entry, key: kept.metadata.key)
                try addEntry(kept, former)
                try table.touch(former.id, used: state.tick())
                restored.append(kept)
            } else {
                try removeUnused(former.id)
            }
        }
        return restored
    }

    /// Removes covers that are kept no longer.
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - limit: the largest number of replacements to release.
    /// - Returns: whether there may be more.
    mutating func releaseReplaced(by writer: Int64, now: Int64, limit: Int) throws -> Bool {
        let released = try replacements.releasable(by: writer, now: now, limit: limit)
        for replacement in released {
            try replacements.release(replacement)
            if let cover = try table.cover(replacement.former) { try removeUnused(cover.id) }
        }
        if released.count == limit { return true }
        try replacements.removeExpired(now: now)
        return false
    }

    // MARK: Pins

    private func isPinned(_ key: String) throws -> Bool { try hasPins && pins.contains(key) }

    /// Returns whether the key was not pinned before.
    mutating func pin(_ key: String) throws -> Bool {
        guard try pins.add(key) else { return false }
        if let entry = try table.entry(key), let cover = try table.cover(id: entry.cover) { try pin(cover, 1) }
        log(.pinned(key, true))
        return true
    }

    /// Returns whether the key was pinned before.
    mutating func unpin(_ key: String) throws -> Bool {
        guard try pins.remove(key) else { return false }
        if let entry = try table.entry(key), let cover = try table.cover(id: entry.cover) { try pin(cover, -1) }
        log(.pinned(key, false))
        return true
    }

    private mutating func pin(_ cover: CoverRow, _ count: Int) throws {
        try table.pin(cover.id, count)
        if (cover.pins == 0) != (cover.pins + count <= 0) { countPinned(cover, count) }
    }

    private mutating func countPinned(_ cover: CoverRow, _ sign: Int) {
        state.pinnedCovers += sign
        state.pinnedBytes += sign * cover.length
        state.pinnedCharge += sign * cover.charge
    }
}
