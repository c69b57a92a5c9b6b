package import CoverCache
import CurlHTTP
import ImageHeader
import Platform
import Synchronization

/// A library of albums and their covers: fetched in bulk, kept on disk, readable without a network.
///
/// One object for a program; it may be used from any thread. Several processes may use one cache directory at once.
public final class LibraryAPI: Sendable {
    /// The version of Sleeve.
    public static let version = "0.1.0"

    /// As given to `init`.
    public let configuration: LibraryConfiguration
    let reader: CacheReader
    let archive: CoverArtArchive
    let persistency: PersistencyManager
    /// The albums: list, edit, undo.
    public let albums: AlbumStore
    private let hub = EventHub()
    let network: Network
    private let poster: RemotePoster

    /// Opens the cache, making it where there is none, and adopts what a process that died left in it.
    /// - Throws: `LibraryError`: a value of the configuration is out of its range; or the cache directory cannot be used, or
    ///   belongs to a newer version.
    public init(configuration: LibraryConfiguration) async throws {
        try configuration.validate()
        self.configuration = configuration
        let network = Network(hub: hub)
        self.network = network
        archive = CoverArtArchive(base: configuration.coverArtArchive, size: configuration.coverSize)
        try archive.validate()
        poster = RemotePoster(configuration)
        albums = AlbumStore(
            path: configuration.libraryFile, remote: try poster.remoteLibrary(), logger: configuration.logger
        ) { [hub] in hub.publish(.albumsChanged) }
        persistency = PersistencyManager(
            cacheDirectory: configuration.cacheDirectory, capacity: configuration.capacity,
            settle: { settlements in network.settle(settlements) })
        do {
            reader = try await persistency.open()
        } catch {
            throw LibraryError(error)
        }
    }

    // MARK: Covers

    /// The cover at `url`: from the cache, else downloaded and stored. Concurrent calls for one URL share a transfer. A cover
    /// that its server forbids to keep (`no-store`) is given all the same, and comes anew every time.
    ///
    /// What is in the cache is given without asking, stale or not (`Cover.isStale`), unless its server forbids that
    /// (`must-revalidate`, `no-cache`): then it is asked first, and when it cannot be, the call fails (RFC 9111 section 4.2.4).
    /// - Parameters:
    ///   - retryingAbsent: ask even where the server has said lately that nothing is there (404, 410), which is remembered for
    ///     a while.
    ///   - isUrgent: send the request at once, also while the host is paused after failures or at its limit: for a person who
    ///     asks to try again.
    /// - Throws: `CoverFailure`; of the kind `cancelled` when the library is closed.
    public func cover(for url: String, retryingAbsent: Bool = false, isUrgent: Bool = false) async throws -> Cover {
        let parsed = try Self.parse(url)
        if isClosed { throw CoverFailure.closed(url) }
        let found = try await cachedCover(parsed, given: url)
        if let (entry, body) = found {
            let staleness = Staleness(entry, at: WallClock.milliseconds())
            if staleness != .forbidden { return Cover(entry, body, isStale: staleness != .fresh) }
            if configuration.isOffline { throw CoverFailure.staleOffline(url) }
        }
        if configuration.isOffline { throw CoverFailure.offline(url) }
        let remembered = recall([parsed])[0]
        if let absence = remembered.absence, !retryingAbsent { throw CoverFailure.absent(url, absence) }
        do {
            if let cover = try await download(parsed, given: url, found?.entry, remembered, isUrgent) { return cover }
        } catch var failure as CoverFailure {
            if found != nil { failure.detail += "; \(Staleness.reason)" }
            throw failure
        }
        // It has come just now, however short its time is.
        if let (entry, body) = try await cachedCover(parsed, given: url) { return Cover(entry, body, isStale: false) }
        throw CoverFailure(.cache, url: url, detail: "evicted as soon as it was stored; raise the capacity")
    }

    /// The cover at `url` if it is in the cache, its bytes verified, whatever its age: what somebody has seen they may see
    /// again (RFC 9111 section 6). Synchronous, on the caller's thread; takes some 20 µs.
    /// - Throws: `CoverFailure` when `url` is none, or the index cannot be read.
    public func cachedCover(for url: String) throws -> Cover? {
        let parsed = try Self.parse(url)
        switch try read(parsed, given: url) {
        case .hit(let entry, let body):
            return Cover(entry, body, isStale: Staleness(entry, at: WallClock.milliseconds()) != .fresh)
        case .miss: return nil
        case .damaged(let segment, let offset):
            Task { await drop(parsed, segment, offset) }
            return nil
        }
    }

