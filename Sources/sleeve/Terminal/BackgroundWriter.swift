import CurlHTTP
import Dispatch
import Synchronization

/// Writes to a descriptor from a thread of its own: a reader that stalls, such as a pipe nobody reads, blocks neither transfers
/// nor Swift's thread pool. The thread starts with the first write.
final class BackgroundWriter: Sendable {
    private struct State {
        var pending: [UInt8] = []
        /// Bytes handed to the system and not taken yet.
        var writing = 0
        /// The descriptor takes no more.
        var isBroken = false
        var hasThread = false
        /// Finished writes.
        var writes = 0
        var flushers: [DispatchSemaphore] = []
    }

    /// With a signal received, a reader that has taken nothing for this long is not waited for.
    private static let patienceAfterSignal = DispatchTimeInterval.seconds(1)

    private let terminal: Terminal
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    init(_ terminal: Terminal) { self.terminal = terminal }

    /// Bytes that the reader has not taken yet.
    var backlog: Int { state.withLock { $0.pending.count + $0.writing } }

    var isBroken: Bool { state.withLock { $0.isBroken } }

    /// Returns at once.
    func write(_ bytes: some Sequence<UInt8>) {
        let mustStart = state.withLock { state in
            if state.isBroken { return false }
            state.pending += bytes
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if mustStart { WorkThread.start { [self] in run() } }
        wake.signal()
    }

    private func run() {
        while true {
            wake.wait()
            let bytes = state.withLock { state in
                defer { state.pending = [] }
                state.writing = state.pending.count
                return state.pending
            }
            let isWritten = bytes.isEmpty || terminal.write(bytes)
            let flushers = state.withLock { state in
                if !isWritten { (state.isBroken, state.pending) = (true, []) }
                state.writing = 0
                state.writes += 1
                guard state.pending.isEmpty else { return [DispatchSemaphore]() }
                defer { state.flushers = [] }
                return state.flushers
            }
            for flusher in flushers { flusher.signal() }
        }
    }

    /// Waits until everything is written. After a signal a reader that has stalled is given up.
    /// - Returns: false when not everything was taken.
    func flush() -> Bool {
        let done = DispatchSemaphore(value: 0)
        let isDone = state.withLock { state in
            if state.pending.isEmpty, state.writing == 0 { return true }
            state.flushers.append(done)
            return false
        }
        if isDone { return !isBroken }
        var writes = -1
        while done.wait(timeout: .now() + Self.patienceAfterSignal) == .timedOut {
            let now = state.withLock { $0.writes }
            if now == writes, Signals.received != nil { return false }
            writes = now
        }
        return !isBroken
    }
}
