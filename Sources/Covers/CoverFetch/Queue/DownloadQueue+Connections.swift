import CurlHTTP
import DequeModule

/// The connections of transfers before their requests are sent.
extension DownloadQueue {
    /// The transfer needs a connection that is not open yet, while `others` to its host are open.
    /// - Returns: whether it may open one. If not, the job is no longer in flight. `refusedTransferEnded` is due.
    mutating func mayConnect(_ id: JobID, others: Int) -> Bool {
        guard let host = host(of: id), jobs[id].isInFlight else { return true }
        hosts[host].hasAddress = true
        let http2 = hosts[host].http2
        if hosts[host].connections.open(&jobs[id].connection, others: others, http2: http2) {
            if !jobs[id].opensConnection { hosts[host].unproven += 1 }
            jobs[id].opensConnection = true
            return true
        }
        endTransfer(id)
        jobs[id].connection = .refused
        hosts[host].connections.areFull()
        return false
    }

    /// The transfer that `mayConnect` refused, or for whose body there was no memory, has ended. The job starts again when there is room.
    mutating func refusedTransferEnded(_ id: JobID) {
        endTransfer(id)
        guard jobs.contains(id) else { return }
        jobs[id].connection = .none
        resume(id)
    }

    /// The request of the transfer in flight is about to be sent again.
    /// - Returns: whether that is within the job's number of retries. It is counted then.
    mutating func resend(_ id: JobID, retries: Int) -> Bool {
        guard jobs.contains(id), jobs[id].isInFlight, attempts(id) < retries else { return false }
        jobs[id].attempt += 1
        return true
    }

    /// The number of requests that were sent for the job and answered with none, or with a failure, before the one in flight.
    func attempts(_ id: JobID) -> Int { jobs.contains(id) ? jobs[id].attempt - jobs[id].unsentAttempts : 0 }

    /// The most attempts of a job that count as none because they sent no request.
    private static var maximumUnsentAttempts: Int { 8 }

    /// The transfer has failed.
    /// - Returns: whether another connection to its host can carry it instead. The job is in front of its host's others then.
    mutating func resumesOnOtherConnection(_ id: JobID) -> Bool {
        guard let host = host(of: id), jobs[id].isInFlight,
            hosts[host].connections.failed(jobs[id].connection, http2: hosts[host].http2)
        else { return false }
        endTransfer(id)
        resume(id)
        return true
    }

    /// Whether the transfer that ends with this signal used one connection too many: it has opened its own while others were open.
    ///
    /// If the same happens when it is retried over an open connection, the number of connections was not the cause.
    mutating func isCrowded(_ id: JobID, _ signal: HostSignal) -> Bool {
        let host = jobs[id].host
        let wasCrowded = jobs[id].wasCrowded
        let isCrowded =
            signal.mayMeanCrowding && jobs[id].opensConnection && hosts[host].http2 != true
            && (hosts[host].connections.hasReady(besides: jobs[id].connection) || isLateConnection(id, signal))
            // A host that has never answered is more likely to be dead.
            && (signal != .timedOut || hosts[host].hasAnswered)
        jobs[id].wasCrowded = isCrowded
        if isCrowded, jobs[id].connection == .opening, jobs[id].unsentAttempts < Self.maximumUnsentAttempts {
            jobs[id].unsentAttempts += 1
        }
        if wasCrowded, !isCrowded, signal == .broken { hosts[host].limiter.forgetCrowding() }
        return isCrowded
    }

    /// Whether the transfer has waited in vain for a connection of its own: no request was sent.
    func isLateConnection(_ id: JobID, _ signal: HostSignal) -> Bool {
        signal == .timedOut && jobs[id].connection == .opening
    }

    /// The next transfer that waits for a connection while its host has nothing else to do. It starts again, over the open one.
    mutating func nextRestart() -> Decision? {
        while let id = restarts.popFirst() {
            guard jobs.contains(id), jobs[id].isInFlight, jobs[id].connection != .ready else { continue }
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
        switch event {
        case .ready:
            // Before the first answer, a connection that another transfer opened is in use: this is HTTP/2.
            let isShared = hosts[host].http2 == nil && jobs[id].connection == .none
            let isFirst = hosts[host].connections.becameReady(&jobs[id].connection)
            if isShared { hosts[host].setVersion(http2: true, limits) }
            guard isFirst || isShared else { return false }
        case .opening:
            // Over HTTP/1.1 each transfer needs a connection of its own.
            guard hosts[host].http2 == false, case .opening = hosts[host].connections.state else { return false }
            hosts[host].connections.becameKnown(http2: false)
        case .resending: return false
        }
        enqueue(host)
        return true
    }
}

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
        parked + count <= (hosts[host].hasAddress ? Self.maximumParked : min(limits.parallel, Self.maximumParked))
    }

    /// A transfer of the host starts.
    mutating func parkStart(_ host: Int, _ now: Instant) {
        if hosts[host].hasAnswered { return }
        if hosts[host].isParked {
            if hasPlace(for: host, 1) { return parked += 1 }
            hosts[host].isParked = false
        }
        if hosts[host].unansweredSince == nil { unanswered.append(host) }
        hosts[host].unansweredSince = hosts[host].unansweredSince ?? now
    }

    /// Parks the hosts that have not answered for a while.
    /// - Returns: when to call it next, if nothing else happens; nil for not at a certain time.
    mutating func parkSilentHosts(_ now: Instant) -> Instant? {
        while let host = unanswered.first {
            if !hosts[host].hasAnswered, hosts[host].inFlight > 0, !hosts[host].isParked,
                let since = hosts[host].unansweredSince
            {
                if now < since + Self.patience { return since + Self.patience }
                guard hasPlace(for: host, hosts[host].inFlight) else { return nil }
                hosts[host].isParked = true
                parked += hosts[host].inFlight
            }
            hosts[host].unansweredSince = nil
            unanswered.removeFirst()
        }
        return nil
    }

    /// A transfer of the host has ended. Its host has one less in flight.
    mutating func parkEnd(_ host: Int) { if hosts[host].isParked { parked -= 1 } }

    mutating func unparkIfAnswered(_ host: Int) {
        guard hosts[host].isParked, hosts[host].hasAnswered else { return }
        hosts[host].isParked = false
        parked -= hosts[host].inFlight
        enqueue(host)
    }
}
