import Platform
import Synchronization

/// Runs jobs that compute for milliseconds on at most two threads. Callers that want the same result share a job.
///
/// The threads start with the first job, and end when there is none. None belongs to Swift's cooperative pool, which must not block, or to
/// libcurl.
package final class SizeWorkers<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var threads = 0
        /// Jobs that have not started: the urgent ones, the latest first, and the others in order.
        var jobs: [Key] = []
        /// How many are urgent, and how many of these have started.
        var (urgent, started) = (0, 0)
        var work: [Key: @Sendable () throws -> Value] = [:]
        /// Those who wait for a job that is in `jobs` or runs.
        var waiting: [Key: [CheckedContinuation<Value, any Error>]] = [:]
    }

    /// Of the urgent jobs, each fourth one that starts is the oldest: what a view shows now is wanted first, and what was wanted before comes, too.
    private static var turn: Int { 4 }

    private let maximumThreads: Int
    private let state = Mutex(State())

    package init(threads: Int = 2) { maximumThreads = threads }

    /// The result of a job: of the one with this key that waits or runs, else of `work`, which starts before jobs that are not urgent.
    /// - Throws: the error of the job.
    package func value(
        for key: Key, isUrgent: Bool = true, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let starts = state.withLock { state in
                let isNew = state.waiting[key] == nil
                state.waiting[key, default: []].append(continuation)
                if isNew { state.work[key] = work }
                // An urgent caller takes a job along that waits.
                if isUrgent, !isNew, let place = state.jobs.firstIndex(of: key) {
                    state.jobs.remove(at: place)
                    if place < state.urgent { state.urgent -= 1 }
                }
                if isUrgent, state.work[key] != nil {
                    state.jobs.insert(key, at: 0)
                    state.urgent += 1
                } else if isNew {
                    state.jobs.append(key)
                }
                guard state.threads < maximumThreads, !state.jobs.isEmpty else { return false }
                state.threads += 1
                return true
            }
            if starts { WorkThread.start { self.run() } }
        }
    }

    /// The keys of the jobs that have not started, in order.
    var waitingKeys: [Key] { state.withLock { $0.jobs } }
    /// Callers without a result.
    var callers: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    private func run() {
        while true {
            let job = state.withLock { state -> (key: Key, work: @Sendable () throws -> Value)? in
                var place = 0
                if state.urgent > 0 {
                    state.started += 1
                    if state.started.isMultiple(of: Self.turn) { place = state.urgent - 1 }
                }
                guard place < state.jobs.count, let work = state.work.removeValue(forKey: state.jobs[place]) else {
                    state.threads -= 1
                    return nil
                }
                if state.urgent > 0 { state.urgent -= 1 }
                return (state.jobs.remove(at: place), work)
            }
            guard let job else { return }
            let result = Result { try job.work() }
            for caller in state.withLock({ $0.waiting.removeValue(forKey: job.key) ?? [] }) {
                caller.resume(with: result)
            }
        }
    }
}
