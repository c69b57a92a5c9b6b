import CoverCache
import CoverFetch
import CoverTier
import DequeModule
import Platform
import Synchronization

/// Puts covers that were downloaded into the tier. Runs wait for that, so that their outcomes are final; other requests do not.
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
        var isWanted: @Sendable () -> Bool
    }

    private let tier: Tier
    private let read: @Sendable (_ key: String) async throws(TierError) -> TierCover
    private let state = Mutex<(waiting: Deque<Upload>, bytes: Int, workers: Int)>(([], 0, 0))

    /// - Parameter read: reads a cover from the cache.
    init(_ tier: Tier, read: @escaping @Sendable (_ key: String) async throws(TierError) -> TierCover) {
        (self.tier, self.read) = (tier, read)
    }

    /// - Parameters:
    ///   - outcomes: whose commit is behind them.
    ///   - isAwaited: whether a key's put is waited for, still; nil if it never was.
    ///   - completion: called with each, once, on any thread: after its put if that is waited for.
    func add(
        _ outcomes: [CoverOutcome], isAwaited: @escaping @Sendable (_ key: String) -> Bool? = { _ in nil },
        completion: @escaping @Sendable ([CoverOutcome]) -> Void
    ) {
        var (complete, uploads): ([CoverOutcome], [Upload]) = ([], [])
        for outcome in outcomes {
            let key = outcome.url
            if outcome.kind != .downloaded {
                complete.append(outcome)
            } else if isAwaited(key) != nil {
                uploads.append(Upload(outcome: outcome, completion: completion) { isAwaited(key) != false })
            } else {
                complete.append(outcome)
                uploads.append(Upload(outcome: outcome, completion: { _ in }) { true })
            }
        }
        let newWorkers = state.withLock { state in
            state.waiting += uploads
            state.bytes += uploads.reduce(0) { $0 + $1.outcome.bytes }
            let count = min(uploads.count, Self.maximumWorkers - state.workers)
            state.workers += count
            return count
        }
        for _ in 0..<newWorkers { Task { await work() } }
        // After the puts were added: a caller that gets its outcome may close the library, which waits for them.
        if !complete.isEmpty { completion(complete) }
    }

    /// Returns when there is room for more.
    /// - Parameter bytes: As many may wait. The cache may evict them in favour of later ones, and then they cannot be put.
    func ready(bytes: Int) async {
        while state.withLock({ $0.waiting.count > Self.maximumWaiting || $0.bytes > bytes }) {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Returns when everything was put, or after the limit. - Returns: how many covers were not.
    func ended(within limit: Duration) async -> Int {
        let end = ContinuousClock.now + limit
        while true {
            let count = state.withLock { $0.waiting.count + $0.workers }
            if count == 0 || .now >= end { return count }
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return count }
        }
    }

    private func work() async {
        while let upload = next() {
            var outcome = upload.outcome
            outcome.tier = await put(outcome.url, isWanted: upload.isWanted)
            upload.completion([outcome])
        }
    }

    /// Nil ends a worker.
    private func next() -> Upload? {
        state.withLock { state in
            let upload = state.waiting.popFirst()
            state.bytes -= upload?.outcome.bytes ?? 0
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

    private func put(
        _ key: String, ifNewer: Bool = false, isWanted: @Sendable () -> Bool = { true }
    ) async -> CoverOutcome.TierUse {
        do throws(TierError) {
            if tier.isStopped || !isWanted() { throw .unreachable("stopped") }
            let cover = try await read(key)
            if ifNewer, let found = await tier.cover(for: key) {
                let times = [found, cover].map { WallClock.known($0.entry.validatedAt) }
                if times[0] >= times[1] { return .hit }
            }
            try await tier.put(cover, isWanted: isWanted)
            return .stored
        } catch {
            tier.didNotPut(error)
            if case .unsuitable = error { return .unsuitable }
            return .failed
        }
    }
}
