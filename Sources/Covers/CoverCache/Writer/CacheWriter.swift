package import Platform
import SQLite

/// The writing side of the cache. Synchronous, for one thread. Several processes may each have one on the same directory.
///
/// `put` writes a cover's file. `seal` ends the group of covers gathered so far. `PutGroup.sync` makes their files durable; another
/// thread may run it while this one puts on. `commit` adds the group's rows in one transaction, durable when it returns. An entry is
/// never in the index before its file is on the disk.
package final class CacheWriter {
    /// The longest a group is, in bytes: about a thousand covers.
    private static let maximumGroupLength = 32 << 20

    package let directory: CacheDirectory
    let index: IndexWriter
    let covers: CoverFolder
    private var pending: [Put] = []
    /// The charge of the pending puts, and what they hold in memory, in bytes.
    package private(set) var pendingBytes = 0
    /// The charge of all files that were written and have no row yet, in bytes.
    var writtenBytes = 0
    /// Digests of the puts that are neither committed nor abandoned, with their number.
    private var uncommitted: [Digest: Int] = [:]
    var deferred = DeferredChanges()
    private let foundLongLog: Bool
    /// Tells this writer from others of the cache.
    private let number = Int64.random(in: .min ... .max)
    /// Covers that were used after this recency stay when others need room.
    var sparedFrom: Int?
    let notice: (CacheNotice) -> Void

    /// In bytes, counting the blocks of the covers, and the index. The cache does not grow past it.
    package var capacity: Int { index.capacity }
    /// The longest a group should be, in bytes: it must fit into the cache along with what it replaces.
    package var groupLimit: Int { min(Self.maximumGroupLength, capacity / 16) }
    /// Synced groups should be committed once they are this long together, in bytes.
    package var commitLimit: Int { 2 * groupLimit }
    /// The longest all uncommitted groups are together, in bytes: one being synced, one being gathered, and those synced.
    package var headroom: Int { 2 * groupLimit + commitLimit }
    /// Covers that were stored since the opening, and that this writer has evicted.
    package var evictedNewCovers: Int { index.evictedNewCovers }

    /// Opens the cache, creates it if it does not exist, and removes what dead processes have left. An index that turns out to be corrupt
    /// is set aside and rebuilt from the entry log and the covers.
    /// - Parameters:
    ///   - capacity: bytes, stored in the cache. Nil keeps the stored one, 10 GiB at first.
    ///   - notice: called with what a person should know, also later; first of all before a lost index is rebuilt, which takes half a minute
    ///     for a million covers.
    /// - Throws: `CacheError`, or SQLite's error.
    package static func open(
        _ path: String, capacity: Int? = nil, notice: @escaping (CacheNotice) -> Void = { _ in }
    ) throws -> CacheWriter {
        let directory = try CacheDirectory(creating: path)
        let number = directory.indexNumber
        do {
            return try CacheWriter(directory, capacity: capacity, notice)
        } catch {
            guard case .corruptIndex = CacheError(error) else { throw error }
            try setAside(directory, number)
            return try CacheWriter(directory, capacity: capacity, notice)
        }
    }

    /// Sets a corrupt index aside, unless another process has done so.
    /// - Parameter number: its inode.
    private static func setAside(_ directory: CacheDirectory, _ number: UInt64) throws {
        try FileLock(path: directory.lock).withLock {
            if directory.indexNumber == number { try IndexFile.setAside(directory) }
        }
    }

    private init(
        _ directory: CacheDirectory, capacity: Int?, _ notice: @escaping (CacheNotice) -> Void
    ) throws {
        self.directory = directory
        self.notice = notice
        covers = directory.covers
        directory.allocateReserve()
        foundLongLog = directory.logLength > IndexWriter.longLogLength
        index = try IndexWriter(directory, capacity: capacity) { notice(.rebuilding) }
        index.onRemoval = { notice(.removed($0)) }
        // Another process may have completed the index, with a capacity of its own.
        if let capacity, capacity != self.capacity { try index.transaction { $0.setCapacity(capacity) } }
        try keepHouse { try sweep() }
        try keepHouse {
            // Folders take little beside these files: most openings need not measure them.
            let files = AllocatedSpace.bytes(of: directory.index) + AllocatedSpace.bytes(of: directory.log)
            guard index.state.charged + files > index.capacity / 2, index.state.charged > index.room else { return }
            // A wrong count must not evict the whole cache. Pinned covers alone may exceed a capacity that was lowered.
            if index.state.charged > index.state.pinnedCharge { try recount() }
            try evictToRoom()
        }
    }

    /// Evicts in halves: the index and its log, which count, too, get shorter with the covers.
    private func evictToRoom() throws {
        try? index.shrink()
        var total = 0
        defer { if total > 0 { notice(.evicted(covers: total, capacity: capacity)) } }
        while index.state.charged > index.room {
            let evicted = try evict(to: max(index.room, index.state.charged / 2))
            total += evicted.covers
            if evicted.bytes == 0 { return }
        }
    }

    /// Housekeeping never closes the cache, so that it can still be read and evicted from.
    private func keepHouse(_ body: () throws -> Void) throws {
        do { try body() } catch {
            let error = CacheError(error)
            if case .corruptIndex = error { throw error }
            // A full disk is told by what is stored next.
            if !error.mayNeedRoom { notice(.unfinished(error)) }
        }
    }

    /// Opens the index again if another process has replaced it, or removed the cache. - Returns: whether it has.
    @discardableResult
    package func reopenIfReplaced() throws -> Bool { try index.reopenIfReplaced() }

    /// Rebuilds a corrupt index, unless that was done.
    /// - Parameter number: its inode.
    func rebuildIndex(_ number: UInt64) throws {
        try Self.setAside(directory, number)
        try reopenIfReplaced()
    }

    /// Commits what is pending.
    package func close() throws {
        _ = try commit()
        try keepHouse { try sweep() }
        try? index.shrink()
        try index.syncLog()
        // A bulk load leaves its log to a later process instead of waiting for a checkpoint. One that found a long log when
        // opening checkpoints it.
        if foundLongLog { try index.checkpoint(ifLongerThan: IndexWriter.longLogLength) }
    }

    // MARK: Putting

    /// Writes a cover's file. The cover is neither durable nor in the index before `commit`.
    /// - Parameters:
    ///   - digest: of `body`, if the caller has it.
    ///   - keepsBody: The commit writes the file again if another process has removed it.
    ///   - replacing: what becomes of another cover that the URL has.
    /// - Throws: `CacheError`, among others one that `isOfCover`. No file is left then.
    package func put(
        _ metadata: EntryMetadata, body: UnsafeRawBufferPointer, digest: Digest? = nil, keepsBody: Bool = false,
        replacing: Replacing = .always
    ) throws -> Digest {
        guard metadata.hasRoom else { throw CacheError.longMetadata }
        guard body.count <= index.room else {
            throw CacheError.largerThanCapacity(bytes: body.count, capacity: capacity)
        }
        let digest = digest ?? Digest(of: body)
        let written = try write(body, digest)
        var put = Put(line: EntryLine(metadata, digest, bytes: body.count), file: written, replacing: replacing)
        if keepsBody || written.isDuplicate || !index.marker.isSafe {
            put.body = Array(body)
            pendingBytes += body.count
        }
        pending.append(put)
        // A duplicate may be of a file that no row names yet, so it counts, too.
        pendingBytes += written.charge
        if !written.isDuplicate { writtenBytes += written.charge }
        uncommitted[digest, default: 0] += 1
        return digest
    }

    /// Writes the file of a cover. Nothing of it is left if that fails.
    private func write(_ body: UnsafeRawBufferPointer, _ digest: Digest) throws -> CoverFolder.Written {
        if pending.isEmpty { index.marker.begin() } else { index.marker.retry() }
        do {
            // A file that is there counts already.
            if !hasRoom(body.count), !covers.has(digest, length: body.count) { try reserveRoom(body.count) }
            do { return try covers.write(body, digest) } catch {
                guard try reopenIfReplaced() else { throw error }
                return try covers.write(body, digest)
            }
        } catch {
            // Under the lock: another process may have committed a file of this name.
            if !CacheError(error).isOfCover { removeUnused([digest]) }
            if pending.isEmpty { index.marker.end() }
            // The capacity does not limit how many covers there are.
            guard case CacheError.noInodes = error, try evictUnspared(to: index.state.charged / 10 * 9).bytes > 0
            else { throw error }
        }
        return try write(body, digest)
    }

    /// Whether a group should end before a cover of this length.
    package func isGroupFull(before length: Int) -> Bool {
        !pending.isEmpty && pendingBytes + length > groupLimit
    }

    /// Ends the group that `put` adds to. Returns nil if nothing was put.
    package func seal() -> PutGroup? {
        if pending.isEmpty { return nil }
        defer { (pending, pendingBytes) = ([], 0) }
        return PutGroup(puts: pending, covers: covers, log: directory.log)
    }

    /// Removes the files of a group that could not be synced or committed.
    package func abandon(_ group: PutGroup) {
        abandon(group.puts)
        index.marker.end(releasing: group.length)
    }

    private func abandon(_ puts: some Collection<Put>) {
        end(puts)
        for temporary in puts.compactMap(\.file.temporary) { unlink(temporary) }
        removeUnused(puts.map(\.digest))
    }

    /// The puts are committed or abandoned.
    private func end(_ puts: some Collection<Put>) {
        for put in puts {
            if !put.file.isDuplicate { writtenBytes -= put.charge }
            uncommitted[put.digest] = uncommitted[put.digest].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }

    /// Unlinks files that no row names and that no other group needs.
    private func removeUnused(_ digests: [Digest]) {
        let unused = digests.filter { uncommitted[$0] == nil }
        if unused.isEmpty { return }
        do {
            try index.removeFiles { unused }
        } catch {
            index.marker.keep()
        }
    }

    /// Adds the rows of synced groups to the index, and writes what was deferred. Where the disk has no room for all rows, the last covers are
    /// abandoned until there is some for those of the others.
    ///
    /// If it throws, the groups are abandoned.
    /// - Returns: one outcome for each put, in order.
    package func commit(_ groups: [PutGroup]) throws -> [PutOutcome] {
        var puts = groups.flatMap(\.puts)[...]
        var outcomes: [PutOutcome] = []
        var unstored: [PutOutcome] = []
        var next = max(1, puts.count / 16)
        defer { for group in groups { index.marker.end(releasing: group.length) } }
        while true {
            do {
                outcomes = try commit(puts)
                break
            } catch {
                let error = CacheError(error)
                guard case .diskFull = error, next < puts.count else {
                    abandon(puts)
                    throw error
                }
                abandon(puts.suffix(next))
                puts.removeLast(next)
                unstored += repeatElement(.unstored(error), count: next)
                next *= 2
            }
        }
        deferred.clear()
        end(puts)
        removeUnused(zip(puts, outcomes).filter { $1.leavesFile }.map(\.0.digest))
        // The covers are stored, whether the files can be shortened or not. The next commit tries again.
        if (try? index.checkpoint()) == true { try? index.shrink() }
        return outcomes + unstored
    }

    private func commit(_ puts: ArraySlice<Put>) throws -> [PutOutcome] {
        try index.transaction { changes in
            try deferred.write(to: index, &changes)
            let lost = try placeFiles(of: puts)
            let outcomes = try puts.map { lost.contains($0.digest) ? .lost : try commit($0, &changes) }
            try removeAbsentHints(for: puts.lazy.map(\.line.metadata.key))
            return outcomes
        }
    }

    /// Gives the temporary files of synced puts their names, and looks at the others again. Another process may have evicted one since, and
    /// stored it again: what is there then is not durable yet.
    /// - Returns: the covers whose files are gone, and which have to be downloaded again.
    private func placeFiles(of puts: ArraySlice<Put>) throws -> Set<Digest> {
        var (lost, changed): (Set<Digest>, [String]) = ([], [])
        for put in puts {
            if let temporary = put.file.temporary {
                if try covers.place(temporary, put.digest) {
                    changed.append(covers.path(of: put.digest))
                    continue
                }
            } else if covers.identity(of: put.digest, length: put.line.bytes) == put.file.identity {
                continue
            }
            if let body = put.body {
                try body.withUnsafeBytes { try covers.restore($0, put.digest) }
            } else if (try? covers.read(put.digest, length: put.line.bytes)) == nil {
                lost.insert(put.digest)
                continue
            }
            changed.append(covers.path(of: put.digest))
        }
        if !changed.isEmpty { try covers.sync(changed) }
        return lost
    }

    /// Adds the entry of a synced put.
    private func commit(_ put: Put, _ changes: inout IndexChanges) throws -> PutOutcome {
        let (line, key, digest) = (put.line, put.line.metadata.key, put.digest)
        let (entry, cover) = (try index.table.entry(key), try index.table.cover(digest))
        if let cover {
            try index.table.touch(cover.id, used: changes.state.tick())
            if let entry, entry.cover == cover.id {
                try index.table.validate(entry, line.metadata)
                changes.log(.stored(line))
                return .stored(digest, deduplicated: true)
            }
        }
        if let entry, put.replacing != .always {
            let restored = try changes.offer(
                digest, for: key, entry, time: line.metadata.storedAt, keeps: put.replacing == .keeping, writer: number)
            if let restored { return .withheld(digest, restored: restored) }
        }
        if let entry { try changes.removeEntry(entry, key: key) }
        // The cover may have lost its last entry.
        let row = try index.table.cover(digest) ?? changes.addCover(line, charge: put.charge)
        try changes.addEntry(line, row)
        return .stored(digest, deduplicated: cover != nil)
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

    /// Removes the covers that this writer's puts have replaced, and kept. Those that one picture has replaced, although they were different,
    /// stay for two weeks: it may turn out to be a placeholder.
    /// - Parameter now: milliseconds since 1970.
    package func releaseReplaced(now: Int64) throws {
        if try index.replacements.isEmpty() { return }
        let slice = 2_000
        while try index.transaction({ try $0.releaseReplaced(by: number, now: now, limit: slice) }) {}
    }

    // MARK: Changes without a body

    /// Changes times and fields of entries whose bytes stay.
    /// - Returns: for each renewal, whether there still is an entry that is whole. An entry that was replaced meanwhile keeps what
    ///   replaced it. One that the origin has confirmed, but whose bytes are damaged or cannot be read, stays as it is: a new download
    ///   replaces the bytes for all entries that share them.
    @discardableResult
    package func renew(_ renewals: [Renewal]) throws -> [Bool] {
        // A refresh changes every row. A longer log spares checkpoints that would write each page several times.
        defer { _ = try? index.checkpoint(ifLongerThan: IndexWriter.longLogLength * 6) }
        let confirmed = Set(renewals.lazy.filter(\.isConfirmation).map(\.entry.digest))
        let damaged = try confirmed.filter { try !isIntact($0) }
        let isThere = try index.transaction { changes in
            try deferred.write(to: index, &changes)
            return try renewals.map { renewal in
                if renewal.isConfirmation, damaged.contains(renewal.entry.digest) { return false }
                return try index.table.renew(renewal)
            }
        }
        deferred.clear()
        // Header fields may be longer now.
        try? makeRoom(0)
        return isThere
    }

    /// Whether a cover has a row and its bytes. False also if they cannot be read.
    package func isIntact(_ digest: Digest) throws -> Bool {
        guard let cover = try index.table.cover(digest) else { return false }
        return (try? covers.read(digest, length: cover.length)) ?? nil != nil
    }

    /// Records uses, hits and misses. The next commit or `writeDeferred` writes them.
    ///
    /// A use of the most recently used 64th of all covers is not written: it hardly changes the order, and every read of a cache in
    /// use would otherwise cost a write.
    package func noteUsage(_ usage: CacheUsage) {
        deferred.add(usage, olderThan: index.state.clock - index.state.covers / 64)
    }

    /// Records changes to the hints. The next commit or `writeDeferred` writes them.
    /// - Parameter now: milliseconds since 1970.
    package func add(hints changes: [HintChange], now: Int64) {
        deferred.add(changes, now: now)
    }

    /// Writes what was deferred in a transaction of its own.
    package func writeDeferred() throws {
        guard !deferred.isEmpty else { return }
        try index.transaction { try deferred.write(to: index, &$0) }
        deferred.clear()
        try index.checkpoint()
    }

    /// Removes the `absent` hints of URLs that have just been stored.
    private func removeAbsentHints(for keys: some Sequence<String>) throws {
        guard try index.hints.hasAny(.absent) else { return }
        for key in keys { try index.hints.apply(.remove(.absent, key: key)) }
    }

    func isUncommitted(_ digest: Digest) -> Bool { uncommitted[digest] != nil }
}
