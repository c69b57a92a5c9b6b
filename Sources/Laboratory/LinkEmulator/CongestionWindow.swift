/// How many bytes a sender may have in flight: slow start and congestion avoidance (RFC 5681), from an initial window of ten
/// segments (RFC 6928).
///
/// The window grows by the bytes acknowledged, even if the sender had no more to send, and stays as it is while the connection
/// is idle (RFC 2861 would reduce it).
struct CongestionWindow {
    /// The bytes of a full segment.
    static let segment = 1460
    /// The receive window, which bounds the congestion window.
    static let maximum = 6 << 20

    private(set) var bytes = 10 * segment
    private var slowStartThreshold = Int.max
    /// The losses of segments before this offset belong to the recovery in progress.
    private var recoveryEnd = 0

    /// Grows by an acknowledgement of `count` bytes that start at `offset`: by as many in slow start, which doubles the window
    /// every round trip, and by one segment a round trip after a loss.
    mutating func didAcknowledge(_ count: Int, at offset: Int) {
        guard offset >= recoveryEnd else { return }
        let growth = bytes < slowStartThreshold ? count : Self.segment * count / bytes
        bytes = min(bytes + growth, Self.maximum)
    }

    /// Halves the window, once for all segments that were in flight when the first of them was found lost.
    ///
    /// - Parameters:
    ///   - offset: The start of the lost segment.
    ///   - inFlight: The bytes in flight, the lost ones included.
    ///   - end: The end of what has been sent.
    mutating func didLose(at offset: Int, inFlight: Int, end: Int) {
        guard offset >= recoveryEnd else { return }
        slowStartThreshold = max(inFlight / 2, 2 * Self.segment)
        bytes = slowStartThreshold
        recoveryEnd = end
    }
}
