import DequeModule

/// Hosts that accept connections and never answer, or whose names are not resolved.
///
/// When `parallel` is used up and other hosts wait, a host that has not answered for a second is *parked*: its transfers no longer
/// count in `parallel`, so that they hold up no other host until they time out, and it gets one at a time. Its answer ends that.
extension DownloadQueue {
    /// How long a host may take to answer before it is parked.
    private static var patience: Duration { .seconds(1) }
    /// Maximum number of parked transfers: each has a socket and a buffer.
    private static var maximumParked: Int { 512 }

    /// Parked transfers of a host whose name is being resolved each keep a thread.
    private func hasPlace(for host: Int, _ count: Int) -> Bool {
        parked + count <= (hosts[host].gate.hasAddress ? Self.maximumParked : min(limits.parallel, Self.maximumParked))
    }

    /// A transfer of the host starts.
    mutating func parkStart(_ host: Int, _ now: Instant) {
        if hosts[host].gate.hasAnswered { return }
        if hosts[host].gate.isParked {
            if hasPlace(for: host, 1) { return parked += 1 }
            hosts[host].gate.isParked = false
        }
        if hosts[host].unansweredSince == nil { unanswered.append(host) }
        hosts[host].unansweredSince = hosts[host].unansweredSince ?? now
    }

    /// Parks the hosts that have not answered for a while.
    /// - Returns: when to call it next, if nothing else happens; nil for not at a certain time.
    mutating func parkSilentHosts(_ now: Instant) -> Instant? {
        while let host = unanswered.first {
            if !hosts[host].gate.hasAnswered, hosts[host].inFlight > 0, !hosts[host].gate.isParked,
                let since = hosts[host].unansweredSince
            {
                if now < since + Self.patience { return since + Self.patience }
                guard hasPlace(for: host, hosts[host].inFlight) else { return nil }
                hosts[host].gate.isParked = true
                parked += hosts[host].inFlight
            }
            hosts[host].unansweredSince = nil
            unanswered.removeFirst()
        }
        return nil
    }

    /// A transfer of the host has ended. Its host has one less in flight.
    mutating func parkEnd(_ host: Int) { if hosts[host].gate.isParked { parked -= 1 } }

    mutating func unparkIfAnswered(_ host: Int) {
        guard hosts[host].gate.isParked, hosts[host].gate.hasAnswered else { return }
        hosts[host].gate.isParked = false
        parked -= hosts[host].inFlight
        enqueue(host)
    }
}
