import CurlHTTP
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// SIGINT, SIGTERM and SIGHUP as a person expects them: the first one ends the work in order, the second one ends it at once.
///
/// The handler writes the signal's number into a pipe, which is all that a handler may do (signal-safety(7)). Blocking the
/// signals and waiting for them would be simpler, but the runtime's main loop unblocks them.
enum Signals {
    private static let caught = Mutex<Int32?>(nil)
    private static let writer = Atomic<Int32>(-1)

    /// Calls `first` when one of them arrives, from a thread of its own.
    static func handle(first: @escaping @Sendable (Int32) -> Void) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        writer.store(ends[1], ordering: .sequentiallyConsistent)
        let reader = ends[0]
        WorkThread.start {
            var number: UInt8 = 0
            while true {
                guard read(reader, &number, 1) == 1 else { continue }
                let signal = Int32(number)
                let isFirst = caught.withLock { caught in
                    defer { caught = signal }
                    return caught == nil
                }
                if !isFirst { _exit(128 + signal) }
                first(signal)
            }
        }
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Signals.writer.load(ordering: .relaxed), &byte, 1)
            }
        }
    }

    /// The first one, for commands that do nothing but wait for it. They are caught from this call on.
    static func stream() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        handle { continuation.yield($0) }
        return stream
    }

    /// The one that arrived, if any.
    static var received: Int32? { caught.withLock { $0 } }
}
