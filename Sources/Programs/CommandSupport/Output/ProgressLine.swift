import Synchronization

/// The progress of a run on stderr: a line that is redrawn ten times a second on a terminal, else a new line at each interval.
package struct ProgressLine<Time: Clock<Duration>> {
    /// Whether the line is redrawn in place.
    package var isLive = Log.isLive
    /// The time between two lines, where they are not redrawn. Zero for no lines.
    var interval: Duration
    var clock: Time
    /// Prints a line. An empty one removes the line that is redrawn.
    var print: (_ line: String, _ isLive: Bool) -> Void = { line, isLive in
        if isLive { Log.live(line) } else { Log.info(line) }
    }

    /// Prints the line until the task is cancelled.
    /// - Parameter forms: What it says, and the same in fewer columns. A terminal gets the first form that fits, else the last one.
    package func run(_ forms: () -> [String]) async {
        if !isLive, interval <= .zero { return }
        while (try? await clock.sleep(for: isLive ? .milliseconds(100) : interval)) != nil {
            print(forms().fitting(isLive ? Terminal.standardError.width - 1 : nil), isLive)
        }
        if isLive { print("", true) }
    }
}

extension [String] {
    /// The first text of at most `width` columns, else the last one; the first one if there is no limit.
    package func fitting(_ width: Int?) -> String {
        (width.map { width in first { $0.count <= width } ?? last } ?? first) ?? ""
    }
}

extension ProgressLine<ContinuousClock> {
    package init(every interval: Duration) { self.init(interval: interval, clock: ContinuousClock()) }
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
    let latest = Mutex(start)
    let work = Task { @Sendable in try await body { progress in latest.withLock { $0 = progress } } }
    Signals.handle { _ in work.cancel() }
    let line = Task { if let interval { await ProgressLine(every: interval).run { forms(latest.withLock { $0 }) } } }
    let result = await work.result
    line.cancel()
    await line.value
    return try result.get()
}
