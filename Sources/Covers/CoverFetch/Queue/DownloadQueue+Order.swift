import CurlHTTP
import DequeModule

/// Jobs that go before others, and hosts that fail.
extension DownloadQueue {
    /// Moves the jobs of these keys to the front of their hosts, in this order. Jobs in flight are left alone.
    mutating func prefer(_ keys: [String]) {
        for key in keys.reversed() {
            guard let id = jobs.id(of: key), removeWaiting(id) else { continue }
            jobs[id].priority = .immediate
            hosts[jobs[id].host].waiting.prepend(id, .immediate)
            enqueue(jobs[id].host)
        }
    }

    /// Gives a job this priority, if it is the higher one. It goes behind those that have it already.
    mutating func raise(_ id: JobID, to priority: FetchPriority) {
        guard priority == .immediate, jobs[id].priority == .normal else { return }
        let isWaiting = removeWaiting(id)
        jobs[id].priority = priority
        guard isWaiting else { return }
        hosts[jobs[id].host].waiting.append(id, priority)
        enqueue(jobs[id].host)
    }

    /// Ends the job of a key unless it is in flight or has a request that `isLeaving` does not select.
    /// - Returns: its requests; empty if the job stays.
    mutating func withdraw(_ key: String, _ isLeaving: (Request) -> Bool) -> [Request] {
        guard let id = jobs.id(of: key), jobs[id].requests.allSatisfy(isLeaving), removeWaiting(id) else { return [] }
        return end(id)
    }

    /// Returns whether the job was waiting for its host.
    private mutating func removeWaiting(_ id: JobID) -> Bool {
        hosts[jobs[id].host].waiting.remove(id, jobs[id].priority)
    }

    // MARK: Hosts that fail

    /// The job that tests whether a failing host works again.
    ///
    /// A job that someone waits for comes first. Of the others one that has not failed yet is preferred; every fourth probe is one that has, as a host may answer each URL with an error
    /// first. Steps by the golden ratio spread the probes over the list, since bad URLs often stand together.
    mutating func popProbe(_ host: Int) -> JobID? {
        if hosts[host].waiting.hasImmediate { return popWaiting(host) }
        hosts[host].probes += 1
        let count = hosts[host].waiting.count
        let position = (Double(hosts[host].probes) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1)
        let start = Int(position * Double(count))
        let wantsFailed = hosts[host].probes.isMultiple(of: 4)
        let found = [start..<count, 0..<start].joined().first { index in
            let id = hosts[host].waiting[index]
            return canStart(id) && jobs[id].passage.hasFailed == wantsFailed
        }
        return found.map { hosts[host].waiting.remove(at: $0) } ?? popWaiting(host)
    }

    /// Until when the job's host is left alone; nil if it is not, or the job has ended.
    mutating func pause(hostOf id: JobID, _ now: Instant) -> Instant? {
        host(of: id).flatMap { pause($0, at: now)?.end }
    }

    /// The failure of a job whose host is left alone; nil if it is not, or the job has ended.
    mutating func notTried(_ id: JobID, _ now: Instant) -> CoverFailure? {
        guard let host = host(of: id), let (end, outage) = pause(host, at: now) else { return nil }
        let (url, target) = (jobs[id].url, jobs[id].target)
        var failure = CoverFailure.notTried(url.string, outage.reason, isRateLimit: outage.isRateLimit)
        failure.isElsewhere = target.origin != url.origin
        failure.isOfProxy = outage.isOfProxy
        failure.retryAfter = end - now
        return failure
    }

    /// A message about the job's host, once: it answers with errors and gets one request at a time.
    mutating func outageMessage(hostOf id: JobID) -> String? {
        guard let own = host(of: id),
            let host = [own, hosts[own].proxy].compactMap(\.self).first(where: {
                hosts[$0].breaker.isOpenForErrors && !hosts[$0].isOutageLogged
            })
        else { return nil }
        hosts[host].isOutageLogged = true
        return "\(hosts[host].outage.reason) and none succeeded; asking for one cover at a time until one does"
    }

    /// A message about the limit of the job's host, once it has been cut, has doubled, or has reached its ceiling.
    mutating func limitMessage(hostOf id: JobID, after failure: CoverFailure?) -> String? {
        guard let host = host(of: id) else { return nil }
        return hosts[host].limitMessage(after: failure)
            ?? hosts[host].proxy.flatMap { hosts[$0].limitMessage(after: failure) }
    }

    /// Forgets that hosts could not be reached: a new run tries them again. Hosts that asked for a pause keep it.
    mutating func forgetOutages() {
        for host in hosts.indices where !hosts[host].outage.isRateLimit {
            hosts[host].forgetOutage()
            continuePostponed(of: host)
            enqueue(host)
        }
    }

    /// Probes the job's host now if it was given up because it could not be reached. One that asked for a pause keeps it.
    mutating func probeHost(of id: JobID) {
        let host = jobs[id].host
        if hosts[host].outage.isRateLimit { return }
        hosts[host].breaker.probeIfGivenUp()
        if let proxy = hosts[host].proxy { hosts[proxy].breaker.probeIfGivenUp() }
        enqueue(host)
    }

    /// Many different covers of the job's host have failed and none succeeded: a retry is of no use.
    func hasPersistentErrors(hostOf id: JobID) -> Bool {
        guard let host = host(of: id) else { return false }
        return hosts[host].breaker.isFailingForLong
            || hosts[host].proxy.map { hosts[$0].breaker.isFailingForLong } ?? false
    }
}
