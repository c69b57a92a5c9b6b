package import Platform
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One thread that runs libcurl, and the executor of every actor that talks to it.
///
/// libcurl's rule is one thread per multi handle. Actors that name this loop as their executor keep that rule at compile
/// time, and calls between them cost no hop. Nothing here may block.
// because: `multi` and `turn` are touched by the loop's own thread alone; everything else is atomic or behind a mutex.
package final class CurlEventLoop: SerialExecutor, @unchecked Sendable {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var isWoken = false
        var isStopping = false
        var hasStopped = false
    }

    private let inbox = Mutex(Inbox())
    /// The thread that jobs run on now; 0 when none does.
    private let thread = Atomic<UInt>(0)
    /// One late job at a time.
    private let late = Mutex(())
    private let wakeReader: Int32
    private let wakeWriter: Int32
    private var multi: CurlMulti?
    private var plain: PlainHTTP?
    private var turn: ((ContinuousClock.Instant) -> ContinuousClock.Instant?)?

    /// - Throws: `SystemError`: no descriptor is left.
    package init(configuration: HTTPClientConfiguration) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe") }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
        let multi: CurlMulti
        do throws(SystemError) {
            multi = try CurlMulti(configuration: configuration)
        } catch {
            for end in ends { close(end) }
            throw error
        }
        multi.watch(.read, on: wakeReader)
        self.multi = multi
        let plain = PlainHTTP(configuration, multi) { [unowned self] in handOver($0) }
        multi.met = { [unowned self] in met($0, at: $1) }
        self.plain = plain
        WorkThread.start { [self] in run() }
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (mustWake, isLate) = inbox.withLock { inbox in
            if inbox.hasStopped { return (false, true) }
            inbox.jobs.append(job)
            defer { inbox.isWoken = true }
            return (!inbox.isWoken, false)
        }
        if isLate { runLate(job) } else if mustWake { wake() }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    // Without these two `assumeIsolated` traps on Linux.
    package func checkIsolated() { precondition(isCurrent, "must run on the curl event loop") }
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private var isCurrent: Bool { thread.load(ordering: .relaxed) == WorkThread.current }

    /// Ends every transfer as cancelled, and the thread with it. Returns at once; calling it again does nothing.
    package func shutdown() {
        inbox.withLock { $0.isStopping = true }
        wake()
    }

    private func wake() {
        var byte: UInt8 = 1
        _ = write(wakeWriter, &byte, 1)
    }

    /// A job that comes after the thread has ended still has to run, and alone: somebody may be waiting for it.
    private func runLate(_ job: UnownedJob) {
        WorkThread.start { [self] in
            late.withLock { _ in
                thread.store(WorkThread.current, ordering: .relaxed)
                job.runSynchronously(on: asUnownedSerialExecutor())
                thread.store(0, ordering: .relaxed)
            }
        }
    }

    // MARK: For the actors on this loop

    /// `body` is called once in every turn of the loop, after jobs and transfers, and says when it wants the next call at
    /// the latest.
    package func onTurn(_ body: @escaping (ContinuousClock.Instant) -> ContinuousClock.Instant?) {
        checkIsolated()
        turn = body
    }

    /// Starts a request with libcurl; nil after `shutdown`. It ends from the loop, never from within this call.
    func start(_ request: TransferRequest, completion: @escaping Transfer.Completion) -> Transfer? {
        checkIsolated()
        guard let multi, let plain else { return nil }
        let transfer = multi.takeIdle()
        transfer.prepare(request, keepsConnection: !plain.takesNext(after: request), completion: completion)
        multi.add(transfer)
        return transfer
    }

    /// Starts a request without libcurl; nil: it takes libcurl, or the loop has ended.
    func startPlain(_ request: TransferRequest, completion: @escaping Transfer.Completion) -> PlainExchange? {
        checkIsolated()
        return plain?.start(request, completion: completion)
    }

    func start(_ pipeline: Pipeline, for taker: any PipelineTaker) -> PipelineStart {
        checkIsolated()
        return plain?.start(pipeline, for: taker) ?? .refused
    }

    func cancel(_ pipeline: Pipeline) {
        checkIsolated()
        plain?.cancel(pipeline)
    }

    /// A server's address has been found out.
    func met(_ url: HTTPURL, at address: String) {
        checkIsolated()
        plain?.met(url, at: address)
    }

    /// What cannot be read without libcurl begins again with it.
    private func handOver(_ exchange: PlainExchange) {
        guard let completion = exchange.completion else { return }
        guard let transfer = start(exchange.request, completion: completion) else { return exchange.cancel() }
        exchange.drop()
        exchange.transfer = (transfer, transfer.use)
    }

    func cancel(_ exchange: PlainExchange) {
        checkIsolated()
        plain?.cancel(exchange)
    }

    /// Takes `transfer` off without ending it. May block while libcurl waits for a name look-up.
    func remove(_ transfer: Transfer) {
        checkIsolated()
        multi?.remove(transfer)
    }

    // MARK: The loop

    private func run() {
        thread.store(WorkThread.current, ordering: .relaxed)
        guard let multi, let plain else { return }
        var jobs: [UnownedJob] = []
        var events: [Poller.Event] = []
        while true {
            let isStopping = inbox.withLock { inbox in
                swap(&inbox.jobs, &jobs)
                return inbox.isStopping
            }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            jobs.removeAll(keepingCapacity: true)
            if isStopping { break }

            let deadline = turn?(.now)
            // Transfers just added are due at once: libcurl sends their requests before we wait.
            let hasLost = plain.flush()
            multi.actOnTimer()
            // A short answer may have come back already; nothing would wake us for it.
            if multi.finishEnded() || hasLost { continue }
            multi.wait(milliseconds: waitingTime(deadline, multi.deadline, plain.deadline), into: &events)
            // All that has come is read before anything new is asked for: taking turns with the server for every single
            // cover costs more in switching than it gains.
            for event in events {
                if event.socket == wakeReader { drainWake() } else if !plain.act(on: event) { multi.act(on: event) }
            }
            plain.check()
            multi.actOnTimer()
            _ = multi.finishEnded()
        }
        stop(multi, plain)
    }

    private func waitingTime(_ deadlines: ContinuousClock.Instant?...) -> Int32 {
        if inbox.withLock({ !$0.jobs.isEmpty }) { return 0 }
        guard let soonest = deadlines.compactMap({ $0 }).min() else { return -1 }
        let left = ContinuousClock.Instant.now.duration(to: soonest)
        if left <= .zero { return 0 }
        // Rounded up: waking a moment early would spin.
        return Int32(clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }

    private func drainWake() {
        var bytes: UInt64 = 0
        _ = read(wakeReader, &bytes, 8)
        inbox.withLock { $0.isWoken = false }
    }

    private func stop(_ multi: CurlMulti, _ plain: PlainHTTP) {
        turn = nil
        (self.multi, self.plain) = (nil, nil)
        let exchanges = plain.removeAll()
        let endings = multi.removeAll().map { $0.cancel() }
        multi.close()
        for ending in endings { ending() }
        for exchange in exchanges { exchange.cancel() }
        thread.store(0, ordering: .relaxed)
        let jobs = inbox.withLock { inbox in
            defer { inbox.jobs = [] }
            inbox.hasStopped = true
            return inbox.jobs
        }
        for job in jobs { runLate(job) }
    }
}
