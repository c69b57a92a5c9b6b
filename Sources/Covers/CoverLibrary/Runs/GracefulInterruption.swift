public import Foundation
import Platform

/// Runs `body` to its end; a signal cancels it before, and so does cancelling the caller's task. The signal's former action is back once one has
/// arrived, or the call returns: the next signal ends the program, unless that has an action of its own. A signal that is ignored stays so.
///
/// ```swift
/// let run = library.prefetch(urls)
/// let summary = try await withGracefulInterruption { try await run.summary() }
/// await library.close()
/// if summary.isCancelled, let total = run.total { print("\(total - summary.settled) are left for the next run") }
/// ```
/// - Parameters:
///   - signals: Their numbers. Those of no signal, and those that cannot be caught, are left out.
///   - body: Runs in a task of its own.
/// - Returns: What `body` returns. - Throws: What `body` throws.
public func withGracefulInterruption<Result: Sendable>(
    by signals: [Int32] = [SIGINT, SIGTERM], _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let (interrupts, interrupt) = AsyncStream.makeStream(of: Void.self)
    let call = SignalWatch.begin(signals, endsWithFirst: true) { _ in interrupt.yield() }
    defer { SignalWatch.end(call) }
    let task = Task(operation: body)
    let watch = Task { for await _ in interrupts { task.cancel() } }
    defer { watch.cancel() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}
