import CurlHTTP
import Logging

/// Retries and their delays.
extension DownloadScheduler {
    /// A delay that is reported, for the run may seem to have stopped.
    private static let notableDelay = Duration.seconds(10)
    /// The target of a redirect, such as a signed address, holds for this long at least.
    private static let shortestLife = Duration.seconds(1)

    func retryOrFail(_ job: JobID, _ failure: CoverFailure, _ now: ContinuousClock.Instant) {
        if queue.hasPersistentErrors(hostOf: job) { return end(job, failing: failure) }
        let target = queue.jobs[job].target
        var policy = policy.retry
        policy.retries = retries(of: job)
        let decision = policy.decide(failure, attempt: queue.attempts(job), random: .random(in: 0...1))
        if failure.isOfHTTP2 { queue.jobs[job].state.http1Origin = target.origin }
        // A tunnel or a translator of one family may take everything and forward nothing. A name without addresses of the other one fails, and
        // is looked up for both again.
        queue.jobs[job].state.addressFamily =
            target.hostIsAddress ? nil : failure.silentFamily.map { (target.origin, $0.other) }
        switch decision {
        case .retry(let delay):
            retry(job, at: now + delay)
            // Their time may be over before.
            guard queue.jobs.contains(job) else { return }
            let level: Logger.Level = delay >= Self.notableDelay ? .warning : .debug
            logger.log(
                level: level, "\(failure.message); trying again in \(Int(delay / .milliseconds(1))) ms",
                metadata: failure.metadata, source: CoverFailure.logSource)
        case .giveUp where triesOtherAddress(job, failure) || postpones(job, failure): break
        case .giveUp: end(job, failing: failure)
        case .tooLong(let pause): end(job, failing: failure.asking(for: pause))
        }
    }

    /// Postpones a job whose host cannot be reached, if one of its asks can wait. The others end with the failure.
    /// - Returns: false if the job has to end.
    func postpones(_ job: JobID, _ failure: CoverFailure) -> Bool {
        guard queue.first(of: job, { $0.canBePostponed ? true : nil }) != nil, queue.postpone(job, .now) else {
            return false
        }
        // An untried job has no state.
        if queue.jobs[job].passage.began != nil { queue.jobs[job].state.forgetRedirects() }
        let hurried = queue.cancel(job) { !$0.canBePostponed }.requests
        add(hurried.filter { !$0.complete(CoverOutcome(failed: failure)) })
        return true
    }

    /// Retries from the beginning: redirects may lead elsewhere by then.
    func retry(_ job: JobID, at time: ContinuousClock.Instant) {
        queue.jobs[job].state.forgetRedirects()
        queue.retry(job, at: time)
        endVainAsks(of: job, .now)
    }

    /// The most retries that one of the job's requests allows.
    private func retries(of job: JobID) -> Int {
        queue.jobs[job].requests.lazy.map { $0.retries ?? self.policy.retry.retries }.max() ?? policy.retry.retries
    }

    /// Whether libcurl may send a request again, whose connection ended before an answer.
    func mayResend(_ job: JobID) -> Bool {
        queue.jobs.contains(job) && queue.resend(job, retries: retries(of: job))
    }

    /// Asks once more, for the whole cover, if a server refuses a request with conditions: it may not know them, and a condition that fails
    /// (412) means a change.
    func retriesWithoutConditions(_ job: JobID, _ failure: CoverFailure) -> Bool {
        guard [400, 403, 412, 501].contains(failure.status), queue.jobs[job].state.revalidated != nil else {
            return false
        }
        retryWithoutConditions(job)
        return true
    }

    func retryWithoutConditions(_ job: JobID) {
        queue.jobs[job].state.chances.insert(.withoutConditions)
        retry(job, at: .now)
    }

    /// Requests another address with the job's key, each once, if a server has failed to give the cover for this one: it may take a newer
    /// signature. Those that asked for the former address share what comes.
    func triesOtherAddress(_ job: JobID, _ failure: CoverFailure) -> Bool {
        guard failure.isOfAddress, !queue.hasPersistentErrors(hostOf: job) else { return false }
        let (current, former) = (queue.jobs[job].url.address, queue.jobs[job].state.sent.addresses)
        let other = queue.first(of: job) { ask in
            let address = ask.url.address
            return address == current || former.contains(address) ? nil : ask.url
        }
        guard let other else { return false }
        queue.jobs[job].restart(at: other)
        queue.move(job, to: other)
        endVainAsks(of: job, .now)
        return true
    }

    /// Requests the URL itself again, once, if the target of a redirect may have expired while it waited, or its host was given up.
    func retriesWithoutRedirect(_ job: JobID, _ failure: CoverFailure) -> Bool {
        let (state, began) = (queue.jobs[job].state, queue.jobs[job].passage.began)
        guard let redirectedAt = state.redirectedAt, let began, !state.redirects.isEmpty else { return false }
        let isRefused = (400..<500).contains(failure.status ?? 0) && !failure.isTransient
        guard failure.kind == .notTried || isRefused && began - redirectedAt >= Self.shortestLife,
            state.chances.insert(.withoutRedirect).inserted
        else { return false }
        state.forgetRedirects()
        queue.move(job, to: queue.jobs[job].url)
        endVainAsks(of: job, .now)
        return true
    }
}

/// The pauses of hosts, and what is said of them.
extension DownloadScheduler {
    /// The ends of the pauses that hosts asked this run or an earlier one for, by origin; nil for one that is over.
    package var pauses: [String: ContinuousClock.Instant?] { queue.pauses }

    /// Forgets that hosts could not be reached: a new run tries them again.
    package func forgetOutages() { queue.forgetOutages() }

    /// The time of a transfer is over, and it goes on, as its body arrives.
    func overran(_ job: JobID) {
        guard queue.jobs.contains(job) else { return }
        queue.overran(job, now: .now)
        let target = queue.jobs[job].target
        logger.debug(
            "\(target): its time is over, and its body arrives: it goes on, and at most \(queue.limiter.limit) are in flight",
            metadata: ["host": "\(target.authority)"], source: CoverFailure.logSource)
    }

    /// Tells the queue what the end of a transfer shows about its host.
    func didReceive(_ ending: Ending, of job: JobID, _ failure: CoverFailure?, _ now: ContinuousClock.Instant) {
        endVainAsks(hostOf: job, now) { queue.didReceive(ending, of: job, failure: failure, now: now) }
        let limit = queue.limitMessage(hostOf: job, after: failure)
        let outage = failure == nil ? nil : queue.outageMessage(hostOf: job)
        if limit == nil, outage == nil { return }
        let metadata = failure?.metadata ?? ["host": "\(queue.jobs[job].target.authority)"]
        if let limit { logger.log(level: .debug, "\(limit)", metadata: metadata, source: CoverFailure.logSource) }
        if let outage { logger.log(level: .warning, "\(outage)", metadata: metadata, source: CoverFailure.logSource) }
    }
}
