import CurlHTTP
import Platform

/// The connections of transfers before their requests are sent.
extension DownloadQueue {
    /// The transfer needs a connection that is not open yet, while `others` to its host are open.
    /// - Returns: whether it may open one. If not, the job is no longer in flight. `refusedTransferEnded` is due.
    mutating func mayConnect(_ id: JobID, others: Int) -> Bool {
        guard let host = host(of: id), jobs[id].isInFlight else { return true }
        if hosts[host].gate.mayOpen(&jobs[id].passage, others: others) {
            if let proxy = hosts[host].proxy { _ = hosts[proxy].gate.mayOpen(&jobs[id].state.shared.proxy, others: 0) }
            return true
        }
        // The open connections take no more: nothing that waits for another one is restarted to use them.
        leave(id)
        hosts[host].gate.refused(&jobs[id].passage)
        return false
    }

    /// The transfer that `mayConnect` refused has ended. The job starts again when there is room.
    mutating func refusedTransferEnded(_ id: JobID) {
        endTransfer(id)
        guard jobs.contains(id) else { return }
        jobs[id].passage.connection = .none
        resume(id)
    }

    /// The request of the transfer in flight is about to be sent again. It counts as a retry if the host may have processed it.
    /// - Returns: whether it may be.
    mutating func resend(_ id: JobID, retries: Int) -> Bool {
        guard let host = host(of: id), jobs[id].isInFlight else { return false }
        let repetition = hosts[host].gate.repetition(&jobs[id].passage)
        if repetition == .retry, attempts(id) >= retries { return false }
        jobs[id].attempt += 1
        return repetition != .later
    }

    /// The number of requests that were sent for the job and answered with none, or with a failure, before the one in flight.
    func attempts(_ id: JobID) -> Int {
        guard jobs.contains(id) else { return 0 }
        return jobs[id].attempt - jobs[id].passage.unsentAttempts - jobs[id].state.shared.proxy.unsentAttempts
    }

    /// The transfer has failed.
    /// - Returns: whether the host can take it later, over the connections that are open. The job is in front of its host's others then.
    mutating func resumesAsOneTooMany(_ id: JobID, _ now: Instant) -> Bool {
        guard let host = host(of: id), jobs[id].isInFlight,
            hosts[host].gate.canTakeLater(&jobs[id].passage, now: now)
        else { return false }
        endTransfer(id)
        resume(id)
        return true
    }

    /// The next transfer that waits for a connection while its host has nothing else to do. It starts again, over the open one.
    mutating func nextRestart() -> Decision? {
        while let id = restarts.popFirst() {
            guard jobs.contains(id), jobs[id].isInFlight, jobs[id].passage.isConnecting, jobs[id].passage.restart()
            else { continue }
            endTransfer(id)
            resume(id)
            return .restart(id)
        }
        return nil
    }

    /// A connection for the transfer is being opened, or is ready.
    /// - Returns: whether other transfers may start now.
    mutating func didConnect(_ id: JobID, _ event: ConnectionEvent) -> Bool {
        guard let host = host(of: id), jobs[id].isInFlight else { return false }
        if event == .ready, let proxy = hosts[host].proxy {
            _ = hosts[proxy].gate.isReady(&jobs[id].state.shared.proxy)
        }
        let hasRoom =
            switch event {
            case .ready: hosts[host].gate.isReady(&jobs[id].passage)
            case .opening: hosts[host].gate.isOpening()
            case .resending, .overdue: false
            }
        guard hasRoom else { return false }
        enqueue(host)
        return true
    }
}

/// What hosts share behind a proxy: its places, and its troubles.
///
/// A transfer takes a place of its host and one of the proxy. What ends it says something of one of them, or of both:
///
/// - No connection to the proxy, and over cleartext a connection that breaks: the proxy's.
/// - A connection that fails otherwise, in a tunnel too, or a 502 to 504, over a new connection while others are open: one too many for the
///   proxy. If the host's next one ends so, too, fewer did not help: it is the host's, until the host answers.
/// - A request that is not answered in time: the host's, and under the same condition the proxy's.
/// - Anything else, such as 429 and `Retry-After`: the host's. The proxy works.
extension DownloadQueue {
    /// - Returns: whether the end of the transfer says nothing of its host.
    mutating func didReceive(
        _ ending: Ending, of id: JobID, through proxy: Int, _ failure: CoverFailure?, _ now: Instant
    ) -> Bool {
        let passage = jobs[id].state.shared.proxy
        let host = jobs[id].host
        let isOfProxy = failure?.isOfProxy ?? false
        let breaksOff = ending == .broken || ending.hasNoResponse && passage.isConnecting
        if isOfProxy || breaksOff && !hosts[host].tunnels {
            hosts[proxy].didReceive(ending, of: id, &jobs[id].state.shared.proxy, failure: failure, now: now)
            // Over a connection that has carried answers, the host may have been the cause.
            return isOfProxy || passage.isConnecting || passage.isUnproven
        }
        let isGateway = ending.weight != nil && !ending.isRefusal && [502, 503, 504].contains(failure?.status)
        if isGateway || ending.hasNoResponse {
            let sign: Ending = isGateway ? .overloaded : ending
            if let since = hosts[host].tooManySince, let began = passage.began, began > since,
                !hosts[host].failsBehindProxy
            {
                hosts[host].failsBehindProxy = true
                // Connections fail for another reason than their number.
                hosts[proxy].gate.limiter.forgetCrowding()
            }
            if !hosts[host].failsBehindProxy, hosts[proxy].gate.mayBeTooMany(passage, sign) {
                hosts[host].tooManySince = hosts[host].tooManySince ?? now
                hosts[proxy].didReceive(sign, of: id, &jobs[id].state.shared.proxy, failure: failure, now: now)
                return ending != .silent || passage.isConnecting
            }
            if !isGateway { return false }
        } else if ending.weight == nil {
            (hosts[host].tooManySince, hosts[host].failsBehindProxy) = (nil, false)
        }
        hosts[proxy].didReceive(.answered, of: id, &jobs[id].state.shared.proxy, failure: nil, now: now)
        return false
    }

