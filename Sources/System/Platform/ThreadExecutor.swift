import Dispatch
import Synchronization

/// A serial executor with a thread, for actors whose work must not run on Swift's cooperative pool.
///
/// The thread starts with the first job and ends after `shutdown()`. A job that is enqueued later runs on a new thread, so no
/// caller waits for ever. Subclasses wait for other events between jobs.
// because: only the thread touches `turn` and what subclasses add; everything else is atomic or behind a mutex.
open class ThreadExecutor: SerialExecutor, @unchecked Sendable {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var isRunning = false
        var isAwake = false
        var isStopping = false
    }

    private let inbox = Mutex(Inbox())
    /// The thread that runs jobs now; 0 for none.
    private let thread = Atomic<UInt>(0)
    private let signal = DispatchSemaphore(value: 0)
    private var turn: ((ContinuousClock.Instant) -> ContinuousClock.Instant?)?
    private var hasStopped = false

    package init() {}

    // MARK: SerialExecutor

    /// Runs the job on the thread, and starts it if necessary.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        resume { $0.jobs.append(job) }
    }

    /// A reference that Swift's runtime uses.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Traps unless the caller runs on the thread. `assumeIsolated` needs it on Linux.
    public func checkIsolated() { precondition(isCurrent, "must run on the executor's thread") }
    /// Whether the caller runs on the thread.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private var isCurrent: Bool { thread.load(ordering: .relaxed) == WorkThread.current }

    // MARK: For the actors on this thread

    /// Calls `body` in every turn of the thread, after the jobs. It returns the latest time for the next call; nil for none.
    package func onTurn(_ body: @escaping (ContinuousClock.Instant) -> ContinuousClock.Instant?) {
        checkIsolated()
        turn = body
    }

    /// Ends the thread once its jobs have run. Returns immediately; a second call does nothing. If no thread runs, none is started:
    /// the caller's calls `stop()`.
    package func shutdown() {
        let (mustRun, mustWake) = inbox.withLock { inbox in
            if inbox.isStopping { return (false, false) }
            defer { (inbox.isStopping, inbox.isRunning, inbox.isAwake) = (true, true, true) }
            return (!inbox.isRunning, !inbox.isAwake)
        }
        if mustRun { run() } else if mustWake { wake() }
    }

    /// Whether jobs are waiting. For subclasses that decide how long to wait.
    package var hasJobs: Bool { inbox.withLock { !$0.jobs.isEmpty } }

    // MARK: For subclasses

    /// Handles events, and waits for more until `deadline` or `wake`. Runs on the thread.
    open func waitForEvents(until deadline: ContinuousClock.Instant?) {
        guard let deadline else { return signal.wait() }
        let left = max(.zero, ContinuousClock.Instant.now.duration(to: deadline)).components
        _ = signal.wait(timeout: .now() + Double(left.seconds) + Double(left.attoseconds) * 1e-18)
    }

    /// Makes `waitForEvents` return. Called from any thread.
    open func wake() { signal.signal() }

    /// Releases what the subclass holds. Runs once, on the thread, after the last turn.
    open func stop() {}

    // MARK: The thread

    private func resume(_ change: (inout Inbox) -> Void) {
        let (mustStart, mustWake) = inbox.withLock { inbox in
            change(&inbox)
            defer { (inbox.isRunning, inbox.isAwake) = (true, true) }
            return (!inbox.isRunning, !inbox.isAwake)
        }
        if mustStart { WorkThread.start { [self] in run() } } else if mustWake { wake() }
    }

    private func run() {
        thread.store(WorkThread.current, ordering: .relaxed)
        var jobs: [UnownedJob] = []
        while true {
            let isStopping = inbox.withLock { inbox in
                swap(&inbox.jobs, &jobs)
                inbox.isAwake = false
                return inbox.isStopping
            }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            jobs.removeAll(keepingCapacity: true)
            if isStopping {
                if !hasStopped {
                    hasStopped = true
                    turn = nil
                    stop()
                }
                if endThread() { return }
            } else {
                waitForEvents(until: turn?(.now))
            }
        }
    }

    /// Returns false if jobs have come meanwhile.
    private func endThread() -> Bool {
        inbox.withLock { inbox in
            guard inbox.jobs.isEmpty else { return false }
            thread.store(0, ordering: .relaxed)
            inbox.isRunning = false
            return true
        }
    }
}

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
