import GRDB
import Platform

/// What became of one `put`, told by the commit that made it durable.
package enum PutOutcome: Sendable, Hashable {
    /// - Parameter deduplicated: the same bytes were there already.
    case stored(Digest, deduplicated: Bool)
    /// Another process evicted the blob this entry was to share, before the commit.
    case lost
    /// Not even evicting everything else makes room for it.
    case noRoom
}

/// The writing side of the cache. Synchronous, for one thread; several processes may each have one on the same directory.
///
/// A cover is *put* (its record made up in memory). The puts since the last group are *sealed* into one; the group is
/// *synced* (one write and one `fdatasync`, which another thread may wait for while this one goes on putting) and then
/// *committed* (one transaction with all its rows). An entry is never in the index before its bytes are on the disk.
package final class CacheWriter {
    /// Eviction goes down to this share of the capacity, so that it is rare.
    static let lowWater = 0.9

    package let directory: CacheDirectory
    /// In bytes, counting whole 4 KiB blocks. The cache does not grow past it.
    package private(set) var capacity: Int
    /// Bytes put since the last group was sealed, whole blocks.
    package var pendingBytes: Int { buffer.count }
    /// A group should not grow beyond this: it is held in memory, and must fit into the cache besides what it displaces.
    package var groupLimit: Int { min(Self.fullGroup, capacity / 16) }
    /// Synced groups should not wait for being committed when they are larger than this together.
    package var commitLimit: Int { 2 * groupLimit }
    /// What groups take of the disk before they are committed: one that is being synced, those that wait, and one more.
    package var groupsToCome: Int { 2 * groupLimit + commitLimit }
    private static let fullGroup = 6 << 20

    let queue: DatabaseQueue
    let lock: FileLock
    let index: Index
    let memory: MemoryTable
    /// A full disk may have kept its table from being made.
    let hasMemory: Bool
    private let tags: IndexTags
    private let beginSnapshot: FastStatement
    var segment: SegmentWriter?
    private var pending: [Pending] = []
    private var buffer = RecordBuffer(capacity: CacheWriter.fullGroup)
    private var spareBuffers: [RecordBuffer] = []
    /// Of puts not yet committed, sealed or not.
    private var uncommittedDigests: Set<Digest> = []
    var notes = CacheNotes()
    var freed: [FreedRange] = []
    /// What the transaction under way adds to each segment's live bytes.
    var charges: [Int: Int] = [:]
    private let foundLongLog: Bool
    /// As of the last transaction.
    private(set) var blobCount = 0
    private(set) var clock: Int64 = 0
    var live = 0

    fileprivate struct Pending {
        var head: RecordHead
        var metadata: EntryMetadata
        var segment: Int
        var offset: Int
    }

    /// Puts that will become durable together.
    package struct Group: Sendable {
        fileprivate let puts: [Pending]
        fileprivate let buffer: RecordBuffer
        fileprivate let segment: SegmentWriter
        fileprivate let start: Int
        /// In bytes, whole blocks.
        package let length: Int

        /// Writes the group and returns when it would survive power loss. From any thread.
        package func sync() throws(CacheError) { try segment.write(buffer.bytes, at: start) }
    }

    package static let defaultCapacity = 10 << 30
    /// The index's log is not let grow beyond this, in bytes: reading it takes the next to open the cache some 50 ms.
    private static let longestLog = 32 << 20
    private static let longLog = 1 << 20

    /// Opens the cache, making it where there is none, and adopts what writers that died had appended.
    /// - Parameter capacity: bytes; remembered in the cache. Nil keeps what it was, 10 GiB at first.
    /// - Throws: `CacheError`.
    package init(directory path: String, capacity: Int? = nil) throws {
        directory = try CacheDirectory(creating: path)
        do { lock = try FileLock(path: directory.lock) } catch { throw CacheError(error) }
        let directory = directory
        foundLongLog = directory.walLength > Self.longLog
        // Without an index, or with one that is spoiled, everything is still in the segments.
        var isRebuilt = directory.length(ofFile: directory.index) == 0
        if isRebuilt { isRebuilt = try !directory.segmentNumbers().isEmpty }
        queue = try lock.withLock {
            do {
                return try IndexFile.openForWriting(directory)
            } catch let error as DatabaseError where IndexFile.isSpoiled(error) {
                // The covers are in the segments, whole: the index is set aside and made anew from them.
                try IndexFile.setAside(directory)
                isRebuilt = true
                return try IndexFile.openForWriting(directory)
            }
        }
        (tags, index, beginSnapshot, memory, hasMemory) = try lock.withLock { [queue] in
            try queue.writeWithoutTransaction { database in
                let tags = try IndexTags(database, directory)
                return (
                    tags, Index(database, tags), FastStatement(database, "BEGIN DEFERRED"), MemoryTable(database),
                    try database.tableExists("remembered")
                )
            }
        }
        self.capacity = 0
        let (remembered, rows) = try queue.read { database in
            (try IndexState(database), try Row.fetchAll(database, sql: "SELECT id, scanned FROM segments"))
        }
        self.capacity = capacity ?? (remembered.capacity > 0 ? remembered.capacity : Self.defaultCapacity)
        blobCount = remembered.blobs
        clock = remembered.clock
        live = remembered.live
        if self.capacity != remembered.capacity {
            try transaction { state, _ in state.capacity = self.capacity }
        }
        if isRebuilt { _ = try rebuild() }
        if !directory.hasReserve { directory.reserveRoom() }
        // A full disk must not keep anybody from reading, or from evicting.
        try whereThereIsRoom {
            try adopt(scanned: Dictionary(uniqueKeysWithValues: rows.map { ($0["id"] as Int, $0["scanned"] as Int) }))
        }
        try whereThereIsRoom { if live > self.capacity { try evict(to: self.capacity) } }
    }

    private func whereThereIsRoom(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            guard case .diskFull = CacheError(error) else { throw error }
        }
    }

    // MARK: Putting

    /// Adds a cover to the group. It is neither durable nor in the index before `commit`.
    /// - Throws: `CacheError.largerThanCapacity`, or the disk's when a segment cannot be opened.
    package func put(_ metadata: EntryMetadata, body: UnsafeRawBufferPointer) throws -> Digest {
        let digest = Digest(of: body)
        let isKnown = try uncommittedDigests.contains(digest) || isStored(digest)
        let checksum = Checksum.of(body)
        let head = RecordHead.encode(
            metadata, digest: digest, bodyChecksum: checksum, bodyLength: body.count, isReference: isKnown)
        let span = head.count + (isKnown ? 0 : body.count)
        let charge = RecordHead.charge(span)
        guard charge <= capacity else { throw CacheError.largerThanCapacity(bytes: body.count, capacity: capacity) }
        let segment = try openSegment()
        let place = buffer.append(head: head, body: isKnown ? UnsafeRawBufferPointer(start: nil, count: 0) : body)
        let parsed = RecordHead(
            isReference: isKnown, metadataLength: head.count - RecordHead.size, bodyLength: body.count,
            bodyChecksum: checksum, digest: digest)
        pending.append(Pending(head: parsed, metadata: metadata, segment: segment.number, offset: segment.end + place))
        uncommittedDigests.insert(digest)
        return digest
    }

    /// The first look-up of a group takes a snapshot, the others share it: taking one costs as much as looking up.
    private func isStored(_ digest: Digest) throws -> Bool {
        try queue.unsafeRead { database in
            if !database.isInsideTransaction { try beginSnapshot.run() }
            return try index.blob(digest) != nil
        }
    }

    /// Ends the group that `put` has been adding to. Nil when nothing was put.
    package func seal() -> Group? {
        guard let segment, !pending.isEmpty else { return nil }
        defer {
            pending = []
            segment.end += buffer.count
            buffer = spareBuffers.popLast() ?? RecordBuffer(capacity: Self.fullGroup)
            if segment.isFull { self.segment = nil }
        }
        return Group(puts: pending, buffer: buffer, segment: segment, start: segment.end, length: buffer.count)
    }

    /// Gives back the room of a group that could not be written whole.
    package func abandon(_ group: Group) {
        freed.append(FreedRange(segment: group.segment.number, offset: group.start, length: group.length))
        for put in group.puts { uncommittedDigests.remove(put.head.digest) }
        tidy()
    }

    /// Takes back the memory of a synced group, for the next one.
    package func reclaim(_ group: Group) {
        group.buffer.removeAll()
        spareBuffers.append(group.buffer)
    }

    /// Makes synced groups visible, and writes the uses noted so far. Groups are committed in the order of sealing.
    /// - Returns: one outcome for each put, in order.
    package func commit(_ groups: [Group]) throws -> [PutOutcome] {
        let puts = groups.flatMap(\.puts)
        defer {
            for put in puts { uncommittedDigests.remove(put.head.digest) }
        }
        let outcomes = try transaction { state, _ in
            try writeUsage(&state)
            for put in puts where put.head.isReference {
                if let blob = try index.blob(put.head.digest) { try index.touch(blob.id, used: state.tick()) }
            }
            let outcomes = try puts.map { try record($0, &state) }
            try forgetAbsences(of: puts.lazy.map(\.metadata.key))
            for group in groups { try index.markScanned(group.segment.number, to: group.start + group.length) }
            return outcomes
        }
        try checkpointIfLong()
        return outcomes
    }

    /// `seal`, `sync` and `commit` in one.
    package func commit() throws -> [PutOutcome] {
        guard let group = seal() else {
            try writeUsage()
            return []
        }
        defer { reclaim(group) }
        try group.sync()
        return try commit([group])
    }

    /// Takes down what servers said of entries whose bytes stay: rows change, nothing is appended. It survives the end of the
    /// process, not power loss, after which they are only asked for again.
    package func renew(_ renewals: [Renewal]) throws {
        // A refresh writes the whole index anew, and waits at its end until that is sorted in.
        defer { try? checkpointIfLong(Self.longLog * 6) }
        try transaction { state, _ in
            try writeUsage(&state)
            for renewal in renewals { try index.renew(renewal) }
        }
    }

    /// Sorts the index's log in, so that it takes no room besides.
    package func checkpoint() throws { try checkpointIfLong(0) }

    private func record(_ item: Pending, _ state: inout IndexState) throws -> PutOutcome {
        let own = FreedRange(
            segment: item.segment, offset: item.offset, length: RecordHead.charge(item.head.span))
        var blob = try index.blob(item.head.digest)
        if let entry = try index.entry(item.metadata.key) {
            if let blob, entry.blob == blob.id {
                // Another process stored the very same, or adopted this very record, or it came again unchanged.
                try index.validate(entry.id, item.metadata)
                free(own, unlessOf: entry, blob)
                return .stored(item.head.digest, deduplicated: true)
            }
            try replace(entry, &state)
        }
        if state.live + own.length > capacity {
            try evictSlice(&state, to: capacity - own.length, limit: .max, sparing: blob?.id)
            if state.live + own.length > capacity {
                freed.append(own)
                return .noRoom
            }
            blob = try index.blob(item.head.digest)
        }
        if blob == nil, item.head.isReference {
            freed.append(own)
            return .lost
        }
        try insert(item.head, item.metadata, own, blob, &state)
        return .stored(item.head.digest, deduplicated: blob != nil)
    }

    /// Gives back a record that is not needed, unless it is the one in use.
    func free(_ own: FreedRange, unlessOf entry: Index.Entry, _ blob: BlobRow) {
        let isBlobs = blob.segment == own.segment && blob.offset == own.offset
        if !isBlobs, entry.reference != own { freed.append(own) }
    }

    func insert(
        _ head: RecordHead, _ metadata: EntryMetadata, _ own: FreedRange, _ blob: BlobRow?, _ state: inout IndexState
    ) throws {
        if let blob {
            try index.addEntry(metadata, blob: blob.id, reference: own)
        } else {
            let id = try index.addBlob(head, metadata, segment: own.segment, offset: own.offset, used: state.tick())
            try index.addEntry(metadata, blob: id, reference: nil)
            state.blobs += 1
        }
        charges[own.segment, default: 0] += own.length
        state.live += own.length
    }

    /// Makes way for a new entry under the same key.
    func replace(_ entry: Index.Entry, _ state: inout IndexState) throws {
        try index.removeEntry(entry.id)
        if let reference = entry.reference { try release([reference], &state) }
        if try index.isOrphan(entry.blob), let blob = try index.blob(id: entry.blob) {
            try release(index.removeBlob(blob), &state)
            state.blobs -= 1
        }
    }

    func release(_ ranges: [FreedRange], _ state: inout IndexState) throws {
        for range in ranges {
            charges[range.segment, default: 0] -= range.length
            state.live -= range.length
        }
        freed += ranges
    }

    // MARK: Transactions

    /// A look at the index as it is now.
    func reading<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try queue.writeWithoutTransaction { database in
            if database.isInsideTransaction { try database.commit() }
            return try body(database)
        }
    }

    private func endSnapshot() throws { try reading { _ in } }

    /// One transaction under the writer's lock, on the index's counters.
    func transaction<Result>(_ body: (inout IndexState, Database) throws -> Result) throws -> Result {
        // Before waiting for the lock: whoever has it may be waiting for the end of this snapshot.
        try endSnapshot()
        return try lock.withLock {
            try queue.writeWithoutTransaction { database in
                tags.tidy()
                var result: Result?
                try database.inTransaction(.immediate) {
                    var state = try IndexState(database)
                    charges = [:]
                    result = try body(&state, database)
                    for (segment, bytes) in charges { try index.charge(bytes, to: segment) }
                    try state.save(database)
                    (blobCount, clock, live) = (state.blobs, state.clock, state.live)
                    return .commit
                }
                return result!
            }
        }
    }

    /// SQLite up to 3.51.2 can spoil a WAL when one connection writes while another checkpoints: hence the lock, and no
    /// automatic checkpoints. It waits for no reader: what one still needs stays in the log for the next time.
    func checkpointIfLong(_ limit: Int? = nil) throws {
        // A small cache is to be small with its log.
        let limit = limit ?? min(Self.longestLog, max(Self.longLog, capacity / 8))
        guard directory.walLength > limit else { return }
        try endSnapshot()
        try lock.withLock {
            try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA busy_timeout = 0")
                defer { try? database.execute(sql: "PRAGMA busy_timeout = \(IndexFile.patience * 1_000)") }
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }
    }

    /// Commits what is pending.
    package func close() throws {
        _ = try commit()
        tidy()
        // Who has just written much does not wait for the index to be sorted in; who finds a long log when opening leaves
        // none to the next.
        if foundLongLog { try checkpointIfLong(Self.longLog) }
    }
}

extension IndexState {
    /// The next moment of the recency clock.
    mutating func tick() -> Int64 {
        clock += 1
        return clock
    }
}
