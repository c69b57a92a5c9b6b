import Platform
import Synchronization

/// Handles SIGINT, SIGTERM and SIGHUP: the first signal stops the work in order, the second one ends the process immediately.
///
/// A signal that was ignored when the process started stays ignored: nohup(1) ignores SIGHUP, and a shell script ignores SIGINT
/// and SIGQUIT in its background commands (POSIX, Shell Command Language 2.12).
package enum Signals {
    private struct State {
        var latest: Int32?
        var handlers: [@Sendable (Int32) -> Void] = []
    }

    private static let state = Mutex(State())

    /// Calls `first` when the first signal arrives, on a separate thread; immediately if one has arrived.
    package static func handle(first: @escaping @Sendable (Int32) -> Void) {
        let (received, isInstalled) = state.withLock { state in
            defer { state.handlers.append(first) }
            return (state.latest, !state.handlers.isEmpty)
        }
        if let received { first(received) }
        if !isInstalled { install() }
    }

    private static func install() {
        _ = SignalWatch.begin([SIGINT, SIGTERM, SIGHUP], endsWithFirst: false) { number in
            let handlers = state.withLock { state in
                defer { state.latest = number }
                return state.latest == nil ? state.handlers : nil
            }
            guard let handlers else { _exit(128 + number) }
            for handler in handlers { handler(number) }
        }
    }

    /// Makes signals end the first process of a container, where the kernel discards those that have no handler (pid_namespaces(7)). `handle`
    /// replaces these handlers.
    package static func endFirstProcess() {
        guard getpid() == 1 else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { signal(number) { _exit(128 + $0) } }
    }

    /// The signals that arrive after this call, for servers.
    package static func stream() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        handle { continuation.yield($0) }
        return stream
    }

    /// Whether the process ignores a signal.
    package static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        #if os(Linux)
            let handler = action.__sigaction_handler.sa_handler
        #else
            let handler = action.__sigaction_u.__sa_handler
        #endif
        // Function pointers are not comparable; SIG_IGN is the address 1.
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// The latest signal; nil if none has arrived.
    package static var received: Int32? { state.withLock { $0.latest } }
}
