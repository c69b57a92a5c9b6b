import Synchronization

/// Counts events by key. Every key stays in memory.
final class KeyedCounter: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// Returns the key's count, this event included.
    @discardableResult
    func increment(_ key: String) -> Int {
        counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key, default: 0]
        }
    }

    func count(_ key: String) -> Int { counts.withLock { $0[key, default: 0] } }
}
