import CurlHTTP
import DequeModule
import HeapModule

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
        if hosts[host].postpone(id) { awaitLastRound(of: host) }
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
        timers.insert(Timer(time: time, event: .lastRound(host)))
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
            guard hosts[host].mayHaveLastRound(now) else {
                awaitLastRound(of: host)
                continue
            }
            hosts[host].beginLastRound(now)
            continuePostponed(of: host)
        }
    }

    /// The host's postponed jobs wait for their turn again.
    mutating func continuePostponed(of host: Int) {
        for id in hosts[host].takePostponed() { continuePostponed(id) }
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
