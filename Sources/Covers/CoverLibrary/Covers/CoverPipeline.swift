import AlbumLibrary
import CoverCache
import CoverFetch
import CoverSizes
import CurlHTTP
import Dispatch
import HTTPCaching
import ImageHeader
import Logging
import Platform
import Synchronization

/// The path of covers behind `LibraryAPI`: look up, download, store.
package final class CoverPipeline: Sendable {
    /// How long a transfer in flight may take on when the service that waits for it shuts down: below the 30 s after which others kill it.
    private static let shutdownPatience = Duration.seconds(20)

    /// A process that is killed loses the uses of this time.
    private static let usageInterval = Duration.seconds(3)

    private struct State {
        var scheduler: DownloadScheduler?
        var isClosed = false
        /// Cancels each run in progress.
        var runs: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    package let configuration: LibraryConfiguration
    let archive: CoverArtArchive
    let hub: EventHub
    let persistency: PersistencyManager
    let reader: CacheReader
    private let state = Mutex(State())
    /// A task is about to record uses.
    private let isUsageAwaited = Atomic(false)
    /// Nil without a library file.
    let pictures: OwnPictures?
    let sizes = SizeWorkers<SizeKey, MadeSize>()
    let recheck = Recheck()
    /// Reads block, so they run neither on the cooperative pool nor in line.
    private let readers = DispatchQueue(label: "sleeve.read", attributes: .concurrent)

    /// - Throws: `LibraryError`.
    init(_ configuration: LibraryConfiguration, hub: EventHub) async throws(LibraryError) {
        self.configuration = configuration
        self.hub = hub
        archive = CoverArtArchive(base: configuration.coverArtArchive.absoluteString, size: configuration.coverSize)
        try archive.validate()
        pictures = configuration.libraryFile.map { OwnPictures(library: $0.relativePath) }
        persistency = PersistencyManager(
            cacheDirectory: configuration.cacheDirectory.relativePath, capacity: configuration.capacity, hub: hub
        ) { [logger = configuration.logger] in logger.warning("\($0)") }
        do { reader = try await persistency.open() } catch { throw LibraryError(error) }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Commits what has arrived, and ends the transfers. Calls in progress and later ones throw.
    func close() async {
        let (scheduler, runs) = state.withLock { state in
            state.isClosed = true
            return (state.scheduler, Array(state.runs.values))
        }
        for cancel in runs { cancel() }
        if let scheduler {
            await keep(scheduler.pauses)
            await scheduler.close()
            warnOfSuspects()
        }
        await flushUsage()
        await persistency.close()
    }

    // MARK: - Reading

    /// Reads the cache on a thread that may block.
    /// - Throws: `CacheError.closed` if the library is closed, or the error of `body`.
    func read<Result: Sendable>(_ body: @escaping @Sendable (CacheReader) throws -> Result) async throws -> Result {
        if isClosed { throw CacheError.closed }
        return try await reader.read(on: readers, body)
    }

    /// The same for long.
    /// - Parameter body: returns early once its second argument returns true: the task is cancelled, or the library closed.
    func readForLong<Result: Sendable>(
        _ body: @escaping @Sendable (CacheReader, _ isOver: @escaping @Sendable () -> Bool) throws -> Result
    ) async throws -> Result {
        let isCancelled = Mutex(false)
        return try await withTaskCancellationHandler {
            try await read { reader in
                try body(reader) { isCancelled.withLock(\.self) || self.isClosed }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    /// Reads a cover on a thread that may block. Damaged bytes are a miss, and their entry is dropped.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    func cachedCover(_ url: HTTPURL, location: String) async throws(CoverFailure) -> Cover? {
        let found = try await cachedEntry(url, location: location)
        hub.instruments.didLookUp(hits: found == nil ? 0 : 1, misses: found == nil ? 1 : 0)
        return found.map { Cover($0, $1, isStale: Staleness($0, at: WallClock.milliseconds()) != .fresh) }
    }

    /// The same on the caller's thread. Damaged bytes are a miss, and their entry is dropped.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    func cachedCover(_ url: HTTPURL, location: String) throws(CoverFailure) -> Cover? {
        if isClosed { throw .closed(location) }
        passUsageOn(ofAtLeast: 1_024)
        do {
            switch try reader.cover(for: url.string) {
            case .hit(let entry, let body):
                hub.instruments.didLookUp(hits: 1)
                return Cover(entry, body, isStale: Staleness(entry, at: WallClock.milliseconds()) != .fresh)
            case .miss:
                hub.instruments.didLookUp(misses: 1)
                return nil
            case .damaged:
                hub.instruments.didLookUp(misses: 1)
                Task { await drop(url.string) }
                return nil
            }
        } catch {
            throw CoverFailure(cache: error, url: location)
        }
    }

    /// The file of the entry that `find` finds. Counts as a use. Damaged bytes are a miss, and their entry is dropped.
    func cachedFile(
        _ location: String, _ find: @escaping @Sendable (CacheReader) throws -> CachedEntry?
    ) async throws(CoverFailure) -> CachedFile? {
        do {
            let found = try await read { reader in
                try find(reader).map { entry in (entry, try CachedFile(entry, reader.path(of: entry.digest))) }
            }
            passUsageOn(ofAtLeast: 1_024)
            guard let (entry, file) = found else { return nil }
            if file == nil { await drop(entry.metadata.key) }
            return file
        } catch {
            throw CoverFailure(cache: error, url: location)
        }
    }

    /// An entry and its verified body, read on a thread that may block. Damaged bytes are a miss, and their entry is dropped.
    private func cachedEntry(
        _ url: HTTPURL, location: String
    ) async throws(CoverFailure) -> (entry: CachedEntry, body: [UInt8])? {
        let key = url.string
        do {
            let found = try await read { try $0.cover(for: key) }
            passUsageOn(ofAtLeast: 1_024)
            switch found {
            case .hit(let entry, let body): return (entry, body)
            case .miss: return nil
            case .damaged:
                await drop(key)
                return nil
            }
        } catch {
            throw CoverFailure(cache: error, url: location)
        }
    }

    func drop(_ key: String) async {
        let result: String
        do {
            try await persistency.withWriter { try $0.dropDamaged(key) }
            result = "; covers that share them are dropped, too"
        } catch {
            result = ": \(CacheError(error))"
        }
        configuration.logger.warning(
            "the stored bytes of \(Redaction.redact(key)) are damaged or gone\(result)",
            metadata: CoverFailure(.cache, url: key, detail: "").metadata, source: CoverFailure.logSource)
    }

    /// Has the disk thread record the uses gathered so far, if there are at least this many, else within seconds.
    func passUsageOn(ofAtLeast count: Int) {
        if let usage = reader.takeUsage(minimum: count) { Task { await persistency.noteUsage(usage) } }
        if isUsageAwaited.exchange(true, ordering: .relaxed) { return }
        Task { [weak self] in
            try? await Task.sleep(for: Self.usageInterval)
            self?.isUsageAwaited.store(false, ordering: .relaxed)
            await self?.flushUsage()
        }
    }

    func flushUsage() async {
        if let usage = reader.takeUsage(minimum: 1) { await persistency.noteUsage(usage) }
    }

    // MARK: - One cover

    /// The cover from the cache, or downloaded.
    func cover(for request: CoverRequest) async throws(CoverFailure) -> Cover {
        let caller = Caller()
        let ask = try ask(request, for: caller)
        (ask.isForUse, ask.priority) = (true, request.priority?.order ?? .immediate)
        if isClosed { throw .closed(ask.location) }
        let locations = ask.addresses.map(\.location)
        await restorePictures(locations)
        var found = try await storedCover(of: ask)
        // Its copy may have been damaged.
        if case .missing = found, await restorePictures(locations) { found = try await storedCover(of: ask) }
        if !ask.cacheUse.asksServer {
            if case .usable(let cover) = found {
                hub.instruments.didLookUp(hits: 1)
                return cover
            }
            hub.instruments.didLookUp(misses: 1)
        }
        let outcome = try await traced(
            "sleeve.transfer", url: ask.url.string, isClient: true, status: { $0.responseStatus }
        ) { () async throws(CoverFailure) in
            let outcome = await caller.outcome(of: ask, self)
            if var failure = outcome.failure, outcome.bodyIfNotStored == nil {
                if ask.stored != nil, !ask.cacheUse.asksServer, ![.offline, .notCached].contains(failure.kind) {
                    failure.detail += "; \(Staleness.reason)"
                }
                throw failure
            }
            return outcome
        }
        let url = try key(outcome.url)
        if let body = outcome.bodyIfNotStored, let header = body.withUnsafeBytes({ ImageHeader($0) }) {
            return Cover(url.string, header, body)
        }
        if let (entry, body) = try await cachedEntry(url, location: outcome.url) {
            // What was stored a moment ago is not stale.
            let isStale = outcome.date == nil && Staleness(entry, at: WallClock.milliseconds()) != .fresh
            return Cover(entry, body, isStale: isStale)
        }
        throw CoverFailure(
            .cache, url: outcome.url, detail: "evicted as soon as it was stored: the capacity is too small")
    }

    private enum StoredCover {
        case usable(Cover)
        /// Its server has to be asked first.
        case forbidden
        case missing
    }

    /// The stored cover of the first address that has one.
    private func storedCover(of ask: Ask) async throws(CoverFailure) -> StoredCover {
        if ask.cacheUse.asksServer { return .missing }
        for (location, url) in ask.addresses {
            guard let (entry, body) = try await cachedEntry(url, location: location) else { continue }
            guard mayUse(entry, for: ask) else { return .forbidden }
            let staleness = Staleness(entry, at: WallClock.milliseconds())
            return .usable(Cover(entry, body, isStale: staleness != .fresh))
        }
        return .missing
    }

    /// A URL, whose `string` is its key in this cache.
    /// - Throws: `CoverFailure` if the text is no usable URL.
    func key(_ location: String) throws(CoverFailure) -> HTTPURL {
        try HTTPURL(location: location, ignoring: configuration.ignoredParameters)
    }

    // MARK: - Runs

    /// Calls `cancel` if the library closes before `endRun`.
    func beginRun(_ run: ObjectIdentifier, cancel: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            state.runs[run] = cancel
            return state.isClosed
        }
        if isClosed { cancel() }
    }

    func endRun(_ run: ObjectIdentifier) { state.withLock { _ = $0.runs.removeValue(forKey: run) } }

    // MARK: - The network

    /// `PendingStores.mark`. Nothing was stored before the scheduler started.
    var storeMark: Int { startedScheduler?.pending.mark ?? 0 }

    /// Nil if nothing was downloaded yet.
    var startedScheduler: DownloadScheduler? { state.withLock { $0.scheduler } }

    /// Cancels the asks of a sink that is no longer wanted, without waiting. What has arrived is committed immediately: it need not wait for
    /// others.
    func cancelAsks(of sink: any OutcomeSink) {
        guard let scheduler = startedScheduler else { return }
        Task {
            await scheduler.cancelAsks(of: sink)
            await persistency.flush()
        }
    }

    /// What the transfers of asks inherit from the current task: its place in a trace, and what it keeps for a program's own transport.
    func currentOrigin() -> AskOrigin? {
        var origin = AskOrigin()
        origin.traceFields = RequestHeaderFields(traceFields()).fields
        if configuration.transport != nil { origin.context = TaskContext() }
        return origin.context == nil && origin.traceFields.isEmpty ? nil : origin
    }

    /// Has a call end soon, as the service that waits for it shuts down: a transfer in flight gets some time, and no retry.
    func windDown(_ caller: Caller) {
        guard let scheduler = startedScheduler else { return }
        Task { await scheduler.windDown(caller, within: Self.shutdownPatience) }
    }

    /// The scheduler, started with the first missing cover: a program that only reads never starts libcurl.
    /// - Throws: `LibraryError` if the library is closed or no descriptor is left.
    func scheduler() async throws(LibraryError) -> DownloadScheduler {
        if let scheduler = startedScheduler { return scheduler }
        let pauses = earlierPauses()
        let (scheduler, isNew) = try state.withLock { state throws(LibraryError) in
            if state.isClosed { throw .closed }
            if let scheduler = state.scheduler { return (scheduler, false) }
            let started = DownloadScheduler(
                client: try configuration.makeClient(), store: persistency, policy: configuration.policy,
                pauses: pauses, logger: configuration.logger)
            state.scheduler = started
            return (started, true)
        }
        if isNew {
            await persistency.connect(scheduler) { [weak self] asks in
                await self?.goOn(asks)
            } recheck: { [weak self] in
                await self?.recheck($0, of: $1)
            }
            await scheduler.start()
        }
        return scheduler
    }
}

extension CacheReader {
    /// Runs `body` on a thread of `queue`: reads block, and must not do so on the cooperative pool.
    fileprivate func read<Result: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable (CacheReader) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try body(self) }) }
        }
    }
}

