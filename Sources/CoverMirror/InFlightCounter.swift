import Synchronization

/// Counts what is being answered, for whoever wants to end in order.
final class UnderWay: Sendable {
    private struct State {
        var count = 0
        var isEnding = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            defer { waiting = [] }
            return waiting
        }
    }

    private let state = Mutex(State())

    /// Nothing new is to be begun.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    func begin() { state.withLock { $0.count += 1 } }

    func end() {
        let waiting = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.takeWaiting() : []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns as soon as nothing is under way, at the latest after `patience`.
    func untilNone(within patience: Duration) async {
        state.withLock { $0.isEnding = true }
        await withTaskGroup { group in
            group.addTask { await self.none() }
            group.addTask { try? await Task.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
    }

    private func none() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isNone = state.withLock { state in
                    let isNone = state.count == 0 || Task.isCancelled
                    if !isNone { state.waiting.append(continuation) }
                    return isNone
                }
                if isNone { continuation.resume() }
            }
        } onCancel: {
            for continuation in state.withLock({ $0.takeWaiting() }) { continuation.resume() }
        }
    }
}
