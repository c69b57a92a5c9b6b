import CurlHTTP
import Logging

/// What is learnt about hosts, and said of them.
extension DownloadScheduler {
    /// What was learnt about hosts, by origin.
    package var learntHosts: [String: HostMemory] { queue.learnt }

    /// Forgets that hosts could not be reached: a new run tries them again.
    package func forgetOutages() { queue.forgetOutages() }

    /// Tells the queue what the end of a transfer shows about its host.
    func didReceive(_ signal: HostSignal, of job: JobID, _ failure: CoverFailure?, _ now: ContinuousClock.Instant) {
        endVainAsks(hostOf: job, now) { queue.didReceive(signal, of: job, failure: failure, now: now) }
        let limit = queue.limitMessage(hostOf: job, after: failure), outage = queue.outageMessage(hostOf: job)
        if limit == nil, outage == nil { return }
        let metadata = failure?.metadata ?? ["host": "\(queue.jobs[job].target.authority)"]
        if let limit { logger.log(level: .debug, "\(limit)", metadata: metadata, source: CoverFailure.logSource) }
        if let outage { logger.log(level: .warning, "\(outage)", metadata: metadata, source: CoverFailure.logSource) }
    }
}
