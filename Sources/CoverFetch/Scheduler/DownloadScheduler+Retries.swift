import CurlHTTP
import HTTPTypes
import Logging
import Platform

/// What is tried again, and when.
extension DownloadScheduler {
    /// Memory for the partial bodies of broken transfers, in bytes.
    private static let maximumPartial = 64 << 20
    /// A delay that is reported, for the run may seem to have stopped.
    private static let notableDelay = Duration.seconds(10)

    func retryOrFail(
        _ start: DownloadQueue<FetchRequest>.Start, _ failure: CoverFailure, retryAfter: Duration?,
        _ now: ContinuousClock.Instant
    ) {
        if queue.hasPersistentErrors(hostOf: start.job) { return finish(start.job, start.url, failing: failure) }
        let decision = policy.retry.decide(
            failure, retryAfter: retryAfter, attempt: start.attempt, random: .random(in: 0...1))
        switch decision {
        case .retry(let delay):
            let level: Logger.Level = delay >= Self.notableDelay ? .warning : .debug
            logger.log(level: level, "\(failure.message); trying again in \(Int(delay / .milliseconds(1))) ms")
            retry(start.job, at: now + delay)
        case .giveUp: finish(start.job, start.url, failing: failure)
        case .tooLong(let pause): finish(start.job, start.url, failing: failure.asking(for: pause))
        }
    }

    /// Retries from the beginning: redirects may lead elsewhere by then.
    func retry(_ job: JobID, at time: ContinuousClock.Instant) {
        states[job.slot].redirects = []
        // Another process may try meanwhile.
        jobLeases.release(job)
        queue.retry(job, at: time, from: rememberedRedirect(of: job))
    }

    private func rememberedRedirect(of job: JobID) -> HTTPURL? {
        states[job.slot].ignoresRedirect ? nil : queue.first(of: job) { $0.redirect }
    }

    /// Requests the URL itself if its remembered redirect failed: that says nothing about the URL's own host.
    func retriesWithoutRedirect(_ job: JobID, _ url: HTTPURL, _ failure: CoverFailure) -> Bool {
        guard rememberedRedirect(of: job) != nil, failure.kind != .cancelled else { return false }
        states[job.slot].ignoresRedirect = true
        states[job.slot].redirects = []
        queue.move(job, to: url)
        return true
    }

    func stored(for job: JobID) -> (any StoredVersion)? {
        states[job.slot].ignoresStored ? nil : queue.first(of: job) { $0.stored }
    }

    /// Keeps a partial body for the next attempt if it can be resumed and there is memory for it.
    func keep(_ partial: PartialBody?, of job: JobID) {
        guard let partial, !partial.conditions.isEmpty else { return }
        let kept = states.reduce(0) { $0 + ($1.partial?.body.capacity ?? 0) }
        if kept + partial.body.capacity <= Self.maximumPartial { states[job.slot].partial = partial }
    }
}
