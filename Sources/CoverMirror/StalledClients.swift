import Synchronization

/// Disconnects clients that take nothing of a response that is streamed to them: such a client holds a transfer from the origin.
final class StalledClients: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Write {
        var start: Instant
        var disconnect: @Sendable () -> Void
    }

    private struct State {
        var writes: [Int: Write] = [:]
        var count = 0
    }

    private let timeout: Duration
    private let clock: @Sendable () -> Instant
    private let state = Mutex(State())

    /// - Parameter timeout: how long one write may wait for the client.
    init(timeout: Duration, clock: @escaping @Sendable () -> Instant) {
        self.timeout = timeout
        self.clock = clock
    }

    /// When the write began that has waited longest; nil if no write waits.
    var oldestWrite: Instant? { state.withLock { $0.writes.values.lazy.map(\.start).min() } }

    /// Calls `disconnect` if `write` takes longer than the timeout.
    func watch(
        disconnect: @escaping @Sendable () -> Void, writing write: () async throws -> Void
    ) async throws {
        let id = state.withLock { state in
            state.count += 1
            state.writes[state.count] = Write(start: clock(), disconnect: disconnect)
            return state.count
        }
        defer { state.withLock { _ = $0.writes.removeValue(forKey: id) } }
        try await write()
    }

    /// Disconnects the clients whose writes have waited too long.
    func disconnectAll() {
        let latest = clock() - timeout
        let stalled = state.withLock { state in
            let stalled = state.writes.filter { $0.value.start <= latest }
            for id in stalled.keys { state.writes[id] = nil }
            return stalled.values
        }
        for write in stalled { write.disconnect() }
    }
}
