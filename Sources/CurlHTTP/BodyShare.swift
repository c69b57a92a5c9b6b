import CCurl

/// A transfer's share of the memory for bodies. Without room for its body the transfer is paused, which extends its time limit:
/// libcurl counts pauses in it.
struct BodyShare {
    private let budget: BodyBudget
    private let timeout: Duration
    /// The announced length of the body, in bytes; 0 if unknown.
    private var announced = 0
    private var canWait = true
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
        (announced, canWait) = (length, version != Int(CURL_HTTP_VERSION_2_0))
    }

    /// Whether the body may have this length. If not, the write callback pauses the transfer.
    mutating func admits(_ length: Int, of transfer: Transfer.ID, _ easy: UnsafeMutableRawPointer) -> Bool {
        if budget.admits(max(length, announced), of: transfer, canWait: canWait) { return true }
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
