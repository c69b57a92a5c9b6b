/// Keeps calls from a tier that does not answer. It closes after failures of three covers in a row, lets a call through after a second and 2, 4, … 30
/// seconds later, and opens with a success. A pure value without a clock.
struct TierGate: Sendable {
    typealias Instant = ContinuousClock.Instant

    private static let (failures, maximumPause) = (3, Duration.seconds(30))

    private var failed: Set<TierKey> = []
    private var pause = Duration.seconds(1)
    private var nextCall: Instant?
    /// Since when the gate is closed; nil while it is open.
    private(set) var closedSince: Instant?

    /// Whether a call may begin.
    mutating func admits(_ now: Instant) -> Bool {
        guard let nextCall else { return true }
        if now < nextCall { return false }
        pause = min(pause * 2, Self.maximumPause)
        self.nextCall = now + pause
        return true
    }

    /// A call was answered. - Returns: whether the gate was closed.
    mutating func succeeded() -> Bool {
        defer { self = TierGate() }
        return closedSince != nil
    }

    /// A call for a cover was not answered: one that hangs again and again says nothing about the others.
    /// - Returns: whether the gate has closed now.
    mutating func failed(_ key: TierKey, _ now: Instant) -> Bool {
        failed.insert(key)
        guard closedSince == nil, failed.count == Self.failures else { return false }
        (closedSince, nextCall) = (now, now + pause)
        return true
    }
}
