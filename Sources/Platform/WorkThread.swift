/// Starts detached threads, for blocking work that must not run on Swift's cooperative pool.
package enum WorkThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new detached thread. The thread blocks every signal: the program's own threads handle them.
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

    /// The current thread's number: unique among the threads that are alive, never 0.
    package static var current: UInt {
        #if os(Linux)
            pthread_self()
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }
}
