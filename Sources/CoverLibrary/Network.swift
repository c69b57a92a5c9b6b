import CurlHTTP
import Platform
import Synchronization

/// The part of a library that connects. The scheduler starts when the first cover is missing: a program that only reads never
/// sets up libcurl.
final class Network: Sendable {
    private struct State {
        var scheduler: DownloadScheduler?
        var isClosed = false
        /// Runs that read a list, with what ends the reading.
        var runs: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())
    private let hub: EventHub

    init(hub: EventHub) { self.hub = hub }

    /// Nil: not started.
    var scheduler: DownloadScheduler? { state.withLock { $0.scheduler } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Calls `stop` when the library closes before `ended`.
    func began(_ run: ObjectIdentifier, stop: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            state.runs[run] = stop
            return state.isClosed
        }
        if isClosed { stop() }
    }

    func ended(_ run: ObjectIdentifier) { state.withLock { _ = $0.runs.removeValue(forKey: run) } }

    func start(
        _ configuration: LibraryConfiguration, learnt: [String: HostMemory]
    ) throws(LibraryError) -> (DownloadScheduler, isNew: Bool) {
        try state.withLock { state throws(LibraryError) in
            if state.isClosed { throw .closed }
            if let scheduler = state.scheduler { return (scheduler, false) }
            let started = DownloadScheduler(
                client: try configuration.makeClient(),
                limits: .init(
                    parallel: configuration.parallel, perHost: configuration.perHost,
                    interval: configuration.rate.map(Self.interval),
                    totalInterval: configuration.totalRate.map(Self.interval), adapts: configuration.adapts,
                    respectsRobots: configuration.respectsRobots),
                learnt: learnt,
                policy: RetryPolicy(retries: configuration.retries),
                redirects: RedirectPolicy(allowsDowngrades: configuration.allowsDowngrades),
                observe: hub, logger: configuration.logger)
            state.scheduler = started
            return (started, true)
        }
    }

    /// Between two requests at this rate. No more than a duration can hold: 30 years.
    private static func interval(_ rate: Double) -> Duration { .seconds(min(1 / rate, 1e9)) }

    /// - Returns: the scheduler to close; nil: there is none.
    func close() -> DownloadScheduler? {
        let (scheduler, runs) = state.withLock { state in
            state.isClosed = true
            return (state.scheduler, state.runs.values)
        }
        for stop in runs { stop() }
        return scheduler
    }

    func settle(_ settlements: [Settlement]) {
        guard let scheduler = state.withLock({ $0.scheduler }) else { return }
        Task { await scheduler.settle(settlements) }
    }
}

extension LibraryConfiguration {
    func makeClient() throws(LibraryError) -> HTTPClient {
        do throws(SystemError) {
            return try HTTPClient(configuration: transfers)
        } catch {
            throw LibraryError.networkUnavailable("\(error); raise the limit on open files (ulimit -n)")
        }
    }

    var transfers: HTTPClientConfiguration {
        var http = HTTPClientConfiguration(userAgent: userAgent)
        http.timeout = timeout
        http.maximumBodySize = maximumSize
        http.certificateAuthorities = certificateAuthorities
        http.allowsDowngrades = allowsDowngrades
        http.deniesPrivateAddresses = deniesPrivateAddresses
        http.maximumConnections = max(parallel, 16)
        return http
    }
}
