import CurlHTTP
import DequeModule

/// Jobs that do not wait for their turn: those that a person waits for, and those that ask whether a host works again.
extension DownloadQueue {
    /// Puts the jobs of these keys before all others of their hosts, in this order. Those in flight stay as they are.
    mutating func prefer(_ keys: [String]) {
        for key in keys.reversed() {
            guard let id = jobsByKey[key], removeWaiting(id) else { continue }
            hosts[slots[id.slot].host].waiting.prepend(id)
        }
    }

    /// False: the job does not wait for its host.
    private mutating func removeWaiting(_ id: JobID) -> Bool {
        let host = slots[id.slot].host
        guard let index = hosts[host].waiting.firstIndex(of: id) else { return false }
        hosts[host].waiting.remove(at: index)
        return true
    }

    /// The job that asks whether a host works again: one that has not failed yet, where there is one; every fourth time one that
    /// has, as a host may answer each URL with an error first. Each time from another part of the list (steps by the golden ratio
    /// cover it evenly), as bad URLs often stand together.
    mutating func popProbe(_ number: Int) -> JobID? {
        hosts[number].probes += 1
        let count = hosts[number].waiting.count
        let start = Int(
            (Double(hosts[number].probes) * 0.618_033_988_75).truncatingRemainder(dividingBy: 1) * Double(count))
        let indices = [start..<count, 0..<start].joined()
        let wantsFailed = hosts[number].probes.isMultiple(of: 4)
        let found = indices.first { index in
            let id = hosts[number].waiting[index]
            return canStart(id) && slots[id.slot].hasFailed == wantsFailed
        }
        return found.map { hosts[number].waiting.remove(at: $0) } ?? popWaiting(number)
    }

    /// Nil: there is no urgent job. Where robots.txt is asked for, it comes first.
    mutating func startUrgent(_ now: Instant) -> Start? {
        while let id = urgent.popFirst() {
            guard canStart(id) else { continue }
            let number = slots[id.slot].host
            // A job that backs off has a timer, which is not to start it once more.
            if !removeWaiting(id) { slots[id.slot].attempt += 1 }
            if isAllowed(id, number) { return start(id, number, now) }
            // robots.txt is asked for even if the host was given up.
            hosts[number].breaker.succeeded()
            hosts[number].waiting.prepend(id)
            enterRing(number)
        }
        return nil
    }

    /// Whether robots.txt, where it is respected, is known to allow the job's request.
    private func isAllowed(_ id: JobID, _ number: Int) -> Bool {
        switch hosts[number].robots {
        case nil: true
        case .known(let rules, _, _): rules.allow(place(of: id).target.utf8)
        case .unknown, .asking: false
        }
    }

    /// Ends the job of a key that is not in flight and that only such waiters want.
    /// - Returns: the waiters; none where the job stays.
    mutating func withdraw(_ key: String, wantedBy isLeaving: (Waiter) -> Bool) -> [Waiter] {
        guard let id = jobsByKey[key], slots[id.slot].waiters.allSatisfy(isLeaving), removeWaiting(id) else {
            return []
        }
        return end(id)
    }

    /// What is to be said of the job's host, once: it answers with errors, and is asked for one cover at a time.
    mutating func outageNotice(hostOf id: JobID) -> String? {
        guard let host = host(of: id), hosts[host].breaker.isOpenForErrors, !hosts[host].isAnnounced else { return nil }
        hosts[host].isAnnounced = true
        return "\(hosts[host].outage.reason) and none succeeded; asking for one cover at a time until one does"
    }

    /// A new run tries hosts that could not be reached again. Those that asked for a pause get it.
    mutating func forgetOutages() {
        for number in hosts.indices where !hosts[number].outage.isRateLimit {
            hosts[number].breaker.succeeded()
            enterRing(number)
        }
    }

    /// Many different covers of the host have failed and none has come: a cover that fails is not retried.
    func isFailingForLong(hostOf id: JobID) -> Bool { host(of: id).map { hosts[$0].breaker.isFailingForLong } ?? false }
}
