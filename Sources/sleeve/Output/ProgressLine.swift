import CoverLibrary
import Synchronization

/// The progress of a run on stderr: a line that is redrawn ten times a second on a terminal, else a new line every five
/// seconds.
enum ProgressLine {
    /// Prints the text until the task is cancelled.
    static func run(_ text: () -> String) async {
        let isLive = Log.isLive
        while (try? await Task.sleep(for: isLive ? .milliseconds(100) : .seconds(5))) != nil {
            if isLive { Log.live(text()) } else { Log.info(text()) }
        }
        if isLive { Log.live("") }
    }

    /// `1,234/5,000 covers · 11,203/s · 340 MiB/s · 2 failed · 0:03 left`
    static func text(_ summary: PrefetchSummary, total: Int?) -> String {
        let done = summary.settled
        var parts = [Decimals.grouped(done) + (total.map { "/" + Decimals.grouped($0) } ?? "") + " covers"]
        let rate = summary.seconds > 0 ? Double(done) / summary.seconds : 0
        parts.append(Decimals.grouped(Int(rate)) + "/s")
        if summary.bytes > 0 { parts.append(ByteSize(Int(summary.bytesPerSecond)).description + "/s") }
        if summary.failed > 0 { parts.append(Decimals.grouped(summary.failed) + " failed") }
        if let total, rate > 0, total > done { parts.append(clock(Double(total - done) / rate) + " left") }
        return parts.joined(separator: " · ")
    }

    /// `0:07`, `12:40`, `3:05:00`.
    private static func clock(_ seconds: Double) -> String {
        let seconds = Int(seconds.rounded(.up))
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        return (hours > 0 ? "\(hours):\(two(minutes))" : String(minutes)) + ":" + two(seconds % 60)
    }
}

/// The latest progress of a task.
private final class LatestProgress<State: Sendable>: Sendable {
    private let state: Mutex<State>
    init(_ state: State) { self.state = Mutex(state) }
    var value: State { state.withLock { $0 } }
    func set(_ new: State) { state.withLock { $0 = new } }
}

/// Runs `body` with a progress line, and cancels it at the first signal.
/// - Parameters:
///   - start: what the line shows until `body` reports progress.
///   - text: the line.
func withProgress<State: Sendable, Value: Sendable>(
    _ start: State, isQuiet: Bool, _ text: @escaping @Sendable (State) -> String,
    _ body: @escaping @Sendable (_ progress: @escaping @Sendable (State) -> Void) async throws -> Value
) async throws -> Value {
    let latest = LatestProgress(start)
    let work = Task { @Sendable in try await body { latest.set($0) } }
    Signals.handle { _ in work.cancel() }
    let line = Task { if !isQuiet { await ProgressLine.run { text(latest.value) } } }
    let result = await work.result
    line.cancel()
    await line.value
    return try result.get()
}
