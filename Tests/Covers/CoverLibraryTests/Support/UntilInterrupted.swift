import Dispatch
import Foundation

/// Runs `body` to its end. A signal cancels it before.
func untilInterrupted<Result: Sendable>(
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
    return try await task.value
}
