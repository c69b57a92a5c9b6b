import Dispatch
import Platform
import Synchronization

/// Writes to a descriptor from a separate thread: a stalled reader, such as a pipe that is not read, blocks neither
/// transfers nor Swift's thread pool. The thread starts with the first write.
package final class BackgroundWriter: Sendable {
    private struct State {
        var pending: [UInt8] = []
        /// The number of bytes that the current write(2) has not finished.
        var writing = 0
        /// `errno` of a failed write. Later writes are discarded.
        var error: Int32?
        var hasThread = false
        /// The number of finished writes.
        var writes = 0
        var flushers: [DispatchSemaphore] = []
    }

    /// A reader that reads nothing for this long has stalled.
    private static let stallTime = DispatchTimeInterval.seconds(1)

    private let terminal: Terminal
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    package init(_ terminal: Terminal) { self.terminal = terminal }

    /// The number of bytes that are not written yet.
    package var backlog: Int { state.withLock { $0.pending.count + $0.writing } }

    /// The system's text for a failed write; nil if none failed.
    package var error: String? { state.withLock { $0.error }.map { String(cString: strerror($0)) } }

    /// Queues the bytes without waiting.
    package func write(_ bytes: some Sequence<UInt8>) {
        let mustStart = state.withLock { state in
            if state.error != nil { return false }
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
            let error: Int32? = bytes.isEmpty || terminal.write(bytes) ? nil : errno
            let flushers = state.withLock { state in
                if error != nil { (state.error, state.pending) = (error, []) }
                state.writing = 0
                state.writes += 1
                guard state.pending.isEmpty else { return [DispatchSemaphore]() }
                defer { state.flushers = [] }
                return state.flushers
            }
            for flusher in flushers { flusher.signal() }
        }
    }

    /// Waits until everything is written. After a signal it does not wait for a stalled reader.
    /// - Parameter stalled: Called once if the reader stalls.
    /// - Returns: Whether everything was written.
    package func flush(stalled: () -> Void = {}) -> Bool {
        let done = DispatchSemaphore(value: 0)
        let isDone = state.withLock { state in
            if state.pending.isEmpty, state.writing == 0 { return true }
            state.flushers.append(done)
            return false
        }
        if isDone { return error == nil }
        var (writes, isReported) = (state.withLock { $0.writes }, false)
        while done.wait(timeout: .now() + Self.stallTime) == .timedOut {
            let now = state.withLock { $0.writes }
            defer { writes = now }
            guard now == writes else { continue }
            if Signals.received != nil { return false }
            if !isReported { stalled() }
            isReported = true
        }
        return error == nil
    }
}
