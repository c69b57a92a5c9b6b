import CoverLibrary
import Synchronization

/// The progress of a run on stderr: a line that is redrawn ten times a second on a terminal, else a new line at each interval.
struct ProgressLine<Time: Clock<Duration>> {
    /// Whether the line is redrawn in place.
    var isLive = Log.isLive
    /// The time between two lines, where they are not redrawn. Zero for no lines.
    var interval: Duration
    var clock: Time
    /// Prints a line. An empty one removes the line that is redrawn.
    var print: (_ line: String, _ isLive: Bool) -> Void = { line, isLive in
        if isLive { Log.live(line) } else { Log.info(line) }
    }

    /// Prints the text until the task is cancelled.
    func run(_ text: () -> String) async {
        if !isLive, interval <= .zero { return }
        while (try? await clock.sleep(for: isLive ? .milliseconds(100) : interval)) != nil { print(text(), isLive) }
        if isLive { print("", true) }
    }
}

extension ProgressLine<ContinuousClock> {
    init(every interval: Duration) { self.init(interval: interval, clock: ContinuousClock()) }
}

extension PrefetchSummary {
    /// `1,234/5,000 covers · 11,203/s · 340 MiB/s · 2 failed · 0:03 left`
    /// - Parameters:
    ///   - total: the number of covers that are listed; nil while the list is read.
    ///   - width: in columns. Parts are left out to fit: first the rates, then the failures; nil for no limit.
    func progress(total: Int?, width: Int?) -> String {
        let done = settled
        let count = Decimals.grouped(done) + (total.map { "/" + Decimals.grouped($0) } ?? "")
        let rate = seconds > 0 ? Double(done) / seconds : 0
        var parts: [(text: String, importance: Int)] = [(count + " covers", 4)]
        parts.append((Decimals.grouped(Int(rate)) + "/s", 1))
        if bytes > 0 { parts.append((ByteSize(Int(bytesPerSecond)).description + "/s", 0)) }
        if failed > 0 { parts.append((Decimals.grouped(failed) + " failed", 2)) }
        if let total, rate > 0, total > done {
            parts.append((Self.clock(Double(total - done) / rate) + " left", 3))
        }
        func line() -> String { parts.map(\.text).joined(separator: " · ") }
        guard let width else { return line() }
        for importance in 0..<3 where line().count > width { parts.removeAll { $0.importance == importance } }
        if line().count > width { parts[0].text = count }
        return line()
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
final class LatestProgress<State: Sendable>: Sendable {
    private let state: Mutex<State>
    init(_ state: State) { self.state = Mutex(state) }
    var value: State { state.withLock { $0 } }
    func set(_ new: State) { state.withLock { $0 = new } }
}

/// Runs `body` with a progress line, and cancels it at the first signal.
/// - Parameters:
///   - start: what the line shows until `body` reports progress.
///   - interval: the time between two lines without a terminal; nil for no progress line at all.
///   - text: the line.
func withProgress<State: Sendable, Value: Sendable>(
    _ start: State, every interval: Duration?, _ text: @escaping @Sendable (State) -> String,
    _ body: @escaping @Sendable (_ progress: @escaping @Sendable (State) -> Void) async throws -> Value
) async throws -> Value {
    let latest = LatestProgress(start)
    let work = Task { @Sendable in try await body { latest.set($0) } }
    Signals.handle { _ in work.cancel() }
    let line = Task { if let interval { await ProgressLine(every: interval).run { text(latest.value) } } }
    let result = await work.result
    line.cancel()
    await line.value
    return try result.get()
}