/// A call for one cover, which waits for its outcome. Cancelling its task cancels the ask.
final class Caller: OutcomeSink {
    private struct State {
        var isCancelled = false
        /// The service that asks shuts down.
        var isClosing = false
        var origin: AskOrigin?
        var continuation: CheckedContinuation<CoverOutcome, Never>?
    }

    private let state = Mutex(State())

    var isWanted: Bool { state.withLock { !$0.isCancelled && !$0.isClosing } }

    var origin: AskOrigin? { state.withLock { $0.origin } }

    func outcome(of ask: Ask, _ pipeline: CoverPipeline) async -> CoverOutcome {
        state.withLock { $0.origin = pipeline.currentOrigin() }
        return await withTaskCancellationHandler {
            await withShutdownHandler {
                await withCheckedContinuation { continuation in
                    state.withLock { $0.continuation = continuation }
                    Task { await pipeline.goOn([ask]) }
                }
            } onShutdown: {
                self.state.withLock { $0.isClosing = true }
                pipeline.windDown(self)
            }
        } onCancel: {
            state.withLock { $0.isCancelled = true }
            pipeline.cancelAsks(of: self)
        }
    }

    func take(_ outcome: CoverOutcome, of ask: Ask) {
        let (continuation, isClosing) = state.withLock { ($0.continuation.take(), $0.isClosing && !$0.isCancelled) }
        var outcome = outcome
        if isClosing, outcome.failure?.kind == .cancelled { outcome.failure = .closed(ask.location) }
        continuation?.resume(returning: outcome)
    }
}
