import Synchronization

/// The signals that calls wait for. Their handler writes a number to a pipe, as signal-safety(7) allows. A signal source of libdispatch would
/// leave its own handler behind, and the signal blocked on the thread that got it; and the runtime's main loop unblocks what is blocked.
///
/// A signal that is ignored stays so: nohup(1) ignores SIGHUP, and a shell script ignores SIGINT and SIGQUIT in its background commands (POSIX,
/// Shell Command Language 2.12).
package enum SignalWatch {
    private struct Call {
        var signals: Set<Int32>
        var endsWithFirst: Bool
        var received: @Sendable (Int32) -> Void
    }

    private struct State {
        var calls: [Int: Call] = [:]
        var next = 0
        /// The actions of those signals that have the handler.
        var former: [Int32: sigaction] = [:]

        /// Puts back the former actions of signals for which no call waits.
        mutating func putBack() {
            let awaited = calls.values.reduce(into: Set<Int32>()) { $0.formUnion($1.signals) }
            for (number, action) in former where !awaited.contains(number) {
                var action = action
                sigaction(number, &action, nil)
                former[number] = nil
            }
        }
    }

    private static let state = Mutex(State())
    private static let writer = Atomic<Int32>(-1)

    /// Calls `received` when a signal arrives, on a separate thread, until `end`.
    /// - Parameters:
    ///   - signals: their numbers. Those of no signal, and those that cannot be caught, are left out.
    ///   - endsWithFirst: The call ends with the first signal: the next one has its former action.
    /// - Returns: what `end` takes.
    package static func begin(
        _ signals: [Int32], endsWithFirst: Bool, _ received: @escaping @Sendable (Int32) -> Void
    ) -> Int {
        state.withLock { state in
            state.next += 1
            guard openPipe() else { return state.next }
            state.calls[state.next] = Call(signals: Set(signals), endsWithFirst: endsWithFirst, received: received)
            for number in signals where state.former[number] == nil {
                var former = sigaction()
                guard sigaction(number, nil, &former) == 0 else { continue }
                let action = signal(number) { number in
                    let error = errno
                    defer { errno = error }
                    var byte = UInt8(truncatingIfNeeded: number)
                    _ = write(SignalWatch.writer.load(ordering: .relaxed), &byte, 1)
                }
                // SIG_ERR is the address -1, SIG_IGN 1.
                switch unsafeBitCast(action, to: Int.self) {
                case -1: break
                case 1: sigaction(number, &former, nil)
                default: state.former[number] = former
                }
            }
            return state.next
        }
    }

    package static func end(_ call: Int) {
        state.withLock { state in
            state.calls[call] = nil
            state.putBack()
        }
    }

    /// Opens the pipe and starts its reader, once. Returns false if no descriptor is left.
    private static func openPipe() -> Bool {
        if writer.load(ordering: .relaxed) >= 0 { return true }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A handler must not wait.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        writer.store(ends[1], ordering: .sequentiallyConsistent)
        let reader = ends[0]
        WorkThread.start {
            var number: UInt8 = 0
            while true {
                if read(reader, &number, 1) == 1 { took(Int32(number)) } else if errno != EINTR { return }
            }
        }
        return true
    }

    private static func took(_ number: Int32) {
        let found = state.withLock { state in
            let found = state.calls.filter { $0.value.signals.contains(number) }
            for (id, call) in found where call.endsWithFirst { state.calls[id] = nil }
            state.putBack()
            return found.values.map(\.received)
        }
        for received in found { received(number) }
    }
}
