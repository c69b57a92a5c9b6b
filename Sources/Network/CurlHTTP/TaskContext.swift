/// The task-local values of the task that made it, for tasks that are started later from elsewhere: they reach a program's own transport, and
/// with them what its tracer and its logger keep there.
package final class TaskContext: Sendable {
    private let starts: AsyncStream<@Sendable () -> Void>.Continuation

    package init() {
        let (stream, continuation) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        starts = continuation
        // A task has the task-local values of the one that creates it.
        Task { for await start in stream { start() } }
    }

    deinit { starts.finish() }

    /// Runs `body` in a task with these values. Cancelling the caller's task cancels it.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let task = await withCheckedContinuation { continuation in
            _ = starts.yield { continuation.resume(returning: Task { await body() }) }
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
