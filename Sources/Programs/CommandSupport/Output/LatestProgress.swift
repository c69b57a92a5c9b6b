import Synchronization

/// The latest progress of a task.
package final class LatestProgress<State: Sendable>: Sendable {
    private let state: Mutex<State>
    package init(_ state: State) { self.state = Mutex(state) }
    package var value: State { state.withLock { $0 } }
    package func set(_ new: State) { state.withLock { $0 = new } }
}

/// Runs `body` with a progress line, and cancels it at the first signal.
/// - Parameters:
///   - start: what the line shows until `body` reports progress.
///   - interval: the time between two lines without a terminal; nil for no progress line at all.
///   - forms: the line, and shorter ones for a narrow terminal, as of `ProgressLine`.
package func withProgress<State: Sendable, Value: Sendable>(
    _ start: State, every interval: Duration?, _ forms: @escaping @Sendable (State) -> [String],
    _ body: @escaping @Sendable (_ progress: @escaping @Sendable (State) -> Void) async throws -> Value
) async throws -> Value {
    let latest = LatestProgress(start)
    let work = Task { @Sendable in try await body { latest.set($0) } }
    Signals.handle { _ in work.cancel() }
    let line = Task { if let interval { await ProgressLine(every: interval).run { forms(latest.value) } } }
    let result = await work.result
    line.cancel()
    await line.value
    return try result.get()
}
