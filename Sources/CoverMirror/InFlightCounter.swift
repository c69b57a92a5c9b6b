import Synchronization

/// Counts the requests in flight, so that a server can finish them before it stops.
final class InFlightCounter: Sendable {
    private struct State {
        var count = 0
        var isStopping = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            defer { waiting = [] }
            return waiting
        }
    }

    private let state = Mutex(State())

    /// The server takes no more requests.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    func begin() { state.withLock { $0.count += 1 } }

    func end() {
        let waiting = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.takeWaiting() : []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until no request is in flight, at most `timeout`.
    func stop(within timeout: Duration) async {
        state.withLock { $0.isStopping = true }
        await withTaskGroup { group in
            group.addTask { await self.waitUntilIdle() }
            group.addTask { try? await Task.sleep(for: timeout) }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitUntilIdle() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIdle = state.withLock { state in
                    let isIdle = state.count == 0 || Task.isCancelled
                    if !isIdle { state.waiting.append(continuation) }
                    return isIdle
                }
                if isIdle { continuation.resume() }
            }
        } onCancel: {
            for continuation in state.withLock({ $0.takeWaiting() }) { continuation.resume() }
        }
    }
}
