import CurlHTTP
import DequeModule

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
        let passage = jobs[id].shared.proxy
        let host = jobs[id].host
        let isOfProxy = failure?.isOfProxy ?? false
        let breaksOff = ending == .broken || ending.hasNoResponse && passage.isConnecting
        if isOfProxy || breaksOff && !hosts[host].tunnels {
            hosts[proxy].didReceive(ending, of: id, &jobs[id].shared.proxy, failure: failure, now: now)
            // Over a connection that has carried answers, the host may have been the cause.
            return isOfProxy || passage.isConnecting || passage.isUnproven
        }
        let isGateway = ending.weight != nil && !ending.isRefusal && [502, 503, 504].contains(failure?.status)
        if isGateway || ending.hasNoResponse {
            let sign: Ending = isGateway ? .overloaded : ending
            if let time = hosts[host].wasTooMany, let began = passage.began, began > time, !hosts[host].failsBehindProxy
            {
                hosts[host].failsBehindProxy = true
                hosts[proxy].gate.forgetCrowding()
            }
            if !hosts[host].failsBehindProxy, hosts[proxy].gate.mayBeTooMany(passage, sign) {
                hosts[host].wasTooMany = hosts[host].wasTooMany ?? now
                hosts[proxy].didReceive(sign, of: id, &jobs[id].shared.proxy, failure: failure, now: now)
                return ending != .silent || passage.isConnecting
            }
            if !isGateway { return false }
        } else if ending.weight == nil {
            (hosts[host].wasTooMany, hosts[host].failsBehindProxy) = (nil, false)
        }
        hosts[proxy].didReceive(.answered, of: id, &jobs[id].shared.proxy, failure: nil, now: now)
        return false
    }

    // MARK: Whether a transfer may start

    /// Has a host wait for a place of its proxy.
    mutating func hold(_ host: Int, _ proxy: Int) {
        if case .held = hosts[host].position { hosts[proxy].held.removeAll { $0 == host } }
        hosts[host].position = .held
        if hosts[host].waiting.hasImmediate { hosts[proxy].held.prepend(host) } else { hosts[proxy].held.append(host) }
    }

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

    /// Until when a host is left alone, for itself or for its proxy, and why; nil if it is not.
    mutating func pause(_ host: Int, at now: Instant) -> (end: Instant, reason: DownloadHost.Outage)? {
        let own = hosts[host].pause(at: now)
        guard let proxy = hosts[host].proxy, let shared = hosts[proxy].pause(at: now) else { return own }
        return own.map { $0.end >= shared.end } ?? false ? own : shared
    }
}
