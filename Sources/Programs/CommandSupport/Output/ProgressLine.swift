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