    private func cachedCover(_ url: HTTPURL, given: String) async throws -> (entry: CachedEntry, body: [UInt8])? {
        switch try read(url, given: given) {
        case .hit(let entry, let body): return (entry, body)
        case .miss: return nil
        case .damaged(let segment, let offset):
            await drop(url, segment, offset)
            return nil
        }
    }

    private func read(_ url: HTTPURL, given: String) throws -> CacheReader.Found {
        do {
            let found = try reader.cover(for: url.string)
            passUsageOn(ofAtLeast: 1_024)
            return found
        } catch {
            throw CoverFailure(.cache, url: given, detail: "\(CacheError(error))")
        }
    }

    private func drop(_ url: HTTPURL, _ segment: Int, _ offset: Int) async {
        try? await persistency.withWriter { try $0.drop(url.string, segment: segment, offset: offset) }
    }

    private static func parse(_ url: String) throws -> HTTPURL {
        do throws(HTTPURL.Problem) {
            return try HTTPURL(url)
        } catch {
            throw CoverFailure(.badURL, url: CoverFailure.shown(url), detail: "\(error)")
        }
    }

    /// - Returns: the cover, if it must not be kept; else it is in the cache.
    private func download(
        _ url: HTTPURL, given: String, _ stored: CachedEntry?, _ remembered: Recollection, _ isUrgent: Bool
    ) async throws -> Cover? {
        let scheduler: DownloadScheduler
        do {
            scheduler = try await self.scheduler()
        } catch {
            throw isClosed ? CoverFailure.closed(given) : CoverFailure(.connect, url: given, detail: error.message)
        }
        let caller = Caller()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Cover?, any Error>) in
                var waiter = Waiter(
                    owner: ObjectIdentifier(caller), stored: stored.map { Revalidation($0) }, remembered: remembered
                ) { delivery in
                    if let (body, header) = delivery.passing {
                        return continuation.resume(returning: Cover(url.string, header, Array(body.bytes)))
                    }
                    continuation.resume(
                        with: delivery.result.map { _ in nil }.mapError { failure in
                            var failure = failure
                            failure.url = given
                            return failure
                        })
                }
                waiter.isUrgent = isUrgent
                Task { [waiter] in
                    await scheduler.submit([(url, waiter)])
                    // A cancellation before this found nothing to abandon.
                    if caller.isCancelled { await scheduler.abandon(ObjectIdentifier(caller)) }
                }
            }
        } onCancel: {
            caller.cancel()
            Task { await scheduler.abandon(ObjectIdentifier(caller)) }
        }
    }

    /// Whom a waiting call's requests belong to.
    private final class Caller: Sendable {
        private let cancelled = Atomic(false)
        var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
        func cancel() { cancelled.store(true, ordering: .releasing) }
    }

    // MARK: Prefetch

    /// Fetches every cover of the sequence that is not in the cache yet. The sequence is read as it goes, never held.
    ///
    /// Cancelling the task stops within 100 ms: what has arrived is committed, and the summary says `isCancelled`.
    /// - Parameters:
    ///   - retryingAbsent: ask even where servers have said lately that nothing is there (404, 410).
    ///   - progress: may be asked for the state meanwhile.
    /// - Throws: `LibraryError` when the library is closed before the end; `progress` has what was done by then.
    public func prefetch<Requests: AsyncSequence & Sendable>(
        _ requests: Requests, retryingAbsent: Bool = false, progress: PrefetchProgress = PrefetchProgress()
    ) async throws -> PrefetchSummary where Requests.Element == CoverRequest {
        let batches = Batches(requests) { error in _ = progress.stop("the list could not be read on: \(error)") }
        return try await prefetch(batches: batches, retryingAbsent: retryingAbsent, progress: progress)
    }

    /// Fetches the covers of `albums` that are not in the cache yet. Where an album names several places, the first that has
    /// it counts. An album that says nothing of where its cover is counts as skipped.
    /// - Throws: `LibraryError` when the library is closed before the end; `progress` has what was done by then.
    public func prefetch(
        _ albums: [Album], retryingAbsent: Bool = false, progress: PrefetchProgress = PrefetchProgress()
    ) async throws -> PrefetchSummary {
        let stream = AsyncStream { continuation in
            for album in albums { continuation.yield(CoverRequest(album: album)) }
            continuation.finish()
        }
        return try await prefetch(stream, retryingAbsent: retryingAbsent, progress: progress)
    }

    package func prefetch(
        batches: some AsyncSequence<[ListElement], Never> & Sendable, retryingAbsent: Bool = false,
        progress: PrefetchProgress
    ) async throws -> PrefetchSummary {
        try await Prefetcher(self, retryingAbsent: retryingAbsent, progress).run(batches)
    }

    // MARK: Refresh

    /// Asks servers whether what is cached still stands, with the validators they gave (RFC 9111 §4.3). Covers that cannot be
    /// had stay as they are, and count as failed. A run that ends early, by its budget, a cancellation or a crash, loses
    /// nothing: the next one goes on with what is still due.
    /// - Parameter progress: may be asked for the state meanwhile.
    /// - Throws: `LibraryError` when the index cannot be read, or the library is offline.
    public func refresh(
        _ request: RefreshRequest = RefreshRequest(), progress: PrefetchProgress = PrefetchProgress()
    ) async throws -> PrefetchSummary {
        if isClosed { throw LibraryError.closed }
        if configuration.isOffline { throw LibraryError.offline }
        return try await Refresher(self, request, progress).run()
    }

    // MARK: Observing

    /// A stream of what happens, for one observer. It ends when the library is closed.
    /// - Parameter limit: how many events it may fall behind; beyond that it gets one `missed` in place of those left out.
    ///   An observer never slows the library down.
    public func events(limit: Int = 1_024) -> AsyncStream<LibraryEvent> { hub.events(limit: limit) }

    // MARK: The cache

    /// What the cache holds and how it has served.
    /// - Throws: `LibraryError`.
    public func statistics() async throws -> CacheStatistics {
        await flushUsage()
        let found = try await maintain { try $0.statistics() }
        return CacheStatistics(
            entries: found.entries, blobs: found.blobs, liveBytes: found.bytes, chargedBytes: found.charged,
            diskBytes: found.onDisk, capacity: found.capacity, hits: found.hits, misses: found.misses,
            deduplicatedBytes: found.entryBytes - found.bytes, oldest: found.oldest, newest: found.newest)
    }

    /// Evicts the least recently used covers until at most `bytes` are charged.
    /// - Returns: how many covers went, and how many bytes that freed.
    /// - Throws: `LibraryError`.
    @discardableResult
    public func evict(to bytes: Int) async throws -> (covers: Int, bytes: Int) {
        await flushUsage()
        return try await maintain { writer in
            let evicted = try writer.evict(to: bytes)
            return (evicted.blobs, evicted.bytes)
        }
    }

    /// Runs `body` with the cache on the disk thread.
    package func maintain<Result: Sendable>(_ body: @Sendable (CacheWriter) throws -> Result) async throws -> Result {
        do {
            return try await persistency.withWriter(body)
        } catch {
            throw LibraryError(error)
        }
    }

    /// Every cover in the order of storing, from the caller's thread; what only a mirror keeps is left out.
    package func entries(_ visit: (CachedEntry) throws -> Void) throws {
        try reader.entries { if $0.isCover { try visit($0) } }
    }

    /// Commits what has arrived, ends the transfers and the observers' streams. Calls under way and later ones throw.
    public func close() async {
        if let scheduler = network.close() {
            await keepHosts(scheduler.learnt)
            await scheduler.close()
        }
        await albums.close()
        poster.close()
        await flushUsage()
        await persistency.close()
        hub.close()
    }

    /// Has the disk thread write the uses gathered so far, if they are many; nobody waits for it.
    func passUsageOn(ofAtLeast least: Int) {
        if let usage = reader.takeUsage(ofAtLeast: least) { Task { await persistency.note(usage) } }
    }

    func flushUsage() async {
        if let usage = reader.takeUsage(ofAtLeast: 1) { await persistency.note(usage) }
    }

    // MARK: The network

    var schedulerIfStarted: DownloadScheduler? { network.scheduler }
    var isClosed: Bool { network.isClosed }

    /// Takes back what `owner` has asked for and not got yet; nobody waits for it.
    func abandon(_ owner: ObjectIdentifier) {
        guard let scheduler = schedulerIfStarted else { return }
        Task { await scheduler.abandon(owner) }
    }

    /// The scheduler, started when it is first needed.
    /// - Throws: the library is closed, or no descriptor is left.
    func scheduler() async throws(LibraryError) -> DownloadScheduler {
        if let scheduler = schedulerIfStarted { return scheduler }
        let (scheduler, isNew) = try network.start(configuration, learnt: hostsLearnt())
        if isNew {
            await scheduler.begin { [persistency] landing in await persistency.store(landing) }
        }
        return scheduler
    }
}

extension Cover {
    init(_ url: String, _ header: ImageHeader, _ body: [UInt8]) {
        self.init(
            url: url, bytes: body, mediaType: header.mediaType, width: header.width, height: header.height,
            digest: body.withUnsafeBytes { Digest(of: $0).description })
    }

    init(_ entry: CachedEntry, _ body: [UInt8], isStale: Bool) {
        self.init(
            url: entry.metadata.key, bytes: body, mediaType: entry.metadata.mediaType, width: entry.metadata.width,
            height: entry.metadata.height, digest: entry.digest.description, isStale: isStale)
    }
}
