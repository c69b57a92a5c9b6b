/// How long a client may make no progress.
package struct ConnectionTimeouts: Sendable {
    /// Between requests. A request's head must be complete in this time.
    let idle: Duration
    /// While a client sends a body or takes a response.
    let stall: Duration

    package init(idle: Duration = .seconds(60), stall: Duration = .seconds(30)) {
        self.idle = idle
        self.stall = stall
    }
}

/// Tells a client that makes no progress from one that is slow, and from one that waits for the server.
struct ConnectionProgress {
    enum Phase {
        /// Between requests, or within the head of one.
        case idle
        /// A request's body is not complete.
        case receiving
        /// Complete requests are not answered.
        case responding
    }

    struct Observation {
        var phase = Phase.idle
        /// Responses that were written.
        var answered = 0
        /// Bytes that arrived from the client.
        var received = 0
        /// Bytes that the kernel has taken for the client.
        var sent = 0
        /// Bytes that wait until the kernel takes them.
        var unsent = 0
    }

    /// A body of which less arrives within the timeout has stalled, in bytes.
    static let minimumReceived = 1_024

    private let timeouts: ConnectionTimeouts
    private var last = Observation()
    private var progressed: ContinuousClock.Instant

    init(_ timeouts: ConnectionTimeouts, at now: ContinuousClock.Instant) {
        self.timeouts = timeouts
        progressed = now
    }

    /// Whether the client has made no progress for too long.
    mutating func isStalled(_ observed: Observation, at now: ContinuousClock.Instant) -> Bool {
        let hasReceived =
            observed.phase == .receiving && observed.received - last.received >= Self.minimumReceived
        let hasMoved =
            hasReceived || observed.phase != last.phase || observed.answered != last.answered
            || observed.sent != last.sent
        let waitsForServer = observed.phase == .responding && observed.unsent == 0
        if hasMoved || waitsForServer {
            last = observed
            progressed = now
            return false
        }
        let limit = observed.phase == .idle && observed.unsent == 0 ? timeouts.idle : timeouts.stall
        return now - progressed >= limit
    }
}
