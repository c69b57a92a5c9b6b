import CoverCache
import CurlHTTP
import Platform

/// Puts covers into the cache on a disk thread of its own, and commits them in groups.
///
/// A group is sealed when it is full or has waited long enough, and synced by a thread that only waits for the disk, while
/// the next one gathers. There is one sync at a time. Synced groups are committed together, since a transaction writes whole
/// index pages however few rows change on them.
actor PersistencyManager {
    /// A cover waits at most this long for company before it is synced.
    private static let patience = Duration.milliseconds(20)
    /// A group this large is synced as soon as the disk is free. It grows while the disk is busy: the slower the disk, the
    /// larger the groups.
    private static let worthSyncing = 2 << 20

    /// So many confirmations are one transaction.
    private static let worthConfirming = 4_096

    private nonisolated let thread = ThreadExecutor()
    private let path: String
    private let capacity: Int?
    /// Called on the disk thread after each commit.
    private let settle: @Sendable ([Settlement]) -> Void
    private var opened: CacheWriter?
    private var gathering: [Gathered] = []
    private var gatheringSince: ContinuousClock.Instant?
    private var confirming: [Arrival] = []
    private var confirmingSince: ContinuousClock.Instant?
    private var syncing: Sealed?
    private var synced: [Sealed] = []
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private var flushers: [CheckedContinuation<Void, Never>] = []

    private struct Sealed {
        var id: Int
        var group: CacheWriter.Group
        var covers: [Gathered]
    }

    private struct Gathered {
        var job: JobID
        var key: String
        var bytes: Int
    }

    private var sealedCount = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(cacheDirectory: String, capacity: Int?, settle: @escaping @Sendable ([Settlement]) -> Void) {
        path = cacheDirectory
        self.capacity = capacity
        self.settle = settle
    }

    deinit { thread.shutdown() }

    /// To be called first. - Returns: the reading side, for any thread.
    /// - Throws: `CacheError`.
    func open() throws -> CacheReader {
        let writer = try CacheWriter(directory: path, capacity: capacity)
        opened = writer
        thread.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } }
        return try CacheReader(directory: writer.directory)
    }

    private func writer() throws -> CacheWriter {
        guard let opened else { throw CacheError.index("the library is closed") }
        return opened
    }

    // MARK: Storing

    /// Takes covers; each is settled when its group is committed, or at once when it cannot be kept. Returns when their
    /// bodies are needed no more.
    func store(_ landing: Landing) async {
        if !landing.changes.isEmpty { opened?.record(landing.changes, now: WallClock.milliseconds()) }
        for arrival in landing.arrivals {
            if !arrival.changes.isEmpty { opened?.record(arrival.changes, now: WallClock.milliseconds()) }
            guard case .cover(let metadata, let body) = arrival.content else {
                confirming.append(arrival)
                continue
            }
            do {
                while try !hasRoom(for: body) {
                    if syncing == nil { seal() } else { await withCheckedContinuation { waitingForRoom.append($0) } }
                }
                _ = try writer().put(metadata, body: body.bytes)
                gathering.append(Gathered(job: arrival.job, key: arrival.key, bytes: body.count))
                if gatheringSince == nil { gatheringSince = .now }
                if syncing == nil, try writer().pendingBytes >= Self.worthSyncing { seal() }
            } catch {
                settle([Self.failure(error, arrival.job, arrival.key)])
            }
        }
        if confirming.count >= Self.worthConfirming || landing.isAll { confirm() }
        if !confirming.isEmpty, confirmingSince == nil { confirmingSince = .now }
    }

    private func hasRoom(for body: ResponseBody) throws -> Bool {
        let writer = try writer()
        return gathering.isEmpty || writer.pendingBytes + body.count <= writer.groupLimit
    }

    /// Writes what has been confirmed.
    private func confirm() {
        guard !confirming.isEmpty else { return }
        let arrivals = confirming
        confirming = []
        confirmingSince = nil
        let now = WallClock.milliseconds()
        let renewals = arrivals.compactMap { $0.content.renewal(now) }
        do {
            try writer().renew(renewals)
            settle(arrivals.map { Self.settlement($0, now) })
        } catch {
            settle(
                arrivals.map { arrival in
                    // That nothing is there is true, remembered or not.
                    if case .absent = arrival.content { return Self.settlement(arrival, now) }
                    return Self.failure(error, arrival.job, arrival.key)
                })
        }
        resumeFlushers()
    }

    private static func settlement(_ arrival: Arrival, _ now: Int64) -> Settlement {
        switch arrival.content {
        case .cover: preconditionFailure("covers are settled with their group")
        case .failure(_, let failure), .absent(let failure):
            Settlement(job: arrival.job, key: arrival.key, result: .failure(failure))
        case .notModified(let stored, _):
            Settlement(
                job: arrival.job, key: arrival.key,
                result: .success(
                    .init(
                        digest: stored.entry.digest, bytes: stored.entry.bytes, isDuplicate: false, isConfirmed: true,
                        time: now)))
        }
    }

    private func turn(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if let since = confirmingSince, now >= since + Self.patience || !flushers.isEmpty { confirm() }
        return [confirmingSince.map { $0 + Self.patience }, turnGroups(now)].compactMap(\.self).min()
    }

    private func turnGroups(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard syncing == nil else { return nil }
        guard let since = gatheringSince else {
            // Nothing more is coming at the moment.
            commitSynced()
            return nil
        }
        if flushers.isEmpty, now < since + Self.patience { return since + Self.patience }
        seal()
        return nil
    }

    private func seal() {
        guard let group = opened?.seal() else { return }
        sealedCount += 1
        let sealed = Sealed(id: sealedCount, group: group, covers: gathering)
        gathering = []
        gatheringSince = nil
        syncing = sealed
        WorkThread.start { [sealed] in
            let result = Result { try sealed.group.sync() }
            Task { await self.ended(sealed.id, result) }
        }
    }

    private func ended(_ id: Int, _ result: Result<Void, any Error>) {
        // `commitNow` may have been quicker.
        guard let sealed = syncing, sealed.id == id else { return }
        take(sealed, result)
        if (opened?.pendingBytes ?? 0) >= Self.worthSyncing { seal() }
        resume(&waitingForRoom)
        if synced.reduce(0, { $0 + $1.group.length }) >= opened?.commitLimit ?? 0 { commitSynced() }
    }

    private func take(_ sealed: Sealed, _ result: Result<Void, any Error>) {
        syncing = nil
        switch result {
        case .success: synced.append(sealed)
        case .failure(let error):
            opened?.abandon(sealed.group)
            settle(sealed.covers.map { Self.failure(error, $0.job, $0.key) })
        }
    }

    private func commitSynced() {
        let groups = synced
        synced = []
        let covers = groups.flatMap(\.covers)
        if !groups.isEmpty {
            do {
                let writer = try writer()
                let outcomes = try writer.commit(groups.map(\.group))
                let now = WallClock.milliseconds()
                settle(zip(covers, outcomes).map { Self.settlement($0, $1, now) })
                try writer.makeRoom(writer.headroom)
            } catch {
                settle(covers.map { Self.failure(error, $0.job, $0.key) })
            }
        }
        resumeFlushers()
    }

    private func resumeFlushers() {
        if gathering.isEmpty, syncing == nil, synced.isEmpty, confirming.isEmpty { resume(&flushers) }
    }

    /// For the rare time when everything must be committed before anything else is done.
    private func commitNow() throws {
        if let sealed = syncing { take(sealed, Result { try sealed.group.sync() }) }
        if let group = try writer().seal() {
            let sealed = Sealed(id: 0, group: group, covers: gathering)
            gathering = []
            gatheringSince = nil
            take(sealed, Result { try group.sync() })
        }
        commitSynced()
        confirm()
        resume(&waitingForRoom)
    }

    /// Returns when everything stored so far is committed.
    func flush() async {
        if gathering.isEmpty, syncing == nil, synced.isEmpty, confirming.isEmpty { return }
        await withCheckedContinuation { flushers.append($0) }
    }

    private func resume(_ waiting: inout [CheckedContinuation<Void, Never>]) {
        let resumed = waiting
        waiting = []
        for continuation in resumed { continuation.resume() }
    }

    // MARK: Keeping house

    /// Writes the uses that readers gathered. Nothing depends on it, so a failure is let go.
    func note(_ usage: CacheUsage) {
        guard let opened, !usage.isEmpty else { return }
        opened.record(usage)
        if gathering.isEmpty, syncing == nil, synced.isEmpty { try? opened.writeDeferred() }
    }

    /// Runs `body` on the disk thread with the cache, everything committed.
    func withWriter<Result: Sendable>(_ body: @Sendable (CacheWriter) throws -> Result) throws -> Result {
        try commitNow()
        return try body(writer())
    }

    /// What the index counts, those on their way left out.
    func totals() throws -> Statistics {
        do { return try writer().totals() } catch { throw LibraryError(error) }
    }

    /// Commits what is left and lets go of the directory.
    func close() async {
        await flush()
        try? opened?.close()
        opened = nil
    }

    private static func settlement(_ cover: Gathered, _ outcome: PutOutcome, _ now: Int64) -> Settlement {
        let result: Result<Settlement.Stored, CoverFailure> =
            switch outcome {
            case .stored(let digest, let isDuplicate):
                .success(.init(digest: digest, bytes: cover.bytes, isDuplicate: isDuplicate, time: now))
            case .noRoom:
                .failure(
                    CoverFailure(
                        .tooLarge, url: cover.key, detail: "larger than the cache has room for; raise --capacity"))
            case .lost:
                .failure(CoverFailure(.cache, url: cover.key, detail: "another process evicted the same bytes"))
            }
        return Settlement(job: cover.job, key: cover.key, result: result, isLost: outcome == .lost)
    }

    private static func failure(_ error: any Error, _ job: JobID, _ key: String) -> Settlement {
        let error = CacheError(error)
        let kind: CoverFailure.Kind = if case .largerThanCapacity = error { .tooLarge } else { .cache }
        return Settlement(job: job, key: key, result: .failure(CoverFailure(kind, url: key, detail: "\(error)")))
    }
}
