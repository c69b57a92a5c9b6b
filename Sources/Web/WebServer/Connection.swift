import CMicroHTTPD
import Dispatch
import Platform
import Synchronization

/// A client's connection, as those see it who watch it.
final class Connection: Sendable {
    struct State {
        var progress: ConnectionProgress
        var phase = ConnectionProgress.Phase.idle
        var answered = 0
        /// Bytes of bodies from the client.
        var received = 0
        /// Bytes of streams that were handed to the system.
        var sent = 0
        /// The request that is in progress.
        var exchange: Exchange?
        /// The client may send more than is read.
        var lingers = false
        /// The client had closed its side at the last look.
        var hadEnded = false
    }

    let socket: Int32
    let state: Mutex<State>

    init(socket: Int32, _ timeouts: ConnectionTimeouts) {
        self.socket = socket
        state = Mutex(State(progress: ConnectionProgress(timeouts, at: .now)))
    }

    /// Whether the client has made no progress for too long.
    func isStalled(at now: ContinuousClock.Instant) -> Bool {
        let unsent = Int(sleeve_unsent(socket))
        return state.withLock { state in
            let observed = ConnectionProgress.Observation(
                phase: state.phase, answered: state.answered, received: state.received, sent: state.sent - unsent,
                unsent: unsent)
            return state.progress.isStalled(observed, at: now)
        }
    }

    /// Whether the client has closed its side, and libmicrohttpd, which misses an end that comes with the last bytes, has had time to see it.
    func hasEnded() -> Bool {
        let hasEnded = sleeve_has_ended(socket) != 0
        return state.withLock { state in
            defer { state.hadEnded = hasEnded }
            return hasEnded && state.hadEnded
        }
    }
}

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

/// The connections of a server, and a thread that looks at them several times a second: for clients that have left while their request is answered,
/// which libmicrohttpd does not see; for those that make no progress; and for closed connections whose last response is still on its way.
final class ConnectionWatch: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        /// Sockets of closed connections: the ends of those of libmicrohttpd.
        var lingering: [(socket: Int32, until: ContinuousClock.Instant)] = []
        var isRunning = false
        var isClosed = false
    }

    /// Closing a socket while its client still sends could cost the client the response (RFC 9112 section 9.6).
    private static let lingering = Duration.seconds(2)
    private static let mostLingering = 64

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)
    private let interval: Duration

    init(_ timeouts: ConnectionTimeouts) {
        interval = max(.milliseconds(1), min(.milliseconds(100), min(timeouts.idle, timeouts.stall) / 8))
    }

    var count: Int { state.withLock { $0.connections.count } }
    var lingeringCount: Int { state.withLock { $0.lingering.count } }

    func add(_ connection: Connection) {
        let mustStart = state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = connection
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { WorkThread.start { [self] in run() } }
    }

    /// The socket of `connection` is closed when this returns.
    func remove(_ connection: Connection) {
        state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = nil
            guard connection.state.withLock({ $0.lingers }), !state.isClosed else { return }
            let copy = dup(connection.socket)
            if copy < 0 { return }
            state.lingering.append((copy, .now + Self.lingering))
            // These descriptors are beside the limit of connections.
            if state.lingering.count > Self.mostLingering { Platform.close(state.lingering.removeFirst().socket) }
        }
    }

    /// Has all connections go on that wait for a response: a server with suspended connections cannot stop.
    func endAll() {
        for connection in state.withLock({ Array($0.connections.values) }) {
            connection.state.withLock { $0.exchange }?.leave()
        }
    }

    /// Ends the thread, and what lingers.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.signal()
    }

    private func run() {
        let nanoseconds = Int(interval / .nanoseconds(1))
        while true {
            let (hasEnded, left) = state.withLock { state in
                let now = ContinuousClock.now
                // Under the lock: no socket is closed while it is looked at.
                let left = state.connections.values.compactMap { Self.look(at: $0, now) }
                state.lingering.removeAll { Self.isOver($0.socket, $0.until, now, state.isClosed) }
                if state.isClosed || state.connections.isEmpty && state.lingering.isEmpty { state.isRunning = false }
                return (!state.isRunning, left)
            }
            for exchange in left { exchange.leave() }
            if hasEnded { return }
            _ = signal.wait(timeout: .now() + .nanoseconds(nanoseconds))
        }
    }

    /// Ends a connection whose client has left or makes no progress.
    /// - Returns: its request, which is given up.
    private static func look(at connection: Connection, _ now: ContinuousClock.Instant) -> Exchange? {
        let (exchange, phase) = connection.state.withLock { ($0.exchange, $0.phase) }
        // One that waits for its response is resumed; any other reads, or should.
        let hasLeft = connection.hasEnded() && (phase != .responding || exchange?.isSuspended == true)
        let isStalled = connection.isStalled(at: now)
        if isStalled || hasLeft && phase != .responding { shutdown(connection.socket, Int32(SHUT_RDWR)) }
        return hasLeft || isStalled ? exchange : nil
    }

    /// Discards what a client still sends. Closes the socket once the client has closed it, or after some time.
    private static func isOver(
        _ socket: Int32, _ end: ContinuousClock.Instant, _ now: ContinuousClock.Instant, _ isClosed: Bool
    ) -> Bool {
        let isOver = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
            for _ in 0..<16 {
                let count = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                if count > 0 { continue }
                return count == 0 || errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR
            }
            return false
        }
        guard isOver || now >= end || isClosed else { return false }
        Platform.close(socket)
        return true
    }
}
