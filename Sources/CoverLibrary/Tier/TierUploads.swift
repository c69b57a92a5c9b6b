import CoverCache
import CoverFetch
import CoverTier
import DequeModule
import Synchronization

/// Puts covers that were downloaded into the tier, before the requests that wait for them get their outcomes: these are final then.
///
/// The covers are on the disk, so only their keys wait: their bytes are read from the cache again when it is their turn.
final class TierUploads: Sendable {
    /// Covers that are put together.
    private static let maximumWorkers = 32
    /// Covers that wait; downloads wait beyond it.
    private static let maximumWaiting = 16_384

    private struct Upload {
        var outcome: CoverOutcome
        var completion: @Sendable ([CoverOutcome]) -> Void
    }

    private let tier: Tier
    private let read: @Sendable (_ key: String) async throws(TierError) -> TierCover
    private let state = Mutex<(waiting: Deque<Upload>, workers: Int)>(([], 0))

    /// - Parameter read: reads a cover from the cache.
    init(_ tier: Tier, read: @escaping @Sendable (_ key: String) async throws(TierError) -> TierCover) {
        (self.tier, self.read) = (tier, read)
    }

    /// - Parameters:
    ///   - outcomes: whose commit is behind them. Those that were not downloaded are complete.
    ///   - completion: called with each, once, on any thread.
    func add(_ outcomes: [CoverOutcome], completion: @escaping @Sendable ([CoverOutcome]) -> Void) {
        let others = outcomes.filter { $0.kind != .downloaded }
        if !others.isEmpty { completion(others) }
        let uploads = outcomes.filter { $0.kind == .downloaded }.map { Upload(outcome: $0, completion: completion) }
        let newWorkers = state.withLock { state in
            state.waiting += uploads
            let count = min(uploads.count, Self.maximumWorkers - state.workers)
            state.workers += count
            return count
        }
        for _ in 0..<newWorkers { Task { await work() } }
    }

    /// Returns when there is room for more.
    func ready() async {
        while state.withLock({ $0.waiting.count > Self.maximumWaiting }) {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func work() async {
        while let upload = next() {
            var outcome = upload.outcome
            outcome.tier = await put(outcome.url)
            upload.completion([outcome])
        }
    }

    /// Nil ends a worker.
    private func next() -> Upload? {
        state.withLock { state in
            let upload = state.waiting.popFirst()
            if upload == nil { state.workers -= 1 }
            return upload
        }
    }

    /// Puts covers that the tier lacks, or has older. Returns when all were compared, or the task is cancelled.
    func push(_ keys: [String]) async -> [CoverOutcome.TierUse] {
        await withTaskGroup(of: CoverOutcome.TierUse.self) { group in
            var uses: [CoverOutcome.TierUse] = []
            for (count, key) in keys.enumerated() where !Task.isCancelled {
                if count >= Self.maximumWorkers, let use = await group.next() { uses.append(use) }
                group.addTask { await self.put(key, ifNewer: true) }
            }
            for await use in group { uses.append(use) }
            return uses
        }
    }

    private func put(_ key: String, ifNewer: Bool = false) async -> CoverOutcome.TierUse {
        do throws(TierError) {
            if tier.isStopped { throw .unreachable("stopped") }
            let cover = try await read(key)
            if ifNewer, let found = await tier.cover(for: key), found.entry.validatedAt >= cover.entry.validatedAt {
                return .hit
            }
            try await tier.put(cover)
            return .stored
        } catch {
            tier.didNotPut(error)
            if case .unsuitable = error { return .unsuitable }
            return .failed
        }
    }
}
