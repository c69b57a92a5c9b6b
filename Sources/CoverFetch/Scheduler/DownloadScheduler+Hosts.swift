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
        if let message = queue.outageMessage(hostOf: job) { logger.warning("\(message)") }
    }

    /// The pause that a response asks for. It binds the response's URL; the host's other covers wait when several are refused and
    /// none arrives in between.
    func pause(after failure: CoverFailure, _ response: TransferResponse) -> Duration? {
        let fields = response.head.headerFields, now = WallClock.milliseconds() / 1_000
        if let pause = RetryAfter.delay(fields, now: now) { return pause }
        guard failure.status == 429, let limit = RateLimit(fields, now: now), limit.remaining == 0 else { return nil }
        return limit.reset
    }

    /// Obeys the host's own count of remaining requests.
    func obeyRateLimit(of response: TransferResponse, _ job: JobID, _ now: ContinuousClock.Instant) {
        let limit = RateLimit(response.head.headerFields, now: WallClock.milliseconds() / 1_000)
        queue.record(limit, of: job, now: now)
    }
}
