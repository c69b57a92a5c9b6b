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

    /// Prints the text until the task is cancelled.
    package func run(_ text: () -> String) async {
        if !isLive, interval <= .zero { return }
        while (try? await clock.sleep(for: isLive ? .milliseconds(100) : interval)) != nil { print(text(), isLive) }
        if isLive { print("", true) }
    }
}

extension ProgressLine<ContinuousClock> {
    package init(every interval: Duration) { self.init(interval: interval, clock: ContinuousClock()) }
}
