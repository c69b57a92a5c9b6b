import CurlHTTP

/// Fetching and obeying `/robots.txt` (RFC 9309).
extension DownloadQueue {
    /// Records the result of `.fetchRobots`. - Parameter http2: nil if there was no response.
    mutating func record(_ rules: Result<RobotsRules, RobotsError>, host: Int, http2: Bool?, now: Instant) {
        guard case .fetching = hosts[host].robots else { return }
        hosts[host].record(rules, now: now)
        inFlight -= 1
        hosts[host].connections.end(.none)
        parkEnd(host)
        if let http2 { hosts[host].setVersion(http2: http2, limits) }
        enqueue(host)
    }

    /// The `/robots.txt` to fetch before anything else of the host; nil if none.
    mutating func robotsToFetch(_ host: Int, _ now: Instant) -> Decision? {
        switch hosts[host].robots {
        case nil, .fetching: return nil
        case .known(_, let until, _) where now < until: return nil
        case .known, .unknown:
            guard let id = hosts[host].waiting.first(where: jobs.contains),
                let url = try? HTTPURL(jobs[id].target.origin + "/robots.txt")
            else { return nil }
            let attempts = if case .unknown(let attempts) = hosts[host].robots { attempts } else { 0 }
            hosts[host].robots = .fetching(attempts: attempts)
            countStart(host, now)
            return .fetchRobots(url, host: host)
        }
    }

    /// Whether robots.txt, if it is respected, is known to allow the job's URL.
    func isAllowed(_ id: JobID, _ host: Int) -> Bool {
        switch hosts[host].robots {
        case nil: true
        case .known(let rules, _, _): rules.allow(jobs[id].target.normalizedTarget.utf8)
        case .unknown, .fetching: false
        }
    }

    /// Nil if the host's rules allow the job.
    mutating func dropIfDisallowed(_ id: JobID, _ host: Int) -> Decision? {
        guard case .known(_, _, let problem) = hosts[host].robots, !isAllowed(id, host) else { return nil }
        let (url, target) = (jobs[id].url, jobs[id].target)
        enqueue(host)
        let failure = CoverFailure.disallowed(url.string, problem)
        return .drop(id, url, target == url ? failure : failure.redirected(to: target))
    }
}
