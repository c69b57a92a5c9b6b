import CoverCache
import CoverFetch
import CurlHTTP
import Platform

/// Stores covers on a thread of its own, and commits them in groups.
///
/// A group is sealed when it is full or has waited long enough. A second thread syncs it while the next group gathers; there is
/// one sync at a time. Synced groups are committed in one transaction, which writes whole index pages however few rows change.
/// The commit publishes the events and completes the requests.
actor PersistencyManager: DownloadStore {
    /// Longest time that a cover waits for others before it is synced or committed.
    private static let groupDelay = Duration.milliseconds(20)
    /// A group of this size, in bytes, is synced as soon as the disk is free. Groups grow while the disk is busy.
    private static let minimumGroup = 2 << 20
    /// Results without a body that are committed in one transaction.
    private static let maximumRenewals = 4_096

    private nonisolated let thread = ThreadExecutor()
    private let syncer = Syncer()
    private let path: String
    private let capacity: Int?
    private let hub: EventHub
    private weak var scheduler: DownloadScheduler?
    private var openWriter: CacheWriter?
    /// Nil before `openLeases`.
    private var leases: LeaseTable?
    /// Covers of the group that gathers.
    private var gathering: [Download] = []
    private var gatheringSince: ContinuousClock.Instant?
    /// Results without a body.
    private var renewing: [Download] = []
    private var renewingSince: ContinuousClock.Instant?
    private var syncing: SealedGroup?
    private var synced: [SealedGroup] = []
    private var sealedCount = 0
    /// Runs in progress.
    private var runs = 0
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private var flushers: [CheckedContinuation<Void, Never>] = []

    private struct SealedGroup {
        var id: Int
        var group: CacheWriter.Group
        var covers: [Download]
    }

    /// Waits for the disk on a thread of its own.
    private actor Syncer {
        private nonisolated let thread = ThreadExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
        deinit { thread.shutdown() }
        func sync(_ group: CacheWriter.Group) -> Result<Void, any Error> { Result { try group.sync() } }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(cacheDirectory: String, capacity: Int?, hub: EventHub) {
        path = cacheDirectory
        self.capacity = capacity
        self.hub = hub
    }

    deinit { thread.shutdown() }

    /// Opens the cache. Call it once, before anything else.
    /// - Parameter willRebuild: called before a lost index is rebuilt.
    /// - Returns: the reading side, for any thread.
    /// - Throws: `CacheError`.
    func open(willRebuild: @Sendable (_ isCapacityKnown: Bool) -> Void = { _ in }) throws -> CacheReader {
        let writer = try CacheWriter.open(path, capacity: capacity, willRebuild: willRebuild)
        openWriter = writer
        thread.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } }
        return try CacheReader(directory: writer.directory)
    }

    /// Covers that were evicted when the cache was opened, and its capacity in bytes.
    func openingEviction() throws -> (covers: Int, capacity: Int) {
        (try writer().evictedAtOpening, try writer().capacity)
    }

    /// Opens the leases that the cache's processes share. The cache works without them.
    /// - Throws: `CacheError`, `SystemError`.
    func openLeases() throws -> LeaseTable {
        let table = try LeaseTable(writer().directory)
        leases = table
        return table
    }

    /// The scheduler to notify when jobs have ended.
    func connect(_ scheduler: DownloadScheduler) { self.scheduler = scheduler }

    private func writer() throws -> CacheWriter {
        guard let openWriter else { throw CacheError.closed }
        return openWriter
    }

    // MARK: - Runs

    /// Until `endRun`, covers that are stored or used are not evicted to make room: the run's own.
    func beginRun() throws {
        if runs == 0 { try withWriter { $0.spareFromNow() } }
        runs += 1
    }

    func endRun() {
        runs -= 1
        if runs == 0 { openWriter?.spareNothing() }
    }

    // MARK: - Storing

    func store(_ batch: WriteBatch) async {
        let now = HostMemory.Moment.now
        openWriter?.record(
            batch.hosts.compactMap { HintChange(host: $0.key, $0.value, now) }
                + batch.downloads.flatMap(\.memoryChanges),
            now: now.milliseconds)
        for download in batch.downloads { await store(download) }
        // Nothing is in flight: the group need not wait for others.
        if batch.isLast, gatheringSince != nil { gatheringSince = .now - Self.groupDelay }
        if renewing.count >= Self.maximumRenewals || batch.isLast { commitRenewals() }
    }

    private func store(_ download: Download) async {
        var download = download
        download.timings.storeQueue = download.timings.endStage(at: .now)
        switch download.content {
        case .unstorable(let header, let body):
            var result = FetchResult(.failure(.notStorable(download.key)))
            result.unstored = (header, body)
            complete([(download, result)])
        case .failure(let failure, stored: nil) where download.hints.absence == nil:
            complete([(download, FetchResult(.failure(failure)))])
        case .failure, .notModified:
            renewing.append(download)
            if renewingSince == nil { renewingSince = .now }
        case .cover(let header, let response, let body):
            do {
                while try !hasRoom(for: body.count) {
                    if syncing == nil { seal() } else { await withCheckedContinuation { waitingForRoom.append($0) } }
                }
                var metadata = EntryMetadata(download.url, header, response)
                try body.withUnsafeBytes { bytes in
                    metadata.markIfIncomplete(bytes)
                    let digest = Digest(of: bytes)
                    download.timings.hash = download.timings.endStage(at: .now)
                    _ = try writer().put(metadata, body: bytes, digest: digest)
                }
                download.timings.append = download.timings.endStage(at: .now)
                gathering.append(download)
                if gatheringSince == nil { gatheringSince = .now }
                if syncing == nil, try writer().pendingBytes >= Self.minimumGroup { seal() }
            } catch {
                complete([(download, Self.failure(error, download.key))])
            }
        }
    }

    private func hasRoom(for bytes: Int) throws -> Bool {
        let writer = try writer()
        return gathering.isEmpty || writer.pendingBytes + bytes <= writer.groupLimit
    }

    // MARK: - Results without a body

    private func commitRenewals() {
        guard !renewing.isEmpty else { return }
        let downloads = renewing
        renewing = []
        renewingSince = nil
        let now = WallClock.milliseconds()
        do {
            let renewals = downloads.map { $0.renewal(at: now) }
            var isThere = try writer().renew(renewals.compactMap(\.self)).makeIterator()
            var results: [(Download, FetchResult)] = []
            var lost: [StoreResult] = []
            for (download, renewal) in zip(downloads, renewals) {
                if renewal != nil, isThere.next() == false, case .notModified = download.content {
                    lost.append(.lost(download.job))
                } else {
                    results.append((download, download.renewed(at: now)))
                }
            }
            complete(results, lost)
        } catch {
            complete(downloads.map { ($0, $0.failed(error)) })
        }
        resumeFlushers()
    }

    // MARK: - Groups

    private func turn(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if let since = renewingSince, now >= since + Self.groupDelay || !flushers.isEmpty { commitRenewals() }
        return [renewingSince.map { $0 + Self.groupDelay }, turnGroups(now)].compactMap(\.self).min()
    }

    private func turnGroups(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard syncing == nil else { return nil }
        guard let since = gatheringSince else {
            // No other group is coming.
            commitSynced()
            return nil
        }
        if flushers.isEmpty, now < since + Self.groupDelay { return since + Self.groupDelay }
        seal()
        return nil
    }

    private func seal() {
        guard let sealed = takeGroup() else { return }
        syncing = sealed
        Task { didSync(sealed.id, await syncer.sync(sealed.group)) }
    }

    private func takeGroup() -> SealedGroup? {
        guard let group = openWriter?.seal() else { return nil }
        sealedCount += 1
        defer {
            gathering = []
            gatheringSince = nil
        }
        return SealedGroup(id: sealedCount, group: group, covers: gathering)
    }

    private func didSync(_ id: Int, _ result: Result<Void, any Error>) {
        // `commitNow` may have synced the group itself.
        guard let sealed = syncing, sealed.id == id else { return }
        take(sealed, result)
        if (openWriter?.pendingBytes ?? 0) >= Self.minimumGroup { seal() }
        resume(&waitingForRoom)
        if synced.reduce(0, { $0 + $1.group.length }) >= openWriter?.commitLimit ?? 0 { commitSynced() }
    }

    private func take(_ sealed: SealedGroup, _ result: Result<Void, any Error>) {
        var sealed = sealed
        let now = ContinuousClock.now
        for index in sealed.covers.indices {
            sealed.covers[index].timings.sync = sealed.covers[index].timings.endStage(at: now)
        }
        syncing = nil
        switch result {
        case .success: synced.append(sealed)
        case .failure(let error):
            openWriter?.abandon(sealed.group)
            complete(sealed.covers.map { ($0, Self.failure(error, $0.key)) })
        }
    }

    private func commitSynced() {
        let groups = synced
        synced = []
        if !groups.isEmpty {
            let covers = groups.flatMap(\.covers)
            do {
                let writer = try writer()
                let outcomes = try writer.commit(groups.map(\.group))
                leases?.didCommit()
                complete(covers, outcomes)
                // The covers are stored, whether others can be evicted or not. The next commit tries again.
                try? writer.makeRoom(writer.headroom)
            } catch {
                complete(covers.map { ($0, Self.failure(error, $0.key)) })
            }
        }
        resumeFlushers()
    }

    /// Commits everything before it returns.
    private func commitNow() throws {
        if let sealed = syncing { take(sealed, Result { try sealed.group.sync() }) }
        _ = try writer()
        if let sealed = takeGroup() { take(sealed, Result { try sealed.group.sync() }) }
        commitSynced()
        commitRenewals()
        resume(&waitingForRoom)
    }

    // MARK: - Completion

    private func complete(_ covers: [Download], _ outcomes: [PutOutcome]) {
        let now = WallClock.milliseconds()
        var lost: [StoreResult] = []
        var results: [(Download, FetchResult)] = []
        for (download, outcome) in zip(covers, outcomes) {
            switch outcome {
            case .stored(let digest, let isDuplicate):
                let cover = StoredCover(
                    url: download.key, digest: digest.description, byteCount: download.byteCount,
                    isDuplicate: isDuplicate, date: Date(milliseconds: now))
                results.append((download, FetchResult(.success(cover))))
            case .noRoom:
                let error = (try? openWriter?.noRoom(for: download.byteCount)) ?? .closed
                results.append((download, Self.failure(error, download.key)))
            case .lost: lost.append(.lost(download.job))
            }
        }
        complete(results, lost)
    }

    /// Publishes the events, and has the scheduler complete the requests.
    private func complete(_ results: [(Download, FetchResult)], _ lost: [StoreResult] = []) {
        var ended = lost
        ended.reserveCapacity(lost.count + results.count)
        let isObserved = hub.isObserved
        let (now, end) = (ContinuousClock.now, WallClock.microseconds())
        for (download, result) in results {
            var result = result
            result.microseconds = download.microseconds
            var timings = download.timings
            timings.commit = timings.endStage(at: now)
            timings.end = end
            result.timings = timings
            if isObserved, let event = LibraryEvent(result) { hub.publish(event) }
            ended.append(.finished(download.job, result))
        }
        if ended.isEmpty { return }
        Task { await tellScheduler(ended) }
    }

    /// A method of this actor, so that the task that calls it starts on the disk thread: one that captured only the scheduler would
    /// start on the cooperative pool, which the program may have filled.
    private func tellScheduler(_ ended: [StoreResult]) async { await scheduler?.didStore(ended) }

    private static func failure(_ error: any Error, _ key: String) -> FetchResult {
        FetchResult(.failure(CoverFailure(cache: error, url: key)))
    }

    // MARK: - Flushing and maintenance

    private var isIdle: Bool { gathering.isEmpty && syncing == nil && synced.isEmpty && renewing.isEmpty }

    /// Returns when everything stored so far is committed.
    func flush() async {
        if isIdle { return }
        await withCheckedContinuation { flushers.append($0) }
    }

    private func resumeFlushers() { if isIdle { resume(&flushers) } }

    private func resume(_ waiting: inout [CheckedContinuation<Void, Never>]) {
        let resumed = waiting
        waiting = []
        for continuation in resumed { continuation.resume() }
    }

    /// Records the uses that readers gathered. Recency is a hint, so a failure is ignored.
    func note(_ usage: CacheUsage) {
        guard let openWriter, !usage.isEmpty else { return }
        openWriter.record(usage)
        if gathering.isEmpty, syncing == nil, synced.isEmpty { try? openWriter.writeDeferred() }
    }

    /// Runs `body` on the disk thread with everything committed.
    func withWriter<Result: Sendable>(_ body: @Sendable (CacheWriter) throws -> Result) throws -> Result {
        try commitNow()
        defer { leases?.didCommit() }
        return try body(writer())
    }

    /// Verifies the cache and mends it. A corrupt index is set aside and rebuilt; readers that were opened before may still read it.
    func repair(progress: @Sendable (_ checked: Int, _ all: Int) -> Void) throws -> RepairReport {
        do {
            return try withWriter { try $0.repair(progress: progress) }
        } catch {
            guard case .corruptIndex(let corruption) = CacheError(error), let corrupt = openWriter else { throw error }
            let writer = try CacheWriter.open(path, capacity: corrupt.capacity, settingAsideIndex: corrupt.indexNumber)
            openWriter = writer
            let statistics = try writer.statistics()
            var report = RepairReport(rebuiltEntries: statistics.entries)
            report.found = VerifyReport(
                entries: statistics.entries, blobs: statistics.blobs, bytes: statistics.bytes)
            report.found.add(corruption: corruption, at: writer.directory.index)
            return report
        }
    }

    /// The index's counts, without what is not committed yet.
    func totals() throws -> Statistics { try writer().totals() }

    /// Commits what is left and closes the cache.
    func close() async {
        await flush()
        try? openWriter?.close()
        openWriter = nil
    }
}
