import Dispatch
public import Foundation
import Synchronization

/// Runs `body` to its end; a signal cancels it before, and so does cancelling the caller's task. The signal's former action is back once one has
/// arrived, or the call returns: the next signal ends the program, unless that has an action of its own. A signal that is ignored stays so.
///
/// ```swift
/// let run = library.prefetch(urls)
/// let summary = try await withGracefulInterruption { try await run.summary() }
/// await library.close()
/// if summary.isCancelled, let total = run.total { print("\(total - summary.settled) are left for the next run") }
/// ```
/// - Parameters:
///   - signals: Their numbers. Those of no signal, and those that cannot be caught, are left out.
///   - body: Runs in a task of its own.
/// - Returns: What `body` returns. - Throws: What `body` throws.
public func withGracefulInterruption<Result: Sendable>(
    by signals: [Int32] = [SIGINT, SIGTERM], _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let (interrupts, interrupt) = AsyncStream.makeStream(of: Void.self)
    let call = Interrupts.begin(signals) { interrupt.yield() }
    defer { Interrupts.end(call) }
    let task = Task(operation: body)
    let watch = Task { for await _ in interrupts { task.cancel() } }
    defer { watch.cancel() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}

/// The signals that calls wait for. Their handler writes a number to a pipe, as signal-safety(7) allows. A signal source of libdispatch would
/// leave its own handler behind, and the signal blocked on the thread that got it.
private enum Interrupts {
    private struct State {
        var calls: [Int: (signals: Set<Int32>, interrupt: @Sendable () -> Void)] = [:]
        var next = 0
        /// The actions of those signals that have the handler.
        var former: [Int32: sigaction] = [:]
        var reader: (any DispatchSourceRead)?

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

    static func begin(_ signals: [Int32], _ interrupt: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            if state.reader == nil { state.reader = openPipe() }
            state.next += 1
            state.calls[state.next] = (Set(signals), interrupt)
            for number in signals where state.former[number] == nil && state.reader != nil {
                var former = sigaction()
                guard sigaction(number, nil, &former) == 0 else { continue }
                let action = signal(number) { number in
                    let error = errno
                    defer { errno = error }
                    var byte = UInt8(truncatingIfNeeded: number)
                    _ = write(Interrupts.writer.load(ordering: .relaxed), &byte, 1)
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

    static func end(_ call: Int) {
        state.withLock { state in
            state.calls[call] = nil
            state.putBack()
        }
    }

    private static func openPipe() -> (any DispatchSourceRead)? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        writer.store(ends[1], ordering: .sequentiallyConsistent)
        let source = DispatchSource.makeReadSource(fileDescriptor: ends[0])
        source.setEventHandler { [descriptor = ends[0]] in
            var byte: UInt8 = 0
            while read(descriptor, &byte, 1) == 1 { received(Int32(byte)) }
        }
        source.activate()
        return source
    }

    private static func received(_ number: Int32) {
        let interrupted = state.withLock { state in
            let found = state.calls.filter { $0.value.signals.contains(number) }
            for call in found.keys { state.calls[call] = nil }
            state.putBack()
            return found.values.map(\.interrupt)
        }
        for interrupt in interrupted { interrupt() }
    }
}
