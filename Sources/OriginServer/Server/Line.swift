import Synchronization

/// A line that all bodies share, one after the other at a steady speed.
final class Line: Sendable {
    private let bytesPerSecond: Int
    private let freeFrom = Mutex<ContinuousClock.Instant?>(nil)

    init(bytesPerSecond: Int) { self.bytesPerSecond = bytesPerSecond }

    /// How long `bytes` take from now on, behind those that came before.
    func time(for bytes: Int) -> Duration {
        let now = ContinuousClock.now
        return freeFrom.withLock { freeFrom in
            let end = max(freeFrom ?? now, now) + .seconds(Double(bytes) / Double(bytesPerSecond))
            freeFrom = end
            return end - now
        }
    }
}
