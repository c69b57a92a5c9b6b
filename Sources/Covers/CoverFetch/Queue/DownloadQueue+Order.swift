import CurlHTTP
import Platform

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
            let host = both(own).first(where: { hosts[$0].breaker.isOpenForErrors && !hosts[$0].isOutageLogged })
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
        for host in both(host) { hosts[host].breaker.probeIfGivenUp() }
        enqueue(host)
    }

    /// Many different covers of the job's host have failed and none succeeded: a retry is of no use.
    func hasPersistentErrors(hostOf id: JobID) -> Bool {
        host(of: id).map { both($0).contains { hosts[$0].breaker.isFailingForLong } } ?? false
    }
}

/// Jobs whose host cannot be reached. They are *postponed*: when nothing else is left, they have one more round.
///
/// - Any answer of the host ends the outage, and its postponed jobs wait for their turn again.
/// - The last round begins when all other jobs have ended, and not before a restart or a failure of the resolver is likely over. One job probes
///   the host. If it is not answered, all of them end.
/// - The jobs in memory are limited: as many as `maximumPostponed` begin the round before the others end, and those beyond hold the list up
///   until then.
extension DownloadQueue {
    static var maximumPostponed: Int { 16_384 }
    /// Hosts of which a message says that their jobs are postponed. Without a resolver, all are.
    private static var maximumMessages: Int { 8 }

    /// Nothing is left to do but what is postponed.
    var isDone: Bool { jobs.count == postponed }

    /// Postpones a job that was to end because its host cannot be reached. Its retries begin anew, from its own URL.
    /// - Returns: false if the host is not expected to return, or the job has had its last round.
    mutating func postpone(_ id: JobID, _ now: Instant) -> Bool {
        guard let host = host(of: id), hosts[host].mayPostpone(jobs[id].passage, now) else { return false }
        endTransfer(id)
        leaveTarget(id)
        jobs[id].attempt -= attempts(id)
        jobs[id].isPostponed = true
        postponed += 1
        hosts[host].postponed.append(id)
        if hosts[host].postponed.count == 1 { awaitLastRound(of: host) }
        if hosts[host].breaker.isGivenUp(now), !hosts[host].isOutageLogged, outageMessages < Self.maximumMessages {
            hosts[host].isOutageLogged = true
            outageMessages += 1
            let message = "\(hosts[host].outage.reason); its covers are requested again at the end"
            messages.append((hosts[host].name, message))
        }
        return true
    }

    private mutating func awaitLastRound(of host: Int) {
        guard let time = hosts[host].lastRound else { return }
        timers.insert(Timed(time: time, event: .lastRound(host)))
    }

    /// Begins the last round of the hosts that may have it, if nothing else is left.
    mutating func beginLastRounds(_ now: Instant) {
        if returning.isEmpty { return }
        let isEnd = isDone || postponed >= Self.maximumPostponed
        // There may be thousands, which decisions look at one after the other until the end.
        for _ in 0..<(isEnd ? returning.count : 1) {
            let host = returning.removeFirst()
            guard isEnd || hosts[host].isOverdue(now) else {
                returning.append(host)
                continue
            }
            // It may have returned, and another outage begun.
            guard let time = hosts[host].lastRound, time <= now else {
                awaitLastRound(of: host)
                continue
            }
            hosts[host].beginLastRound(now)
            continuePostponed(of: host)
        }
    }

    /// The host's postponed jobs wait for their turn again.
    mutating func continuePostponed(of host: Int) {
        let ids = hosts[host].postponed
        hosts[host].postponed = []
        for id in ids { continuePostponed(id) }
    }

    /// Does nothing for a job that is not postponed, or has ended.
    mutating func continuePostponed(_ id: JobID) {
        guard jobs.contains(id), jobs[id].isPostponed else { return }
        jobs[id].isPostponed = false
        postponed -= 1
        // Redirects may lead elsewhere by now.
        guard let host = setTarget(jobs[id].url, of: id) else { return }
        hosts[host].waiting.append(id, jobs[id].priority)
        enqueue(host)
    }
}
