import CMicroHTTPD
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
