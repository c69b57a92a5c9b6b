import GRDB

/// What is written with the next commit, and for which nobody waits.
struct CacheNotes {
    /// Blobs that were used.
    var touched: [Int64] = []
    var hits = 0
    var misses = 0
    var changes: [MemoryChange] = []
    /// Of the last change, in milliseconds since 1970.
    var now: Int64 = 0
    /// Changes to come before the memory is next swept; at once after opening.
    var untilSweep = 0

    var isEmpty: Bool { touched.isEmpty && hits + misses == 0 && changes.isEmpty }
}

extension CacheWriter {
    /// The memory is swept each time so much has been added to it.
    private static let sweepInterval = 4_096

    /// Uses, hits and misses that a reader has gathered; written with the next commit. A use of the most recent 64th is
    /// passed over: their order hardly matters, and a cache in use would otherwise write for every read.
    package func note(_ usage: CacheUsage) {
        let recent = clock - Int64(blobCount / 64)
        for use in usage.touched where use.lastUsed <= recent { notes.touched.append(use.blob) }
        notes.hits += usage.hits
        notes.misses += usage.misses
    }

    /// What is to be remembered or forgotten; written with the next commit, or `writeUsage`. It costs no sync: power loss may
    /// take it. - Parameter now: milliseconds since 1970.
    package func note(_ changes: [MemoryChange], now: Int64) {
        notes.changes += changes
        notes.now = now
    }

    /// Writes the notes taken so far, with no group to go with.
    package func writeUsage() throws {
        guard !notes.isEmpty else { return }
        try transaction { state, _ in try writeUsage(&state) }
        try checkpointIfLong()
    }

    func writeUsage(_ state: inout IndexState) throws {
        for blob in notes.touched { try index.touch(blob, used: state.tick()) }
        state.hits += notes.hits
        state.misses += notes.misses
        if hasMemory, !notes.changes.isEmpty {
            for change in notes.changes { try memory.apply(change) }
            notes.untilSweep -= notes.changes.count
            if notes.untilSweep < 0 {
                try memory.sweep(now: notes.now)
                notes.untilSweep = Self.sweepInterval
            }
        }
        notes.touched.removeAll(keepingCapacity: true)
        notes.changes.removeAll(keepingCapacity: true)
        (notes.hits, notes.misses) = (0, 0)
    }

    /// What is stored is absent no more.
    func forgetAbsences(of keys: some Sequence<String>) throws {
        guard hasMemory, try memory.remembersAny(.absent) else { return }
        for key in keys { try memory.apply(.forget(.absent, key)) }
    }
}
