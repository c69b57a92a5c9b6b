import Platform
import Synchronization

/// Runs jobs that compute for milliseconds on at most two threads. Callers that want the same result share a job.
///
/// The threads start with the first job, and end when there is none. None belongs to Swift's cooperative pool, which must not block, or to
/// libcurl.
package final class SizeWorkers<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var threads = 0
        /// Jobs that have not started, in order.
        var jobs: [Key] = []
        var work: [Key: @Sendable () throws -> Value] = [:]
        /// Those who wait for a job that is in `jobs` or runs.
        var waiting: [Key: [CheckedContinuation<Value, any Error>]] = [:]
    }

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
                if isUrgent, !isNew, let place = state.jobs.firstIndex(of: key) { state.jobs.remove(at: place) }
                let waits = isNew || state.work[key] != nil
                if waits, isUrgent { state.jobs.insert(key, at: 0) } else if isNew { state.jobs.append(key) }
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
                guard let key = state.jobs.first, let work = state.work.removeValue(forKey: key) else {
                    state.threads -= 1
                    return nil
                }
                state.jobs.removeFirst()
                return (key, work)
            }
            guard let job else { return }
            let result = Result { try job.work() }
            for caller in state.withLock({ $0.waiting.removeValue(forKey: job.key) ?? [] }) {
                caller.resume(with: result)
            }
        }
    }
}
