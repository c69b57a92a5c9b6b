import AlbumLibrary
import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import Logging
import Platform
import Synchronization

/// The path of covers behind `LibraryAPI`: look up, download, store.
package final class CoverPipeline: Sendable {
    /// How long a transfer in flight may take on when the service that waits for it shuts down: below the 30 s after which others kill it.
    private static let shutdownPatience = Duration.seconds(20)

    private struct State {
        var scheduler: DownloadScheduler?
        /// Cancels each run in progress.
        var runs: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    package let configuration: LibraryConfiguration
    let archive: CoverArtArchive
    let hub: EventHub
    let persistency: PersistencyManager
    let shelf: Shelf
    private let state = Mutex(State())
    /// Nil without a library file.
    let pictures: OwnPictures?
    let recheck = Recheck()

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
        do {
            shelf = Shelf(try await persistency.open(), persistency, hub.instruments, configuration.logger)
        } catch {
            throw LibraryError(error)
        }
    }

    var isClosed: Bool { shelf.isClosed }

    /// Commits what has arrived, and ends the transfers. Calls in progress and later ones throw.
    func close() async {
        let (scheduler, runs) = state.withLock { state in
            shelf.close()
            return (state.scheduler, Array(state.runs.values))
        }
        for cancel in runs { cancel() }
        if let scheduler {
            await keep(scheduler.pauses)
            await scheduler.close()
            warnOfSuspects()
        }
        await shelf.flushUsage()
        await persistency.close()
        shelf.reader.close()
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
            return shelf.isClosed
        }
        if isClosed { cancel() }
    }

    func endRun(_ run: ObjectIdentifier) { state.withLock { _ = $0.runs.removeValue(forKey: run) } }

    func cancelRun(_ run: ObjectIdentifier) { state.withLock { $0.runs[run] }?() }

    // MARK: - The network

    /// `PendingStores.stores`. Nothing was stored before the scheduler started.
    var storesSoFar: Int { startedScheduler?.pending.stores ?? 0 }

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
            if shelf.isClosed { throw .closed }
            if let scheduler = state.scheduler { return (scheduler, false) }
            let started = DownloadScheduler(
                client: try configuration.makeClient(), store: persistency, policy: configuration.policy,
                pauses: pauses, logger: configuration.logger, report: Publisher(hub).publish)
            state.scheduler = started
            return (started, true)
        }
        if isNew {
            await persistency.connect(scheduler) { [weak self] in await self?.recheck($0, of: $1) }
            await scheduler.start()
        }
        return scheduler
    }
}
