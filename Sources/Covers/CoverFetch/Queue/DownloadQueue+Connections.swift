import CurlHTTP
import DequeModule

/// The connections of transfers before their requests are sent.
extension DownloadQueue {
    /// The transfer needs a connection that is not open yet, while `others` to its host are open.
    /// - Returns: whether it may open one. If not, the job is no longer in flight. `refusedTransferEnded` is due.
    mutating func mayConnect(_ id: JobID, others: Int) -> Bool {
        guard let host = host(of: id), jobs[id].isInFlight else { return true }
        if hosts[host].gate.mayOpen(&jobs[id].passage, others: others) {
            if let proxy = hosts[host].proxy { _ = hosts[proxy].gate.mayOpen(&jobs[id].shared.proxy, others: 0) }
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
        jobs[id].passage.refusalEnded()
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
        return jobs[id].attempt - jobs[id].passage.unsentAttempts - jobs[id].shared.proxy.unsentAttempts
    }

    /// The transfer has failed.
    /// - Returns: whether the host can take it later, over the connections that are open. The job is in front of its host's others then.
    mutating func resumesAsOneTooMany(_ id: JobID, _ now: Instant) -> Bool {
        guard let host = host(of: id), jobs[id].isInFlight,
            hosts[host].gate.wasTooMany(&jobs[id].passage, now: now)
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
        if event == .ready, let proxy = hosts[host].proxy { _ = hosts[proxy].gate.isReady(&jobs[id].shared.proxy) }
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
