#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A thread of our own, for work that must not sit on Swift's cooperative pool.
package enum WorkThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new detached thread with every signal blocked: signals are the program's, not ours.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        #if os(Linux)
            var thread = pthread_t()
            let code = pthread_create(
                &thread, &attributes,
                { argument in
                    WorkThread.enter(argument!)
                    return nil
                }, work.toOpaque())
        #else
            var thread: pthread_t?
            let code = pthread_create(
                &thread, &attributes,
                { argument in
                    WorkThread.enter(argument)
                    return nil
                }, work.toOpaque())
        #endif
        precondition(code == 0, "cannot start a thread: error \(code)")
    }

    private static func enter(_ argument: UnsafeMutableRawPointer) {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        work.body()
    }

    /// A number that tells threads alive at the same time apart; never 0.
    package static var current: UInt {
        #if os(Linux)
            pthread_self()
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
