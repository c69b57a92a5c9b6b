import CCurl

/// Bounds the memory for the bodies of all transfers of a client, and for those that wait to be stored.
///
/// A body reserves its announced length, or grows as it arrives. A transfer whose body finds no room is paused until others have
/// ended, or over HTTP/2 ends and is repeated then; the oldest one with a large body goes on in any case, so that there is always progress.
/// Bodies up to `smallest` are neither counted nor paused: an average cover never notices. Used on the event loop only.
final class BodyBudget {
    /// Bytes.
    static let smallest = 1 << 20

    private let limit: Int
    private var lengths: [Transfer.ID: Int] = [:]
    private var used = 0
    private var paused: Set<Transfer.ID> = []
    /// The length that bodies to come are expected to have, in bytes: that of the last one that was put off, at most an
    /// eighth of the limit, and less with each body that ends.
    private var expected = 0
    /// Room has become free since the last `toResume`.
    private var hasFreed = false
    /// Bytes of complete bodies that wait to be stored.
    var unstored = 0 { didSet { if unstored < oldValue { hasFreed = true } } }

    /// - Parameter limit: bytes.
    init(limit: Int) { self.limit = limit }

    /// Whether another transfer may start beside those in flight.
    func mayStart(inFlight: Int) -> Bool {
        expected == 0 || inFlight == 0 && unstored == 0 || (inFlight + 1) * expected + unstored <= limit
    }

    /// Whether the body of a transfer may have this length. If not, the transfer is to be paused, or put off.
    func admits(_ length: Int, of transfer: Transfer.ID, canPause: Bool) -> Bool {
        if length <= Self.smallest { return true }
        let growth = length - (lengths[transfer] ?? 0)
        if growth <= 0 { return true }
        guard used + unstored + growth <= limit || mayExceed(transfer, growth) else {
            if canPause { paused.insert(transfer) } else { expected = min(length, limit / 8) }
            return false
        }
        lengths[transfer] = length
        used += growth
        return true
    }

    /// The oldest may, unless it is enough to wait until bodies are stored.
    private func mayExceed(_ transfer: Transfer.ID, _ growth: Int) -> Bool {
        (unstored == 0 || unstored + growth <= limit) && isOldest(transfer)
    }

    private func isOldest(_ transfer: Transfer.ID) -> Bool {
        !lengths.keys.contains { $0 < transfer } && !paused.contains { $0 < transfer }
    }

    /// The transfer has ended.
    func end(_ transfer: Transfer.ID) {
        expected -= (expected + 63) / 64
        if let length = lengths.removeValue(forKey: transfer) {
            used -= length
            hasFreed = true
        }
        if paused.remove(transfer) != nil { hasFreed = true }
    }

    /// The paused transfers to resume, the oldest first. Those that find no room are paused again.
    func toResume() -> [Transfer.ID] {
        guard hasFreed, !paused.isEmpty else { return [] }
        hasFreed = false
        defer { paused = [] }
        return paused.sorted()
    }
}

/// A transfer's share of the memory for bodies. Without room for its body the transfer is paused, which extends its time limit:
/// libcurl counts pauses in it.
struct BodyShare {
    private let budget: BodyBudget
    private let timeout: Duration
    /// The announced length of the body, in bytes; 0 if unknown.
    private var announced = 0
    /// Before libcurl 8.0, a paused stream of HTTP/2 holds up its connection.
    private(set) var canPause = true
    private var paused: ContinuousClock.Instant?
    /// The length of all pauses.
    private var waited = Duration.zero

    init(of budget: BodyBudget, timeout: Duration) {
        self.budget = budget
        self.timeout = timeout
    }

    /// Resets the state of the handle's last use.
    mutating func prepare(_ easy: UnsafeMutableRawPointer) {
        if paused != nil || waited > .zero { sleeve_setopt_long(easy, CURLOPT_TIMEOUT_MS, timeout.inMilliseconds) }
        self = BodyShare(of: budget, timeout: timeout)
    }

    /// A body begins. - Parameter length: as announced, in bytes; 0 if unknown.
    mutating func begin(_ length: Int, _ easy: UnsafeMutableRawPointer) {
        var version = 0
        sleeve_getinfo_long(easy, CURLINFO_HTTP_VERSION, &version)
        // A server may announce any length, whose sums would overflow.
        (announced, canPause) = (min(length, 1 << 40), version != Int(CURL_HTTP_VERSION_2_0))
    }

    /// Whether the body may have this length. If not, the write callback pauses the transfer, or ends it.
    mutating func admits(_ length: Int, of transfer: Transfer.ID, _ easy: UnsafeMutableRawPointer) -> Bool {
        if budget.admits(max(length, announced), of: transfer, canPause: canPause) { return true }
        if !canPause { return false }
        paused = paused ?? .now
        sleeve_setopt_long(easy, CURLOPT_TIMEOUT_MS, 0)
        return false
    }

    /// The transfer is about to be resumed.
    mutating func resume(_ easy: UnsafeMutableRawPointer) {
        guard let began = paused.take() else { return }
        waited += .now - began
        sleeve_setopt_long(easy, CURLOPT_TIMEOUT_MS, (timeout + waited).inMilliseconds)
    }

    /// The transfer has ended.
    func end(_ transfer: Transfer.ID) { budget.end(transfer) }
}
