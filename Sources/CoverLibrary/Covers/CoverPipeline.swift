import CoverCache
import CoverFetch
import CurlHTTP
import Dispatch
import HTTPCaching
import Logging
import Platform
import Synchronization

/// The path of covers behind `LibraryAPI`: look up, download, store.
package final class CoverPipeline: Sendable {
    private struct State {
        var scheduler: DownloadScheduler?
        var isClosed = false
        /// What cancels each run in progress.
        var runs: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    package let configuration: LibraryConfiguration
    let archive: CoverArtArchive
    let hub: EventHub
    let persistency: PersistencyManager
    let reader: CacheReader
    /// Nil if the processes of this cache cannot share leases.
    private let leases: CacheLeases?
    private let state = Mutex(State())
    /// Reads block, so they run neither on the cooperative pool nor in line.
    private let readers = DispatchQueue(label: "sleeve.read", attributes: .concurrent)

    /// - Throws: `LibraryError`.
    init(_ configuration: LibraryConfiguration, hub: EventHub) async throws(LibraryError) {
        self.configuration = configuration
        self.hub = hub
        archive = CoverArtArchive(base: configuration.coverArtArchive.absoluteString, size: configuration.coverSize)
        try archive.validate()
        persistency = PersistencyManager(
            cacheDirectory: configuration.cacheDirectory.relativePath, capacity: configuration.capacity, hub: hub)
        do {
            reader = try await persistency.open { [logger = configuration.logger] isCapacityKnown in
                let advice = isCapacityKnown ? "" : "; its capacity is lost, too: --capacity sets it again"
                logger.warning("the cache's index is lost or damaged: rebuilding it from the covers\(advice)")
            }
            let evicted = try await persistency.openingEviction()
            if evicted.covers > 0 {
                configuration.logger.warning(
                    "\(evicted.covers) covers were evicted: the cache exceeded its capacity of \(ByteCount(evicted.capacity))"
                )
            }
        } catch {
            throw LibraryError(error)
        }
        do {
            leases = CacheLeases(table: try await persistency.openLeases(), reader: reader, readers: readers)
        } catch {
            configuration.logger.debug("other processes may download the same covers: \(error)")
            leases = nil
        }
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
            await recordHosts(scheduler.learntHosts)
            await scheduler.close()
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

    /// Reads a cover on the caller's thread. Damaged bytes are a miss, and their entry is dropped.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    func cachedCover(_ url: HTTPURL, location: String) throws(CoverFailure) -> Cover? {
        if isClosed { throw .closed(location) }
        passUsageOn(ofAtLeast: 1_024)
        do {
            switch try reader.cover(for: url.string) {
            case .hit(let entry, let body):
                return Cover(entry, body, isStale: Staleness(entry, at: WallClock.milliseconds()) != .fresh)
            case .miss: return nil
            case .damaged(let segment, let offset):
                Task { await drop(url.string, segment, offset) }
                return nil
            }
        } catch {
            throw CoverFailure(cache: error, url: location)
        }
    }

    /// As `cachedCover`, on a thread that may block.
    func storedCover(_ url: HTTPURL, location: String) async throws(CoverFailure) -> Cover? {
        if isClosed { throw .closed(location) }
        guard let (entry, body) = try await cachedEntry(url, location: location) else { return nil }
        return Cover(entry, body, isStale: Staleness(entry, at: WallClock.milliseconds()) != .fresh)
    }

    private func cachedEntry(
        _ url: HTTPURL, location: String
    ) async throws(CoverFailure) -> (entry: CachedEntry, body: [UInt8])? {
        do {
            return try await storedEntry(url.string)
        } catch {
            throw CoverFailure(cache: error, url: location)
        }
    }

    /// An entry and its verified body, read on a thread that may block. Damaged bytes are a miss, and their entry is dropped.
    /// - Throws: `CacheError`.
    func storedEntry(_ key: String) async throws -> (entry: CachedEntry, body: [UInt8])? {
        let found = try await read { try $0.cover(for: key) }
        passUsageOn(ofAtLeast: 1_024)
        switch found {
        case .hit(let entry, let body): return (entry, body)
        case .miss: return nil
        case .damaged(let segment, let offset):
            // Before the download: the new bytes may be the same, and must not share the damaged ones.
            await drop(key, segment, offset)
            return nil
        }
    }

    private func drop(_ key: String, _ segment: Int, _ offset: Int) async {
        let url = Redaction.redact(key)
        do {
            try await persistency.withWriter { try $0.drop(key, segment: segment, offset: offset) }
            configuration.logger.warning(
                "the stored bytes of \(url) are damaged or gone; covers that share them are dropped, too")
        } catch {
            configuration.logger.warning("the stored bytes of \(url) are damaged or gone: \(CacheError(error))")
        }
    }

    /// Has the disk thread record the uses gathered so far, if there are at least this many.
    func passUsageOn(ofAtLeast count: Int) {
        if let usage = reader.takeUsage(minimum: count) { Task { await persistency.note(usage) } }
    }

    func flushUsage() async {
        if let usage = reader.takeUsage(minimum: 1) { await persistency.note(usage) }
    }

    // MARK: - One cover

    /// The cover from the cache, or downloaded.
    func cover(for request: CoverRequest) async throws(CoverFailure) -> Cover {
        let locations = try locations(of: request)
        if locations.count == 1 { return try await cover(at: CoverCandidate(locations[0], line: nil), request) }
        for location in locations {
            if let url = try? HTTPURL(location), let cover = try await storedCover(url, location: location) {
                return cover
            }
        }
        var candidate = try CoverCandidate(locations, line: nil)
        while true {
            do throws(CoverFailure) {
                return try await cover(at: candidate, request)
            } catch {
                let (next, failure) = candidate.next(after: error)
                guard let next else { throw failure }
                candidate = next
            }
        }
    }

    /// Where the cover may be, in the order of trying; at least one.
    /// - Throws: `CoverFailure` if nothing locates the album's cover.
    func locations(of request: CoverRequest) throws(CoverFailure) -> [String] {
        // Most requests have one URL, and lists have millions.
        guard let album = request.album, !album.otherFields.isEmpty || request.location.isEmpty else {
            return [request.location]
        }
        let locations = album.coverURLs(in: archive)
        if locations.isEmpty {
            throw CoverFailure(.badURL, url: "", detail: "the album has no cover URL", line: request.line)
        }
        return locations
    }

    private func cover(at candidate: CoverCandidate, _ request: CoverRequest) async throws(CoverFailure) -> Cover {
        let (location, url) = (candidate.location, candidate.url)
        if isClosed { throw .closed(location) }
        let isOffline = configuration.isOffline || request.cachePolicy == .onlyCache
        let found = try await cachedEntry(url, location: location)
        if let (entry, body) = found {
            let staleness = Staleness(entry, at: WallClock.milliseconds())
            if staleness != .forbidden { return Cover(entry, body, isStale: staleness != .fresh) }
            if isOffline { throw .staleOffline(location) }
        }
        if isOffline { throw .offline(location) }
        let hints = await hints([candidate])[0]
        if let absence = hints.absence, request.cachePolicy != .ignoreAbsence { throw .absent(location, absence) }
        do throws(CoverFailure) {
            if let cover = try await download(url, found?.entry, hints, request.priority) { return cover }
        } catch {
            var failure = error
            failure.url = location
            if found != nil { failure.detail += "; \(Staleness.reason)" }
            throw failure
        }
        // Stored a moment ago, so it is not stale.
        if let (entry, body) = try await cachedEntry(url, location: location) {
            return Cover(entry, body, isStale: false)
        }
        throw CoverFailure(.cache, url: location, detail: "evicted as soon as it was stored; raise the capacity")
    }

    /// Returns nil if the cover is in the cache now, or the cover itself if it must not be stored.
    private func download(
        _ url: HTTPURL, _ stored: CachedEntry?, _ hints: Hints, _ priority: CoverRequest.Priority
    ) async throws(CoverFailure) -> Cover? {
        let scheduler: DownloadScheduler
        do throws(LibraryError) {
            scheduler = try await self.scheduler()
        } catch {
            throw isClosed ? .closed(url.string) : CoverFailure(.connect, url: url.string, detail: error.message)
        }
        let caller = Caller()
        let result: Result<Cover?, CoverFailure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var request = FetchRequest(owner: ObjectIdentifier(caller)) { result in
                    if let (header, body) = result.unstored {
                        continuation.resume(returning: .success(Cover(url.string, header, body)))
                    } else {
                        continuation.resume(returning: result.result.map { _ in nil })
                    }
                }
                request.stored = stored.flatMap { CachedVersion($0) }
                request.apply(hints)
                if priority == .immediate { request.priority = .immediate }
                Task { [request] in
                    await scheduler.submit([(url, request)])
                    // A cancellation before this found nothing to cancel.
                    if caller.isCancelled { await scheduler.cancelRequests(of: ObjectIdentifier(caller)) }
                }
            }
        } onCancel: {
            caller.cancel()
            Task { await scheduler.cancelRequests(of: ObjectIdentifier(caller)) }
        }
        return try result.get()
    }

    /// The owner of a call's request.
    private final class Caller: Sendable {
        private let cancelled = Atomic(false)
        var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
        func cancel() { cancelled.store(true, ordering: .releasing) }
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

    /// Nil if nothing was downloaded yet.
    var startedScheduler: DownloadScheduler? { state.withLock { $0.scheduler } }

    /// Cancels the requests of `owner` without waiting.
    func cancelRequests(of owner: ObjectIdentifier) {
        guard let scheduler = startedScheduler else { return }
        Task { await scheduler.cancelRequests(of: owner) }
    }

    /// The scheduler, started with the first missing cover: a program that only reads never starts libcurl.
    /// - Throws: `LibraryError` if the library is closed or no descriptor is left.
    func scheduler() async throws(LibraryError) -> DownloadScheduler {
        if let scheduler = startedScheduler { return scheduler }
        let hosts = learntHosts()
        let (scheduler, isNew) = try state.withLock { state throws(LibraryError) in
            if state.isClosed { throw .closed }
            if let scheduler = state.scheduler { return (scheduler, false) }
            let started = DownloadScheduler(
                client: try configuration.makeClient(), store: persistency, leases: leases,
                policy: configuration.policy, hosts: hosts, logger: configuration.logger)
            state.scheduler = started
            return (started, true)
        }
        if isNew {
            await persistency.connect(scheduler)
            await scheduler.start()
        }
        return scheduler
    }
}
