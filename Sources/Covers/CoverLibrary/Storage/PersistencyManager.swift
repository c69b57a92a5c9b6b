import CoverCache
import CoverFetch
import CurlHTTP
import ImageHeader
import Platform
import Synchronization

/// Stores covers on a thread of its own, commits them in groups, and publishes their outcomes.
///
/// `WriteSchedule` decides when a group is sealed, synced and committed. A second thread syncs it while the next group gathers.
/// `Publisher` makes outcomes known.
actor PersistencyManager: DownloadStore {
    private nonisolated let thread = ThreadExecutor()
    private let syncer = Syncer()
    private let path: String
    private let capacity: Int?
    private var publisher: Publisher
    private weak var scheduler: DownloadScheduler?
    /// Downloads suspects again that are not pending, whose former outcomes it gets.
    private var recheck: CheckAgain?
    private let notice: @Sendable (CacheNotice) -> Void
    private(set) var directory: CacheDirectory?
    /// Nil before the first write: what only reads needs no lock.
    private var openWriter: CacheWriter?
    private var openReader: CacheReader?
    private var isClosed = false
    private var schedule = WriteSchedule<CoverOutcome, Download, PutGroup>()
    /// Runs in progress, and those of them that are prefetches.
    private var (runs, prefetches) = (0, 0)
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private var flushers: [CheckedContinuation<Void, Never>] = []
    /// Sizes that were made and are not written yet.
    nonisolated let madeSizes = Mutex<[SmallCover]>([])

    typealias CheckAgain = @Sendable ([(cover: RequestedCover, former: CoverOutcome)], SuspectCovers) async -> Void

    /// Waits for the disk on a thread of its own.
    private actor Syncer {
        private nonisolated let thread = ThreadExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
        deinit { thread.shutdown() }
        func sync(_ group: PutGroup) -> Result<Void, any Error> { Result { try group.sync() } }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameter notice: called on the disk thread, or on one that reads.
    init(
        cacheDirectory: String, capacity: Int?, hub: EventHub,
        notice: @escaping @Sendable (CacheNotice) -> Void = { _ in }
    ) {
        path = cacheDirectory
        self.capacity = capacity
        publisher = Publisher(hub)
        self.notice = { event in
            guard case .removed(let digests) = event else { return notice(event) }
            for digest in digests { hub.publish(.removed(digest: digest.description)) }
        }
    }

    deinit { thread.shutdown() }

    /// Opens the cache. Call it once, before anything else. A cache that is complete is opened for reading alone, which waits for no process.
    /// - Returns: the reading side, for any thread.
    /// - Throws: `CacheError`.
    func open() throws -> CacheReader {
        let directory = try CacheDirectory(creating: path)
        self.directory = directory
        thread.onTurn { [weak self] now in self?.assumeIsolated { $0.advance(now) } }
        func reader() throws -> CacheReader {
            try CacheReader(directory: directory) { [notice] in notice(.replaced) }
        }
        // A writer removes what killed processes have left.
        if !directory.hasMarkers || directory.isBusy, let reader = try? reader(),
            let stored = try? reader.check(), stored == capacity ?? stored
        {
            openReader = reader
            return reader
        }
        _ = try writer()
        let reader = try reader()
        openReader = reader
        return reader
    }

    /// - Parameter scheduler: whose downloads this stores.
    func connect(_ scheduler: DownloadScheduler, recheck: @escaping CheckAgain) {
        publisher.connect(scheduler.pending)
        (self.scheduler, self.recheck) = (scheduler, recheck)
    }

    func writer() throws -> CacheWriter {
        if isClosed { throw CacheError.closed }
        if let openWriter { return openWriter }
        let writer = try CacheWriter.open(path, capacity: capacity, notice: notice)
        openWriter = writer
        return writer
    }

    // MARK: - Runs

    /// Until `endRun`, covers that are replaced can be put back, and those that a prefetch stores or uses are not evicted to make room.
    func beginRun(isPrefetch: Bool) throws {
        if isPrefetch {
            if prefetches == 0 { try withWriter { $0.spareFromNow() } }
            prefetches += 1
        }
        runs += 1
    }

    func endRun(isPrefetch: Bool) {
        runs -= 1
        if isPrefetch {
            prefetches -= 1
            if prefetches == 0 { openWriter?.spareNothing() }
        }
        // What fails is done at the end of another run.
        if runs == 0 { try? openWriter?.releaseReplaced(now: WallClock.milliseconds()) }
    }

    // MARK: - Storing

    func store(_ batch: WriteBatch) async {
        try? writer().add(hints: batch.downloads.compactMap(\.hintChange), now: WallClock.milliseconds())
        for download in batch.downloads { await store(download) }
        if batch.isLast { schedule.expectNoMore() }
    }

    /// Of a cover that was put, only its outcome is kept.
    private func store(_ download: Download) async {
        var download = download
        let now = ContinuousClock.now
        download.timings.end(\.storeQueue, at: now)
        switch download.content {
        case .notStorable(let body):
            var outcome = CoverOutcome(.failed, of: download)
            outcome.fail(.notStorable(download.key))
            outcome.bodyIfNotStored = body
            publish([outcome])
        case .failure(let failure, stored: nil) where download.absence == nil:
            publish([CoverOutcome(failure, of: download)])
        case .failure, .notModified: schedule.add(renewal: download, now: now)
        case .cover(_, _, let body, replacing: let version?) where isCutOff(body, unlike: version):
            download.content = .failure(.cutOff(download.key), stored: version)
            schedule.add(renewal: download, now: now)
        case .cover(let header, let response, let body, replacing: let version):
            do {
                while try !schedule.hasRoom || writer().isGroupFull(before: body.count) {
                    if schedule.syncing != nil || !seal() { await waitForRoom() }
                }
                let metadata = EntryMetadata(
                    download.url, header, response, from: download.target, fieldNames: download.fieldNames)
                // Without a version, the cover was missing, or is to be loaded whatever is cached.
                let replacing: Replacing = version == nil ? .always : runs > 0 ? .keeping : .unlessPlaceholder
                try put(body, metadata, replacing, CoverOutcome(.downloaded, of: download))
                _ = advance(.now)
            } catch {
                var outcome = CoverOutcome(CoverFailure(cache: error, url: download.key), of: download)
                if outcome.failure?.kind == .notStorable { outcome.bodyIfNotStored = body }
                publish([outcome])
            }
        }
    }

    /// Puts a cover and schedules it. Both belong together: the results of a commit are in the order of the puts, and its covers in that of the
    /// schedule. As the method is not asynchronous, no other cover comes in between.
    private func put(
        _ body: [UInt8], _ metadata: EntryMetadata, _ replacing: Replacing, _ outcome: CoverOutcome
    ) throws {
        var outcome = outcome
        let groupBytes = try body.withUnsafeBytes { bytes -> Int in
            let digest = Digest(of: bytes)
            outcome.timings?.end(\.hash, at: .now)
            func put() throws -> Int {
                let writer = try writer()
                _ = try writer.put(metadata, body: bytes, digest: digest, replacing: replacing)
                return writer.pendingBytes
            }
            // Covers on their way to the index can be evicted only from there.
            do { return try put() } catch CacheError.noRoom where schedule.hasCovers {
                try commitNow()
                return try put()
            }
        }
        let now = ContinuousClock.now
        outcome.timings?.end(\.append, at: now)
        outcome.bytes = body.count
        schedule.add(outcome, groupBytes: groupBytes, now: now)
    }

    // MARK: - Suspects

    /// Removes the entries of suspects whose bytes came over the connection. Entries that it confirmed, and covers that failed, are asked for
    /// again as well.
    func distrust(_ suspects: SuspectCovers) async {
        var covers: [(cover: RequestedCover, former: CoverOutcome)] = []
        var removed: [String] = []
        do {
            try commitNow()
            for suspect in suspects.suspects {
                let key = suspect.cover.url.string
                let entry = try openReader?.entry(for: key)
                let isStored = suspect.outcome?.kind == .downloaded
                if let entry, isStored || entry.metadata.storedAt >= suspects.openedAt {
                    removed.append(key)
                    var former = CoverOutcome(.downloaded, url: key)
                    (former.contentDigest, former.bytes) = (entry.digest, entry.bytes)
                    covers.append((suspect.cover, suspect.outcome ?? former))
                } else if let outcome = suspect.outcome {
                    covers.append((suspect.cover, outcome))
                }
            }
            try writer().withdraw(removed)
        } catch {
            notice(.unfinished(CacheError(error)))
        }
        await recheck?(covers, suspects)
    }

    /// Whether a picture is cut off, and the version that it would replace is not: a server's disk was full, or it has lost a part.
    private func isCutOff(_ body: [UInt8], unlike version: StoredVersion) -> Bool {
        func isComplete(_ body: [UInt8]) -> Bool { body.withUnsafeBytes { ImageHeader.isComplete($0) } }
        guard !isComplete(body),
            case .hit(_, let stored)? = try? openReader?.cover(digest: version.digest, counting: false)
        else { return false }
        return isComplete(stored)
    }

    private func waitForRoom() async { await withCheckedContinuation { waitingForRoom.append($0) } }

    // MARK: - Committing

    /// Does what is due. - Returns: when to call it next, if nothing else happens.
    private func advance(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        while true {
            switch schedule.next(now, commitLimit: openWriter?.commitLimit ?? 0) {
            case .renew: commitRenewals()
            case .seal: if !seal() { publish(schedule.takeGathering().map { $0.failing(CacheError.closed) }) }
            case .commit: commitSynced()
            case .wait(let time):
                if schedule.isEmpty, schedule.isFlushing {
                    schedule.isFlushing = false
                    resume(&flushers)
                }
                return time
            }
        }
    }

    /// Returns false if the cache is closed.
    private func seal() -> Bool {
        guard let sealed = sealGroup() else { return false }
        Task { didSync(sealed.id, await syncer.sync(sealed.group)) }
        return true
    }

    private func sealGroup() -> WriteSchedule<CoverOutcome, Download, PutGroup>.Sealed? {
        guard let group = openWriter?.seal() else { return nil }
        schedule.didSeal(group, now: .now)
        return schedule.syncing
    }

    private func didSync(_ id: Int, _ result: Result<Void, any Error>) {
        let now = ContinuousClock.now
        do {
            try result.get()
            _ = schedule.didSync(id, isSafe: true, now: now) { $0.timings?.end(\.sync, at: now) }
        } catch {
            if let failed = schedule.didSync(id, isSafe: false, now: now) {
                openWriter?.abandon(failed.group)
                publish(failed.covers.map { $0.failing(error) })
            }
        }
        resume(&waitingForRoom)
    }

    private func commitSynced() {
        let groups = schedule.takeSynced()
        if groups.isEmpty { return }
        var covers = groups.flatMap(\.covers)
        do {
            let writer = try writer()
            let results = try writer.commit(groups.map(\.group))
            precondition(results.count == covers.count, "a group has a cover that nobody waits for")
            var lost: [String] = []
            var restored: [EntryLine] = []
            for (index, result) in zip(covers.indices, results) {
                switch result {
                case .stored(let digest, let isDuplicate):
                    covers[index].contentDigest = digest
                    covers[index].isDuplicate = isDuplicate
                case .withheld(let digest, let entries):
                    restored += entries
                    // What this commit has stored, and is not published yet, fails as well.
                    let published = entries.count { entry in
                        let key = entry.metadata.key
                        let stored = covers[..<index].lastIndex { $0.url == key && $0.contentDigest == digest }
                        if let stored { covers[stored].fail(.placeholder(key, digest, restored: 0)) }
                        return stored == nil
                    }
                    covers[index].fail(.placeholder(covers[index].url, digest, restored: published))
                case .lost: lost.append(covers[index].url)
                case .unstored(let error): covers[index] = covers[index].failing(error)
                }
            }
            if !lost.isEmpty {
                let isLost = Set(lost)
                covers.removeAll { isLost.contains($0.url) }
            }
            let unconfirmed = covers.filter { $0.failure?.kind == .placeholder }.map(\.url)
            try? notePlaceholders(of: unconfirmed + restored.map(\.metadata.key), writer)
            publish(covers, lost: lost)
            for entry in restored {
                publisher.publish(stored: CoverOutcome(stored: entry.metadata.key, entry.digest, entry.bytes, true))
            }
            // The covers are stored, whether others can be evicted or not. The next commit tries again.
            try? writer.makeRoom(writer.headroom)
        } catch {
            publish(covers.map { $0.failing(error) })
        }
    }

    /// Records that the servers of entries give a placeholder instead: the next refresh knows, and asks them last.
    private func notePlaceholders(of keys: [String], _ writer: CacheWriter) throws {
        if keys.isEmpty { return }
        let now = WallClock.milliseconds()
        let entries = try Set(keys).compactMap { try openReader?.entry(for: $0) }
        let failure = CoverFailure(.placeholder, url: "", detail: "")
        try writer.renew(entries.map { $0.failing(try? $0.metadata.url(), failure, at: now) })
    }

    /// Records final answers of a refresh about entries: the next one knows. One that is stored again since is left alone.
    /// - Parameter answers: each with the version that it is about.
    func note(_ answers: [(failure: CoverFailure, key: String, version: StoredVersion)]) throws {
        if answers.isEmpty { return }
        let now = WallClock.milliseconds()
        let renewals = try answers.compactMap { answer in
            try openReader?.entry(for: answer.key).flatMap { entry in
                answer.version.isVersion(of: entry) ? entry.answered(answer.failure, at: now) : nil
            }
        }
        _ = try writer().renew(renewals)
    }

    /// Commits results without a body.
    private func commitRenewals() {
        let downloads = schedule.takeRenewals()
        if downloads.isEmpty { return }
        let now = WallClock.milliseconds()
        do {
            let writer = try writer()
            let entries = try downloads.map { download in
                try download.storedVersion == nil ? nil : openReader?.entry(for: download.key)
            }
            let renewals = zip(downloads, entries).map { $0.renewal(of: $1, at: now) }
            var isThere = try writer.renew(renewals.compactMap(\.self)).makeIterator()
            var (outcomes, lost): ([CoverOutcome], [String]) = ([], [])
            for (index, download) in downloads.enumerated() {
                let isWhole = renewals[index] == nil || isThere.next() == true
                if case .failure(let failure, _) = download.content {
                    outcomes.append(CoverOutcome(failure, of: download))
                } else if isWhole, let entry = entries[index] {
                    var outcome = CoverOutcome(.revalidated, of: download)
                    (outcome.contentDigest, outcome.bytes) = (entry.digest, entry.bytes)
                    outcomes.append(outcome)
                } else {
                    lost.append(download.key)
                }
            }
            publish(outcomes, lost: lost)
        } catch {
            // A 404 is true whether it is remembered or not.
            publish(
                downloads.map { download in
                    if case .failure(let failure, stored: nil) = download.content {
                        return CoverOutcome(failure, of: download)
                    }
                    return CoverOutcome(CoverFailure(cache: error, url: download.key), of: download)
                })
        }
    }

    /// Commits everything before it returns.
    private func commitNow() throws {
        if let sealed = schedule.syncing { didSync(sealed.id, Result { try sealed.group.sync() }) }
        _ = try writer()
        if let sealed = sealGroup() { didSync(sealed.id, Result { try sealed.group.sync() }) }
        commitSynced()
        commitRenewals()
    }

    // MARK: - Outcomes

    /// Has `publisher` make outcomes known, but for those whose bytes may be another's: what the last commit has stored of them is gone again before
    /// it is known, and they are downloaded again.
    /// - Parameter lost: keys of covers that have to be downloaded again.
    private func publish(_ outcomes: [CoverOutcome], lost: [String] = []) {
        let suspects = publisher.suspects(among: outcomes)
        var outcomes = outcomes
        if !suspects.isEmpty {
            try? openWriter?.withdraw(
                outcomes.filter { suspects.contains($0.url) && $0.kind == .downloaded }.map(\.url))
            outcomes.removeAll { suspects.contains($0.url) }
        }
        let unanswered = publisher.publish(outcomes), keys = lost + suspects
        if !keys.isEmpty || !unanswered.isEmpty { Task { await resubmit(keys, unanswered) } }
    }

    /// A method of this actor, so that the task that calls it starts on the disk thread: one that captured only the scheduler would
    /// start on the cooperative pool, which the program may have filled.
    private func resubmit(_ keys: [String], _ asks: [Ask]) async { await scheduler?.resubmit(keys, asks) }

    // MARK: - Flushing and maintenance

    /// Returns when everything stored so far is committed.
    func flush() async {
        if schedule.isEmpty { return }
        schedule.isFlushing = true
        await withCheckedContinuation { flushers.append($0) }
    }

    private func resume(_ waiting: inout [CheckedContinuation<Void, Never>]) {
        let resumed = waiting
        waiting = []
        for continuation in resumed { continuation.resume() }
    }

    /// Takes the uses that readers gathered. Recency is a hint: it waits for no other process, and a failure is ignored.
    func noteUsage(_ usage: CacheUsage) {
        guard !usage.isEmpty, !isClosed else { return }
        let isBusy = directory?.isBusy != false
        guard let writer = isBusy ? openWriter : try? writer() else { return }
        writer.noteUsage(usage)
        if !isBusy, !schedule.hasCovers { try? writer.writeDeferred() }
    }

    /// Commits everything that was given to this actor.
    func settle() throws { if openWriter != nil { try commitNow() } }

    /// Runs `body` on the disk thread with everything committed.
    func withWriter<Result: Sendable>(_ body: @Sendable (CacheWriter) throws -> Result) throws -> Result {
        try commitNow()
        let writer = try writer()
        try writer.reopenIfReplaced()
        return try body(writer)
    }

    /// Commits what is left and closes the cache.
    func close() async {
        await flush()
        // Downloads that have come since.
        try? settle()
        keepSizes()
        try? openWriter?.close()
        openWriter = nil
        isClosed = true
    }
}
