import CurlHTTP
import HTTPCaching
import HTTPTypes
import Logging
import Platform

/// What responses say about their hosts.
extension DownloadScheduler {
    /// What was learnt about hosts, by origin.
    package var learntHosts: [String: HostMemory] { queue.learnt }

    /// Forgets that hosts could not be reached: a new run tries them again.
    package func forgetOutages() { queue.forgetOutages() }

    /// Records what the end of a transfer shows about its host.
    func record(_ signal: HostSignal, of job: JobID, _ failure: CoverFailure?, _ now: ContinuousClock.Instant) {
        queue.record(signal, of: job, failure: failure, now: now)
        if let message = queue.limitMessage(hostOf: job, after: failure) { logger.debug("\(message)") }
    }

    /// Obeys the host's own count of remaining requests.
    func obeyRateLimit(of response: TransferResponse, _ job: JobID, _ now: ContinuousClock.Instant) {
        guard let limit = RateLimit(response.head.headerFields, now: WallClock.milliseconds() / 1_000) else { return }
        if limit.remaining == 0 {
            pause(hostOf: job, for: limit.reset, now)
        } else {
            queue.allow(limit.remaining, hostOf: job, until: now + limit.reset)
        }
    }

    /// A server that names a time means all of its covers.
    func pause(hostOf job: JobID, for pause: Duration, _ now: ContinuousClock.Instant) {
        if pause <= policy.retry.longestRetryAfter {
            queue.close(hostOf: job, until: now + pause)
        } else {
            queue.giveUp(hostOf: job, for: pause, now: now)
        }
    }
}
