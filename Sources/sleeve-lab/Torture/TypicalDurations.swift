/// How long each job takes when nothing disturbs it, so that signals hit it at any moment of its life.
struct TypicalDurations: Sendable {
    private var durations: [TortureJob.Kind: Duration] = [:]
    /// Until one has been measured.
    private static let first = Duration.milliseconds(250)

    subscript(_ kind: TortureJob.Kind) -> Duration { durations[kind] ?? Self.first }

    /// Moves the typical duration of a job to that of another process by a quarter. Disturbed processes do not count.
    mutating func record(_ process: TortureProcess) {
        guard process.signals.isEmpty else { return }
        let (kind, duration) = (process.job.kind, process.end - process.start)
        durations[kind] = durations[kind].map { ($0 * 3 + duration) / 4 } ?? duration
    }
}
