import CurlHTTP
import Platform

/// The time that callers give their requests. A request that joins another's transfer keeps its own.
extension DownloadScheduler {
    /// Has an ask in the queue end in time.
    func note(deadlineOf ask: Ask) {
        guard let time = ask.deadline?.end, let job = queue.jobs.id(of: ask.url.string) else { return }
        deadlines.insert(Timed(time: time, event: job))
        endVainAsks(of: job, .now)
    }

    /// Ends the asks whose time is over, whether they wait or are in flight, and the transfers without any other ask. A cover that has arrived
    /// is stored, and its ask ends with it.
    /// - Returns: when to call it next; nil for not at a certain time.
    func expire(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var (overdue, inFlight) = ([(Ask, CoverFailure?, isInFlight: Bool)](), [Job<Ask>]())
        while let next = deadlines.min, next.time <= now {
            deadlines.removeMin()
            guard queue.jobs.contains(next.event) else { continue }
            let isInFlight = queue.jobs[next.event].hasTransfer
            let failure = isInFlight ? queue.jobs[next.event].state.failure : waiting(next.event, now).failure
            let (asks, job) = queue.cancel(next.event) { $0.isOverdue(now) }
            overdue += asks.map { ($0, failure, isInFlight) }
            if let job { inFlight.append(job) }
        }
        if !overdue.isEmpty { didCancel(inFlight) }
        for (ask, failure, isInFlight) in overdue {
            if let failure = ask.expire(after: failure, isInFlight: isInFlight) { report(.expired(failure)) }
        }
        return deadlines.min?.time
    }

    // MARK: Attempts that would be too late

    /// What is known of a job without a transfer: when the next one may start at the earliest, nil for when it is its turn, and why there is no
    /// cover yet: its own last failure, or that its host is left alone.
    private func waiting(_ job: JobID, _ now: ContinuousClock.Instant) -> (
        start: ContinuousClock.Instant?, failure: CoverFailure?
    ) {
        let untried = queue.notTried(job, now)
        var failure = queue.jobs[job].state.failure ?? untried
        let pause = untried?.retryAfter.map { now + $0 }
        let start = [queue.jobs[job].retriesAt.flatMap { $0 > now ? $0 : nil }, pause].compactMap(\.self).max()
        let isAsked = failure?.retryAfter != nil || untried != nil
        failure?.retryAfter = isAsked ? start.map { $0 - now } : nil
        return (start, failure)
    }

    /// Ends the asks of a waiting job whose time is over before its next transfer may start: there is nothing to wait for. An ask with another
    /// address moves to it.
    func endVainAsks(of job: JobID, _ now: ContinuousClock.Instant) {
        guard !deadlines.isEmpty, queue.jobs.contains(job), !queue.jobs[job].hasTransfer,
            case let (start?, failure?) = waiting(job, now)
        else { return }
        let asks = queue.cancel(job) { $0.isOverdue(start) }.requests
        let moved = asks.filter { !$0.giveUp(after: failure) }
        for _ in moved.count..<asks.count { report(.expired(failure)) }
        add(moved)
    }

    /// The same for all jobs of the host of `job`, if the host is to be left alone for longer after `change`.
    func endVainAsks(hostOf job: JobID, _ now: ContinuousClock.Instant, after change: () -> Void) {
        if deadlines.isEmpty { return change() }
        let before = queue.pause(hostOf: job, now)
        change()
        guard let end = queue.pause(hostOf: job, now), before.map({ $0 < end }) ?? true else { return }
        let host = queue.host(of: job)
        for deadline in deadlines.unordered where deadline.time <= end && queue.host(of: deadline.event) == host {
            endVainAsks(of: deadline.event, now)
        }
    }

    /// Has the asks of a sink end soon: those that wait for their turn or for a retry now, and those in flight with the end of their transfers,
    /// which get this much time.
    package func windDown(_ sink: any OutcomeSink, within grace: Duration) {
        var closed: [Ask] = []
        for job in Array(queue.jobs.all) {
            let asks = queue.jobs[job].requests.filter { $0.sink === sink }
            if !queue.jobs[job].hasTransfer {
                closed += queue.cancel(job) { $0.sink === sink }.requests
                continue
            }
            for ask in asks {
                ask.close(within: grace)
                note(deadlineOf: ask)
            }
        }
        if !closed.isEmpty { didCancel([]) }
        for ask in closed { ask.close() }
    }
}
