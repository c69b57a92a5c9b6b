import Platform

/// The time of a queue of sources; tests have another one.
package struct SourceClock: Sendable {
    /// The time since any zero, which never goes back.
    package var now: @Sendable () -> Duration
    /// The time of day in milliseconds since 1970.
    package var timeOfDay: @Sendable () -> Int64
    /// - Throws: `CancellationError`.
    package var sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> Duration, timeOfDay: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.now, self.timeOfDay, self.sleep) = (now, timeOfDay, sleep)
    }

    /// The system's clocks.
    package static var system: SourceClock {
        let start = ContinuousClock.now
        return SourceClock(
            now: { start.duration(to: .now) }, timeOfDay: { WallClock.milliseconds() },
            sleep: { try await Task.sleep(for: $0) })
    }
}
