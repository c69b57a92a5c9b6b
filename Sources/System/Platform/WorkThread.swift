/// Starts detached threads, for blocking work that must not run on Swift's cooperative pool.
package enum WorkThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new detached thread. The thread blocks every signal: the program's own threads handle them.
    ///
    /// If the system has no thread for a second, the process ends with a message: nothing else could run the work, or report an error.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var code = create(&attributes, work.toOpaque())
        for _ in 0..<20 where code != 0 {
            usleep(50_000)
            code = create(&attributes, work.toOpaque())
        }
        if code == 0 { return }
        let error = SystemError("cannot start a thread", number: code)
        let message = "sleeve: \(error); the system or `ulimit -u` allows too few\n"
        _ = Array(message.utf8).withUnsafeBytes { writeAll($0, to: STDERR_FILENO) }
        _exit(EXIT_FAILURE)
    }

    /// Runs blocking work on a new thread, and waits for it without blocking one of Swift's pool.
    package static func run<Value: Sendable, Failure>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withCheckedContinuation { (waiter: CheckedContinuation<Result<Value, Failure>, Never>) in
            start { waiter.resume(returning: Result(catching: body)) }
        }.get()
    }

    private static func create(_ attributes: inout pthread_attr_t, _ work: UnsafeMutableRawPointer) -> Int32 {
        #if os(Linux)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        return pthread_create(
            &thread, &attributes,
            {
                WorkThread.enter($0)
                return nil
            }, work)
    }

    private static func enter(_ argument: UnsafeMutableRawPointer?) {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
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
