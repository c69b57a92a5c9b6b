import CurlHTTP
import Foundation
import Logging
import OriginServer
import Synchronization
import Wire

@testable import CoverFetch

/// Runs `body` with an origin, and a scheduler whose store is in memory.
func withScheduler(
    _ limits: FetchLimits = FetchLimits(parallel: 16, perHost: 8), retries: Int = 0,
    _ body: (Origin, DownloadScheduler, MemoryStore) async throws -> Void
) async throws {
    try await withScheduler(limits, RetryPolicy(retries: retries), body)
}

func withScheduler(
    _ limits: FetchLimits, _ retry: RetryPolicy, bodyMemory: Int = 256 << 20,
    _ body: (Origin, DownloadScheduler, MemoryStore) async throws -> Void
) async throws {
    let origin = try await Origin.start()
    let store = MemoryStore()
    var configuration = HTTPClientConfiguration(userAgent: "Sleeve/test")
    configuration.timeout = .seconds(20)
    configuration.bodyMemory = bodyMemory
    let scheduler = DownloadScheduler(
        client: try HTTPClient(configuration: configuration), store: store,
        policy: FetchPolicy(limits: limits, retry: retry),
        pauses: [:], logger: Logger(label: "test"))
    store.scheduler = scheduler
    await scheduler.start()
    let result: Result<Void, any Error>
    do {
        result = .success(try await body(origin, scheduler, store))
    } catch {
        result = .failure(error)
    }
    store.resume()
    await scheduler.close()
    await origin.stop()
    try result.get()
}

/// A store that keeps finished jobs in memory.
final class MemoryStore: DownloadStore {
    private struct State {
        weak var scheduler: DownloadScheduler?
        var downloads: [Download] = []
        var isPaused = false
        var losesNext = false
    }
    private let state = Mutex(State())

    var scheduler: DownloadScheduler? {
        get { state.withLock { $0.scheduler } }
        set { state.withLock { $0.scheduler = newValue } }
    }
    var downloads: [Download] { state.withLock { $0.downloads } }

    /// Ends no job until `resume`.
    func pause() { state.withLock { $0.isPaused = true } }
    func resume() { state.withLock { $0.isPaused = false } }
    /// Reports the next download as lost.
    func loseNext() { state.withLock { $0.losesNext = true } }

    func store(_ batch: WriteBatch) async {
        let losesFirst = state.withLock { state in
            state.downloads += batch.downloads
            defer { state.losesNext = false }
            return state.losesNext
        }
        try? await eventually { self.state.withLock { !$0.isPaused } }
        let kept = batch.downloads.dropFirst(losesFirst ? 1 : 0)
        let unanswered = scheduler?.pending.complete(kept.map(\.outcome)) ?? []
        await scheduler?.resubmit(losesFirst ? [batch.downloads[0].key] : [], unanswered)
    }

    func distrust(_ suspects: SuspectCovers) async {}
}

extension Download {
    fileprivate var outcome: CoverOutcome {
        switch content {
        case .cover: return CoverOutcome(.downloaded, of: self)
        case .notModified: return CoverOutcome(.revalidated, of: self)
        case .notStorable, .failure:
            var outcome = CoverOutcome(.failed, of: self)
            outcome.fail(failure ?? .notStorable(key))
            return outcome
        }
    }

    private var failure: CoverFailure? { if case .failure(let failure, _) = content { failure } else { nil } }
}
