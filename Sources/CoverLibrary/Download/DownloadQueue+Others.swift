import CurlHTTP

/// Requests that are no jobs: revalidations, which go to a host many at a time. They count for every limit as jobs do, and only
/// go where there is nothing to be careful about; else they become jobs.
extension DownloadQueue {
    enum Grant: Hashable {
        /// So many more may be in flight; 0: none for now.
        case some(Int)
        /// A job is to find out first what the host is like.
        case scout
        /// They are to be jobs, one and all.
        case jobs
    }

    /// How many requests that are no jobs the host takes now.
    /// - Parameter beyondShare: take what other hosts leave, too.
    mutating func grant(_ number: Int, beyondShare: Bool, now: Instant) -> Grant {
        hosts[number].honourEarlierRest(longest: limits.longestRest, now: now)
        guard limits.interval == nil, limits.totalInterval == nil, hosts[number].takesOthers(now) else { return .jobs }
        guard hosts[number].isKnown else { return hosts[number].isAsked ? .some(0) : .scout }
        if beyondShare, hosts[number].isSilent(at: now) { return .some(0) }
        let most = beyondShare ? hosts[number].pace.limit : min(hosts[number].pace.limit, share)
        return .some(max(0, min(limits.parallel - inFlight, most - hosts[number].inFlight)))
    }

    /// So many requests that are no jobs wait for the host.
    mutating func addOthers(_ count: Int, _ number: Int) {
        others += count
        addJobs(count, number)
    }

    mutating func removeOthers(_ count: Int, _ number: Int) {
        others -= count
        removeJobs(count, number)
    }

    /// So many of them begin.
    mutating func beginOthers(_ count: Int, _ number: Int, now: Instant) {
        inFlight += count
        hosts[number].inFlight += count
        // Together, so that each is in the company of all.
        for _ in 0..<count { hosts[number].pace.begins(company: hosts[number].inFlight, now: now) }
    }

    /// One of them was answered.
    mutating func otherAnswered(_ number: Int, _ ended: HostPace.Ended, now: Instant) {
        hosts[number].answered(ended, now: now)
    }

    /// So many of them are not in flight any more.
    mutating func leaveOthers(_ count: Int, _ number: Int) {
        inFlight -= count
        hosts[number].inFlight -= count
        enterRing(number)
    }

    /// One of them, in flight, becomes a job. Nil when there is one for the URL already, which the waiter joins.
    mutating func adopt(_ url: HTTPURL, _ waiter: Waiter, _ number: Int, began: Instant, company: Int) -> Start? {
        removeOthers(1, number)
        guard !contains(url.string) else {
            leaveOthers(1, number)
            _ = submit(url, waiter: waiter)
            return nil
        }
        let id = addJob(url, waiter, at: nil, number)
        slots[id.slot].isInFlight = true
        slots[id.slot].began = began
        slots[id.slot].company = company
        return Start(job: id, url: url, place: url, attempt: 0, multiplexes: false)
    }
}

extension DownloadHost {
    /// Whether nothing restrains what is asked of it but its pace.
    fileprivate func takesOthers(_ now: Instant) -> Bool {
        robots == nil && allowance == nil && breaker.isClosed && pace.interval == .zero
            && closedUntil.map { $0 <= now } ?? true
    }

    /// It has answered.
    fileprivate var isKnown: Bool { if case .speaks = knowledge { !pace.isFirst } else { false } }

    /// Something is asked of it, or about to be.
    var isAsked: Bool { inFlight > 0 || !waiting.isEmpty }
}
