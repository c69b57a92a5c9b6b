import Synchronization

/// Whether the client of a request still waits for the response.
package final class ClientPresence: Sendable {
    private struct State {
        var hasLeft = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    init() {}

    /// Runs `body`, and cancels it if the client closes the connection meanwhile, as every browser does that no longer wants the response.
    package func whileConnected<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let task = Task { await body() }
        onLeave { task.cancel() }
        defer { onLeave(nil) }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Calls `action` when the client has left or has the response, or now if that is so. Replaces the action before.
    package func onLeave(_ action: (@Sendable () -> Void)?) {
        let hasLeft = state.withLock { state in
            state.action = action
            return state.hasLeft
        }
        if hasLeft { action?() }
    }

    func leave() {
        let action = state.withLock { state in
            state.hasLeft = true
            return state.action.take()
        }
        action?()
    }
}
