import Dispatch
import Foundation

/// Runs `body` to its end. A signal cancels it before.
func untilInterrupted<Result: Sendable>(
    by signals: [Int32] = [SIGINT, SIGTERM], _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let task = Task(operation: body)
    let sources = signals.map { number in
        #if canImport(Darwin)
            signal(number, SIG_IGN)
        #endif
        let source = DispatchSource.makeSignalSource(signal: number)
        source.setEventHandler { task.cancel() }
        source.activate()
        return source
    }
    defer { for source in sources { source.cancel() } }
    return try await task.value
}
