package import Platform

/// A cover whose file is written and that has no row yet.
struct Put: Sendable {
    var line: EntryLine
    var file: CoverFolder.Written
    /// The bytes, if another process may remove the file: it was there before, or a sweep is in progress.
    var body: [UInt8]?
    var replacing: Replacing
    var digest: Digest { line.digest }
    var charge: Int { file.charge }
}

/// What a put does with another cover that its URL has.
package enum Replacing: Sendable {
    /// It replaces it in any case: a person or a pack says so.
    case always
    /// It replaces it unless it is a placeholder: one picture in place of three covers with different bytes.
    case unlessPlaceholder
    /// The same; what it replaces is kept until `releaseReplaced`, so that it can be put back.
    case keeping
}

/// Covers that become durable together.
package struct PutGroup: Sendable {
    let puts: [Put]
    let covers: CoverFolder
    /// The path of the entry log: what was appended since the last group becomes durable with this one.
    let log: String
    /// The charge of the files that were written for it, in bytes.
    package var length: Int { puts.reduce(0) { $0 + ($1.file.isDuplicate ? 0 : $1.charge) } }

    /// The paths of the files to sync. Lazy: one call for the whole file system needs none of them.
    var files: some Collection<String> {
        (0...puts.count).lazy.map { index in
            if index == puts.count { return log }
            return puts[index].file.temporary ?? covers.path(of: puts[index].digest)
        }
    }

    /// Returns once the covers' files would survive power loss. From any thread.
    /// - Throws: `CacheError`.
    package func sync() throws(CacheError) {
        try covers.sync(files)
    }
}

/// The outcome of a put.
package enum PutOutcome: Sendable, Hashable {
    /// - Parameter deduplicated: the same bytes were already stored.
    case stored(Digest, deduplicated: Bool)
    /// Another process has evicted its bytes before the commit.
    case lost
    /// It is a placeholder, and the cover that its URL has stays.
    /// - Parameter restored: the entries that it had replaced, and that are as they were before.
    case withheld(Digest, restored: [EntryLine])
    /// The disk has no room for its row. Its file has made some for others.
    case unstored(CacheError)

    /// Whether no row of the put names its file.
    var leavesFile: Bool {
        switch self {
        case .lost, .withheld: true
        case .stored, .unstored: false
        }
    }
}

/// Changes without durability needs. They are written with the next commit.
struct DeferredChanges {
    /// Hint changes between two sweeps of their table. The first change after opening also sweeps it.
    private static let hintSweepInterval = 4_096

    /// Rows of covers that were used, in order.
    private var used: [Int64] = []
    private var hits = 0
    private var misses = 0
    private var hints: [HintChange] = []
    /// The time of the last hint change, in milliseconds since 1970.
    private var now: Int64 = 0
    private var hintsUntilSweep = 0

    var isEmpty: Bool { used.isEmpty && hits + misses == 0 && hints.isEmpty }

    /// - Parameter recency: covers that were used after it need no use.
    mutating func add(_ usage: CacheUsage, olderThan recency: Int) {
        for use in usage.uses where use.lastUsed <= recency { used.append(use.cover) }
        hits += usage.hits
        misses += usage.misses
    }

    mutating func add(_ changes: [HintChange], now: Int64) {
        hints += changes
        self.now = now
    }

    /// Call `clear` once the transaction is committed.
    mutating func write(to index: IndexWriter, _ changes: inout IndexChanges) throws {
        for cover in used { try index.table.touch(cover, used: changes.state.tick()) }
        changes.state.hits += hits
        changes.state.misses += misses
        if hints.isEmpty { return }
        for change in hints { try index.hints.apply(change) }
        hintsUntilSweep -= hints.count
        if hintsUntilSweep < 0 {
            try index.hints.sweep(now: now)
            hintsUntilSweep = Self.hintSweepInterval
        }
    }

    mutating func clear() {
        used.removeAll(keepingCapacity: true)
        hints.removeAll(keepingCapacity: true)
        (hits, misses) = (0, 0)
    }
}
