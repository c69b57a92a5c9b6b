import CurlHTTP
import HTTPCaching
import HTTPTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What hosts ask for themselves.
extension DownloadScheduler {
    /// What was found out about hosts, by origin.
    var learnt: [String: HostMemory] { queue.learnt }

    /// For a new run: hosts that could not be reached are tried again.
    func forgetOutages() { queue.forgetOutages() }

    func askRobots(_ url: HTTPURL, _ host: Int) {
        client.assumeIsolated { client in
            _ = client.start(TransferRequest(url: url)) { [weak self] result in
                self?.assumeIsolated { scheduler in
                    let http2 = (try? result.get())?.isHTTP2
                    scheduler.queue.learn(RobotsRules.told(result), host: host, http2: http2, now: .now)
                }
            }
        }
    }

    /// Takes the host's own count of the requests that are left.
    func obey(
        _ response: TransferResponse, _ start: DownloadQueue<Waiter>.Start, _ now: ContinuousClock.Instant
    ) {
        let fields = response.head.headerFields
        guard let limit = RateLimit(fields, now: Int64(time(nil))) else { return }
        if limit.remaining == 0 {
            rest(start.job, for: limit.reset, now)
        } else {
            queue.allow(limit.remaining, hostOf: start.job, until: now + limit.reset)
        }
    }

    /// A server that names a time means all of its covers, not this one alone.
    func rest(_ job: JobID, for wait: Duration, _ now: ContinuousClock.Instant) {
        if wait <= policy.longestRetryAfter {
            queue.close(hostOf: job, until: now + wait)
        } else {
            queue.giveUp(hostOf: job, for: wait, now: now)
        }
    }
}
