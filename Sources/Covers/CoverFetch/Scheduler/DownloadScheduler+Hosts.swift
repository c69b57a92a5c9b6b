import CurlHTTP
import Logging

/// The pauses of hosts, and what is said of them.
extension DownloadScheduler {
    /// The ends of the pauses that hosts asked this run or an earlier one for, by origin; nil for one that is over.
    package var pauses: [String: ContinuousClock.Instant?] { queue.pauses }

    /// Forgets that hosts could not be reached: a new run tries them again.
    package func forgetOutages() { queue.forgetOutages() }

    /// The time of a transfer is over, and it goes on, as its body arrives.
    func overran(_ start: DownloadQueue<Ask>.Start) {
        queue.overran(start.job, now: .now)
        logger.debug(
            "\(start.target): its time is over, and its body arrives: it goes on, and at most \(queue.limiter.limit) are in flight",
            metadata: ["host": "\(start.target.authority)"], source: CoverFailure.logSource)
    }

    /// Tells the queue what the end of a transfer shows about its host.
    func didReceive(_ ending: Ending, of job: JobID, _ failure: CoverFailure?, _ now: ContinuousClock.Instant) {
        endVainAsks(hostOf: job, now) { queue.didReceive(ending, of: job, failure: failure, now: now) }
        let limit = queue.limitMessage(hostOf: job, after: failure), outage = queue.outageMessage(hostOf: job)
        if limit == nil, outage == nil { return }
        let metadata = failure?.metadata ?? ["host": "\(queue.jobs[job].target.authority)"]
        if let limit { logger.log(level: .debug, "\(limit)", metadata: metadata, source: CoverFailure.logSource) }
        if let outage { logger.log(level: .warning, "\(outage)", metadata: metadata, source: CoverFailure.logSource) }
    }
}
