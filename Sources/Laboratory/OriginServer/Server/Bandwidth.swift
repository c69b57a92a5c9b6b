import Synchronization

/// A bandwidth that all response bodies share: they are sent one after the other.
final class Bandwidth: Sendable {
    private let bytesPerSecond: Int
    private let freeFrom = Mutex<ContinuousClock.Instant?>(nil)

    init(bytesPerSecond: Int) { self.bytesPerSecond = bytesPerSecond }

    /// Reserves the time for `bytes`. Returns the time from now until they are sent.
    func reserve(_ bytes: Int) -> Duration {
        let now = ContinuousClock.now
        return freeFrom.withLock { freeFrom in
            let end = max(freeFrom ?? now, now) + .seconds(Double(bytes) / Double(bytesPerSecond))
            freeFrom = end
            return end - now
        }
    }
}