    // MARK: Whether a transfer may start

    /// Has a host wait for a place of its proxy.
    mutating func hold(_ host: Int, _ proxy: Int) {
        if case .held = hosts[host].position { hosts[proxy].held.removeAll { $0 == host } }
        hosts[host].position = .held
        if hosts[host].waiting.hasImmediate { hosts[proxy].held.prepend(host) } else { hosts[proxy].held.append(host) }
    }

    /// The host, and its proxy if it has one.
    func both(_ host: Int) -> [Int] { hosts[host].proxy.map { [host, $0] } ?? [host] }

    /// The host or its proxy was given up.
    func isGivenUp(_ host: Int, _ now: Instant) -> Bool {
        hosts[host].breaker.isGivenUp(now) || hosts[host].proxy.map { hosts[$0].breaker.isGivenUp(now) } ?? false
    }

    /// The time before which nothing starts; nil if something may.
    mutating func closed(_ host: Int, at now: Instant) -> Instant? {
        let own = hosts[host].closed(at: now)
        guard let proxy = hosts[host].proxy, let shared = hosts[proxy].closed(at: now) else { return own }
        return max(own ?? shared, shared)
    }

    /// Until when a host is left alone, for itself or for its proxy, and why; nil if it is not. Of equal ends, its own counts.
    mutating func pause(_ host: Int, at now: Instant) -> (end: Instant, reason: DownloadHost.Outage)? {
        both(host).compactMap { hosts[$0].pause(at: now) }.max { $0.end < $1.end }
    }
}

/// Jobs that redirects led to one target, such as the picture that a server has for every album without a cover. The first of them requests it.
/// The others are its *followers*: they neither wait for their turn nor are in flight.
extension DownloadQueue {
    /// Jobs that request a target one after the other. If they all fail, the rest need not wait for each other.
    private static var maximumFailures: Int { 3 }

    /// Whether the job requests the target of a redirect for others as well.
    func isShared(_ id: JobID) -> Bool { !shared.isEmpty && shared[jobs[id].target.string]?.job == id }

    /// Returns whether the job, which has just been moved, follows another one. If not, others may follow it.
    mutating func joinsTarget(_ id: JobID) -> Bool {
        let target = jobs[id].target.string
        if let job = shared[target]?.job {
            shared[target]?.followers.append(id)
            raise(job, to: jobs[id].priority)
            return true
        }
        shared[target] = (id, [], 0)
        return false
    }

    /// The job requests its target no longer, and has no answer for its followers. The first of them requests it.
    mutating func leaveTarget(_ id: JobID) {
        guard isShared(id) else { return }
        let failures = 1 + (shared[jobs[id].target.string]?.failures ?? 0)
        if failures == Self.maximumFailures { return separateFollowers(of: id) }
        let rest = takeFollowers(of: id)
        guard let next = rest.first else { return }
        shared[jobs[next].target.string] = (next, Array(rest.dropFirst()), failures)
        hosts[jobs[next].host].waiting.prepend(next, jobs[next].priority)
        enqueue(jobs[next].host)
    }

    /// The followers of a job that has an answer for them. No other job can follow it from now on.
    mutating func takeFollowers(of id: JobID) -> [JobID] {
        guard isShared(id) else { return [] }
        return shared.removeValue(forKey: jobs[id].target.string)?.followers.filter { jobs.contains($0) } ?? []
    }

    /// Has each follower of the job request the target itself.
    mutating func separateFollowers(of id: JobID) {
        for follower in takeFollowers(of: id) {
            hosts[jobs[follower].host].waiting.append(follower, jobs[follower].priority)
            enqueue(jobs[follower].host)
        }
    }
}
