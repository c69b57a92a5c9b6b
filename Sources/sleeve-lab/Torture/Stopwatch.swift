/// The time since it was made.
struct Stopwatch: Sendable {
    private let start = ContinuousClock.now
    var time: Duration { start.duration(to: .now) }
}
