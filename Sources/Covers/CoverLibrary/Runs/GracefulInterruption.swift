import Dispatch
public import Foundation

/// Runs `body` to its end; a signal cancels it before, and so does cancelling the caller's task. Until it returns, the signals do not end the program.
///
/// ```swift
/// let run = library.prefetch(urls)
/// let summary = try await withGracefulInterruption { try await run.summary() }
/// await library.close()
/// if summary.isCancelled, let total = run.total { print("\(total - summary.settled) are left for the next run") }
/// ```
/// - Parameters:
///   - signals: Their numbers.
///   - body: Runs in a task of its own.
/// - Returns: What `body` returns. - Throws: What `body` throws.
public func withGracefulInterruption<Result: Sendable>(
    by signals: [Int32] = [SIGINT, SIGTERM], _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let (interrupts, interrupt) = AsyncStream.makeStream(of: Void.self)
    let sources = signals.map { number in
        #if canImport(Darwin)
            signal(number, SIG_IGN)
        #endif
        let source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler { interrupt.yield() }
        return source
    }
    defer { for source in sources { source.cancel() } }
    for source in sources {
        // A signal before that ends the program.
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler { continuation.resume() }
            source.activate()
        }
    }
    let task = Task(operation: body)
    let watch = Task { for await _ in interrupts { task.cancel() } }
    defer { watch.cancel() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}
