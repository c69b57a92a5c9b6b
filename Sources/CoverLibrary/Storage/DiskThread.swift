import Platform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A thread that may block on the disk, and the executor of the actor that does. Swift's cooperative pool never waits for it.
// because: everything mutable is behind `mutex`, but for `turn`, which only the thread itself touches.
final class DiskThread: SerialExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    private var isStopping = false
    private var thread: UInt = 0
    private var turn: ((ContinuousClock.Instant) -> ContinuousClock.Instant?)?
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        WorkThread.start { [self] in run() }
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustRestart = locked {
            jobs.append(job)
            // A job that comes after the end still has to run: somebody may be waiting for it.
            return isStopping && thread == 0
        }
        if mustRestart { WorkThread.start { [self] in run() } }
        pthread_cond_signal(condition)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    func checkIsolated() { precondition(isIsolatingCurrentContext() == true, "must run on the disk thread") }
    func isIsolatingCurrentContext() -> Bool? { locked { thread } == WorkThread.current }

    /// `body` is called after every batch of jobs and says when it wants the next call at the latest.
    func onTurn(_ body: @escaping (ContinuousClock.Instant) -> ContinuousClock.Instant?) {
        checkIsolated()
        turn = body
    }

    /// Lets the thread end once its jobs are done.
    func shutdown() {
        locked { isStopping = true }
        pthread_cond_signal(condition)
    }

    private func run() {
        guard
            locked({ () -> Bool in
                defer { if thread == 0 { thread = WorkThread.current } }
                return thread == 0
            })
        else { return }
        var batch: [UnownedJob] = []
        while true {
            let deadline = turn?(.now)
            pthread_mutex_lock(mutex)
            while jobs.isEmpty, !isStopping {
                if let deadline {
                    guard wait(until: deadline) else { break }
                } else {
                    pthread_cond_wait(condition, mutex)
                }
            }
            swap(&jobs, &batch)
            let isOver = batch.isEmpty && isStopping
            if isOver { thread = 0 }
            pthread_mutex_unlock(mutex)
            if isOver {
                turn = nil
                return
            }
            for job in batch { job.runSynchronously(on: asUnownedSerialExecutor()) }
            batch.removeAll(keepingCapacity: true)
        }
    }

    /// False when the time has come.
    private func wait(until deadline: ContinuousClock.Instant) -> Bool {
        let left = ContinuousClock.Instant.now.duration(to: deadline).components
        guard left.seconds >= 0, left.attoseconds > 0 || left.seconds > 0 else { return false }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let nanoseconds = Int(time.tv_nsec) + Int(left.attoseconds / 1_000_000_000)
        time.tv_sec += Int(left.seconds) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return pthread_cond_timedwait(condition, mutex, &time) == 0
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
