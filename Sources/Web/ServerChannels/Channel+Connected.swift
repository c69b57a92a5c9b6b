package import NIOCore

extension Channel {
    /// Runs `body` for the present request of a connection with `ClientRules`, and cancels it if the client closes the connection meanwhile.
    package func whileConnected<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) async -> Result {
        let task = Task { await body() }
        onClose { task.cancel() }
        defer { onClose(nil) }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func onClose(_ action: (@Sendable () -> Void)?) {
        eventLoop.execute {
            guard let rules = try? self.pipeline.syncOperations.handler(type: HTTP1RulesHandler.self) else {
                action?()
                return
            }
            rules.onClose = action
        }
    }
}
