import CurlHTTP
import HeapModule

/// The time that callers give their requests. A request that joins another's transfer keeps its own.
extension DownloadScheduler {
    struct Deadline: Comparable {
        var time: ContinuousClock.Instant
        var job: JobID
        static func < (left: Deadline, right: Deadline) -> Bool { left.time < right.time }
    }

    /// Has an ask in the queue end in time.
    func note(deadlineOf ask: Ask) {
        guard let time = ask.deadline?.end, let job = queue.jobs.id(of: ask.url.string) else { return }
        deadlines.insert(Deadline(time: time, job: job))
    }

    /// Ends the asks whose time is over, whether they wait or are in flight, and the transfers without any other ask. A cover that has arrived
    /// is stored, and its ask ends with it.
    /// - Returns: when to call it next; nil for not at a certain time.
    func expire(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var (overdue, inFlight) = ([Ask](), [Job<Ask>]())
        while let next = deadlines.min, next.time <= now {
            deadlines.removeMin()
            let (asks, job) = queue.cancel(next.job) { $0.isOverdue(now) }
            overdue += asks
            if let job { inFlight.append(job) }
        }
        if !overdue.isEmpty { didCancel(inFlight) }
        for ask in overdue { ask.expire() }
        return deadlines.min?.time
    }

    /// Has the asks of a sink end soon: those that wait for their turn or for a retry now, and those in flight with the end of their transfers,
    /// which get this much time.
    package func windDown(_ sink: any OutcomeSink, within grace: Duration) {
        var closed: [Ask] = []
        for job in Array(queue.jobs.all) where job.requests.contains(where: { $0.sink === sink }) {
            if !job.hasTransfer {
                closed += queue.cancel(job.id) { $0.sink === sink }.requests
                continue
            }
            for ask in job.requests where ask.sink === sink {
                ask.retries = 0
                ask.wait(atMost: grace)
                note(deadlineOf: ask)
            }
        }
        if !closed.isEmpty { didCancel([]) }
        for ask in closed { ask.close() }
    }
}
