package import Platform
import SQLite

/// What the commit did with a put.
package enum PutOutcome: Sendable, Hashable {
    /// - Parameter deduplicated: the same bytes were already stored.
    case stored(Digest, deduplicated: Bool)
    /// The put, or the blob that it referred to, was evicted by another process before the commit.
    case lost
    /// It does not fit even with everything else evicted.
    case noRoom
}

/// The writing side of the cache. Synchronous, for one thread. Several processes may each have one on the same directory.
///
/// `put` encodes a cover's record in memory. `seal` ends the group of records gathered so far. `Group.sync` writes the group with
/// one write and one `fdatasync`; another thread may run it while this one puts on. `commit` adds the group's rows in one
/// transaction. An entry is never in the index before its bytes are on the disk.
package final class CacheWriter {
    /// Eviction goes down to this share of the capacity, so that it is rare.
    static let lowWater = 0.9

    package let directory: CacheDirectory
    /// In bytes, counting whole 4 KiB blocks of the covers, and the index. The cache does not grow past it. Another process may change
    /// it; each transaction reads it.
    package internal(set) var capacity: Int
    /// What counts towards the capacity for the index and for the longest log, in bytes: of each, what exceeds the first MiB.
    private(set) var indexCharge = 0
    /// The part of the capacity that is left for covers, in bytes.
    var room: Int { max(capacity / 2, capacity - indexCharge) }
    /// Bytes put since the last group was sealed, in whole blocks.
    package var pendingBytes: Int { buffer.count }
    /// The longest a group should be, in bytes: it is held in memory, and must fit into the cache along with what it replaces.
    package var groupLimit: Int { min(Self.maximumGroupLength, capacity / 16) }
    /// Synced groups should be committed once they are this long together, in bytes.
    package var commitLimit: Int { 2 * groupLimit }
    /// The longest all uncommitted groups are together, in bytes: one being synced, one being gathered, and those synced.
    package var headroom: Int { 2 * groupLimit + commitLimit }
    private static let maximumGroupLength = 6 << 20

    let connection: Connection
    /// Of the file that `connection` has opened.
    package let indexNumber: UInt64
    let lock: FileLock
    let index: Index
    /// Nil if the disk was too full to create their table.
    let hints: HintTable?
    /// Nil for the same reason.
    let pins: PinTable?
    var hintsUntilSweep = 0
    var segment: SegmentWriter?
    /// The segment that records are copied to.
    var compacted: SegmentWriter?
    /// Whether the file system can give back a part of a file.
    let hasHoles: Bool
    private var pending: [SegmentRecord] = []
    private var buffer = RecordBuffer(capacity: CacheWriter.maximumGroupLength)
    private let spareBuffer = SpareBuffer()
    /// Entries without a record. The next group has one for each.
    var unrecorded: [UnrecordedEntry] = []
    /// The groups that are sealed, and neither committed nor abandoned.
    private(set) var sealed: [FreedRange] = []
    /// Digests of the puts that are not committed, sealed or not.
    private var uncommittedDigests: Set<Digest> = []
    var deferred = DeferredChanges()
    /// What the current transaction frees.
    var freed: [FreedRange] = []
    /// The records of groups that could not be written or committed. A transaction frees them when no earlier group is sealed.
    var abandoned: [FreedRange] = []
    private var hasAbandoned = false
    /// What committed transactions have freed, until its blocks are given back.
    var reclaimable = ReclaimableSpace()
    /// What the current transaction adds to each segment's live bytes.
    var charges: [Int: Int] = [:]
    var files: SegmentFiles
    private let foundLongLog: Bool
    /// As of the last transaction.
    var blobCount = 0
    /// No blob of the opening has a higher row.
    var lastOldBlob: Int64 = 0
    /// Blobs that were stored since the opening, and that this writer has evicted.
    package internal(set) var evictedNewBlobs = 0
    /// Blobs that the opening evicted because the cache exceeded its capacity.
    package private(set) var evictedAtOpening = 0
    var clock: Int64 = 0
    /// Blobs that were used after this recency stay when others need room.
    var sparedFrom: Int64?
    var charged = 0

    /// Puts that become durable together.
    package struct Group: Sendable {
        fileprivate let puts: [SegmentRecord]
        /// For entries that had lost their records.
        fileprivate let references: [SegmentRecord]
        fileprivate let range: FreedRange
        fileprivate let records: RecordGroup
        /// In bytes, whole blocks.
        package var length: Int { range.length }

        /// Writes the group and returns once it would survive power loss. From any thread; a second call waits for the first and
        /// has the same result.
        package func sync() throws(CacheError) { try records.sync() }
    }

    package static let defaultCapacity = 10 << 30
    /// The index's write-ahead log is checkpointed at this length, in bytes. The next process to open the cache reads the log,
    /// which takes about 50 ms at this length.
    static let maximumLogLength = 32 << 20
    static let longLogLength = 1 << 20

    /// Opens the cache, creates it if it does not exist, and recovers what dead writers appended.
    /// - Parameters:
    ///   - capacity: bytes, stored in the cache. Nil keeps the stored one, 10 GiB at first.
    ///   - willRebuild: called before a lost index is rebuilt, which takes a minute for a million covers.
    /// - Throws: `CacheError`, or SQLite's error.
    package init(
        directory path: String, capacity: Int? = nil, willRebuild: (_ isCapacityKnown: Bool) -> Void = { _ in }
    ) throws {
        directory = try CacheDirectory(creating: path)
        do { lock = try FileLock(path: directory.lock) } catch { throw CacheError(error) }
        let directory = directory
        if !directory.hasReserve { directory.allocateReserve() }
        hasHoles = directory.hasHoles
        files = SegmentFiles(directory)
        foundLongLog = directory.walLength > Self.longLogLength
        var capacity = capacity
        var number: UInt64 = 0
        connection = try lock.withLock {
            defer { number = directory.indexNumber }
            do {
                return try IndexFile.openForWriting(directory)
            } catch let error as SQLiteError where error.isCorruption {
                capacity = capacity ?? IndexFile.capacity(directory)
                try IndexFile.setAside(directory)
                return try IndexFile.openForWriting(directory)
            }
        }
        indexNumber = number
        index = Index(connection, hasFreed: try connection.hasTable("freed"))
        hints = try connection.hasTable("remembered") ? HintTable(connection) : nil
        pins = try connection.hasTable("pins") ? PinTable(connection) : nil
        self.capacity = capacity ?? Self.defaultCapacity
        var state = try IndexState(connection)
        if state.capacity == 0 {
            try completeIndex(capacity, willRebuild)
            state = try IndexState(connection)
        }
        // Another process may have completed the index, with a capacity of its own.
        if let capacity, capacity != state.capacity {
            try transaction { state, _ in state.capacity = capacity }
            // Before covers are stored under it: power loss must not bring back a lower capacity, which would evict them.
            try directory.syncLog()
            state.capacity = capacity
        }
        (self.capacity, blobCount, clock, charged) = (state.capacity, state.blobs, state.clock, state.charged)
        lastOldBlob = try connection.integer("SELECT max(id) FROM blobs") ?? 0
        measureIndex()
        try ignoringFullDisk { try usingReserve { try recover() } }
        try ignoringFullDisk {
            // A wrong count must not evict the whole cache. Pinned blobs alone may exceed a capacity that was lowered.
            if charged > room, try charged > pinnedCharge() { try recount() }
            if charged > room { evictedAtOpening = try evict(to: room).blobs }
        }
    }

    /// Gives a new index its covers and its capacity, in this order: an index without a capacity is not complete. Without an index, or
    /// with a corrupt one, all covers are still in the segments. One process rebuilds it; others wait.
    /// - Parameter wanted: nil if the capacity is not known.
    private func completeIndex(_ wanted: Int?, _ willRebuild: (_ isCapacityKnown: Bool) -> Void) throws {
        if try directory.segmentNumbers().isEmpty {
            // Another process may have opened the new cache, too.
            return try transaction { state, _ in
                if state.capacity == 0 { state.capacity = wanted ?? Self.defaultCapacity }
            }
        }
        let rebuilding = try FileLock(path: directory.rebuildLock)
        try rebuilding.withLock {
            guard try reading({ try IndexState($0) }).capacity == 0 else { return }
            willRebuild(wanted != nil)
            _ = try rebuild(onProgress: { rebuilding.showProgress() })
            measureIndex()
            // Nothing is evicted for a capacity that is not known, nor by the next downloads.
            let capacity = wanted ?? max(Self.defaultCapacity, charged + charged / 8 + indexCharge)
            try transaction { state, _ in state.capacity = capacity }
        }
    }

    func measureIndex() {
        indexCharge = [directory.length(of: directory.index), logLimit].reduce(0) { $0 + max(0, $1 - 1 << 20) }
    }

    /// Lets a full disk pass, so that the cache can still be read and evicted from.
    private func ignoringFullDisk(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            guard CacheError(error).mayNeedRoom else { throw error }
        }
    }

    // MARK: Putting

    /// Adds a cover to the group. It is neither durable nor in the index before `commit`.
    /// - Parameter digest: of `body`, if the caller has it.
    /// - Throws: `CacheError.largerThanCapacity`, `.embedsRecord`, or the disk's error if a segment cannot be opened.
    package func put(
        _ metadata: EntryMetadata, body: UnsafeRawBufferPointer, digest: Digest? = nil
    ) throws -> Digest {
        let digest = digest ?? Digest(of: body)
        let isStored = try uncommittedDigests.contains(digest) || isInCache(digest)
        let checksum = Checksum.of(body)
        let front = RecordHeader.encode(
            metadata, digest: digest, bodyChecksum: checksum, bodyLength: body.count, isReference: isStored)
        let header = RecordHeader(
            isReference: isStored, metadataLength: front.count - RecordHeader.size, bodyLength: body.count,
            bodyChecksum: checksum, digest: digest)
        guard RecordHeader.charge(header.span) <= room else {
            throw CacheError.largerThanCapacity(bytes: body.count, capacity: capacity)
        }
        let stored = isStored ? UnsafeRawBufferPointer(start: nil, count: 0) : body
        if RecordHeader.embedsHeader(front, stored) { throw CacheError.embedsRecord }
        let segment = try openSegment()
        let offset = buffer.append(header: front, body: stored)
        pending.append(
            SegmentRecord(
                header: header, metadata: metadata, segment: segment.number, offset: segment.end + offset))
        uncommittedDigests.insert(digest)
        return digest
    }

    /// The first look-up of a group begins a snapshot that the others share: beginning one costs as much as a look-up.
    private func isInCache(_ digest: Digest) throws -> Bool {
        if !connection.isInTransaction { try connection.begin(.deferred) }
        let blob = try index.blob(digest)
        // A row alone proves nothing: the bytes may have rotted.
        return blob.map { (try? isIntact($0, digest)) ?? false } ?? false
    }

    /// Ends the group that `put` adds to. Returns nil if nothing was put.
    package func seal() -> Group? {
        let references = putReferences()
        guard var segment, !pending.isEmpty || !references.isEmpty else { return nil }
        let range = FreedRange(segment: segment.number, offset: segment.end, length: buffer.count)
        var full = spareBuffer.take() ?? RecordBuffer(capacity: Self.maximumGroupLength)
        swap(&full, &buffer)
        let records = RecordGroup(full, file: segment.file, offset: segment.end, spare: spareBuffer)
        defer { pending = [] }
        sealed.append(range)
        segment.end += range.length
        self.segment = segment.end < segmentLimit ? segment : nil
        return Group(puts: pending, references: references, range: range, records: records)
    }

    private func putReferences() -> [SegmentRecord] {
        guard !unrecorded.isEmpty, let segment = try? openSegment() else { return [] }
        defer { unrecorded = [] }
        return unrecorded.map { entry in
            let front = RecordHeader.encode(
                entry.metadata, digest: entry.digest, bodyChecksum: entry.bodyChecksum, bodyLength: entry.bodyLength,
                isReference: true)
            let offset = buffer.append(header: front, body: UnsafeRawBufferPointer(start: nil, count: 0))
            let header = RecordHeader(
                isReference: true, metadataLength: front.count - RecordHeader.size, bodyLength: entry.bodyLength,
                bodyChecksum: entry.bodyChecksum, digest: entry.digest)
            return SegmentRecord(
                header: header, metadata: entry.metadata, segment: segment.number, offset: segment.end + offset)
        }
    }

    /// Frees the disk space of a group that could not be written or committed, with the next transaction: until then, SQLite may
    /// find the rows of a failed commit in its log when it recovers from a crash.
    package func abandon(_ group: Group) {
        hasAbandoned = true
        abandoned.append(group.range)
        end(group)
    }

    /// The group is committed or abandoned.
    private func end(_ group: Group) {
        sealed.removeAll { $0 == group.range }
        for put in group.puts { uncommittedDigests.remove(put.header.digest) }
    }

    /// Adds the rows of synced groups to the index, and writes what was recorded. Groups are committed in the order of sealing.
    ///
    /// If it throws, the groups are abandoned.
    /// - Returns: one outcome for each put, in order.
    package func commit(_ groups: [Group]) throws -> [PutOutcome] {
        let outcomes: [PutOutcome]
        do {
            outcomes = try commitRows(of: groups)
        } catch {
            for group in groups { abandon(group) }
            throw error
        }
        for group in groups { end(group) }
        // A record that was not taken is newer than its URL's entry. If the index were lost now, a rebuild would take it.
        if outcomes.contains(where: { $0 == .lost || $0 == .noRoom }) { reclaimSpace() }
        // The covers are stored, whether the log can be shortened or not. The next commit tries again.
        try? checkpointIfLong()
        return outcomes
    }

    private func commitRows(of groups: [Group]) throws -> [PutOutcome] {
        let puts = groups.flatMap(\.puts)
        return try transaction { state, _ in
            try writeDeferred(&state)
            // The blobs that the puts share are marked as used first, so that this commit does not evict them.
            for put in puts where put.header.isReference {
                if let blob = try index.blob(put.header.digest) { try index.touch(blob.id, used: state.tick()) }
            }
            let known = try index.segments()
            let outcomes = try puts.map { put in
                // A rebuild by another process has taken the record, and may have lost it to an eviction since.
                let isTaken = put.offset < known[put.segment]?.scanned ?? 0
                if try isTaken && !index.hasRows(in: put.range) {
                    freed.append(put.range)
                    return PutOutcome.lost
                }
                return try commit(put, &state)
            }
            for record in groups.flatMap(\.references) { try commitReference(record, &state) }
            try removeAbsentHints(for: puts.lazy.map(\.metadata.key))
            for group in groups { try index.markScanned(group.range.segment, to: group.range.end) }
            return outcomes
        }
    }

    /// `seal`, `sync` and `commit` in one.
    package func commit() throws -> [PutOutcome] {
        guard let group = seal() else {
            try writeDeferred()
            return []
        }
        do {
            try group.sync()
        } catch {
            abandon(group)
            throw error
        }
        return try commit([group])
    }

    /// Moves the index's whole log into the index.
    package func checkpoint() throws { try checkpointIfLong(0) }

    /// Commits what is pending.
    package func close() throws {
        // On a full disk, the logs of many runs would take what is left.
        defer { if hasAbandoned { try? checkpoint() } }
        _ = try commit()
        reclaimSpace()
        if !hasHoles {
            _ = try compact(to: room)
            // The records of entries whose own were damaged.
            if !unrecorded.isEmpty { _ = try commit() }
        }
        if reclaimable.hasReclaimedRows { try transaction { _, _ in } }
        // A bulk load leaves its log to a later process instead of waiting for a checkpoint. One that found a long log when
        // opening checkpoints it.
        if foundLongLog { try checkpointIfLong(Self.longLogLength) }
    }
}
