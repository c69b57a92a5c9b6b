import CurlHTTP
import DequeModule

/// Jobs that redirects led to one target, such as the picture that a server has for every album without a cover. The first of them requests it.
/// The others are its *followers*: they neither wait for their turn nor are in flight.
extension DownloadQueue {
    /// Jobs that request a target one after the other. If they all fail, the rest need not wait for each other.
    private static var maximumFailures: Int { 3 }

    /// Returns whether the job, which has just been moved, follows another one. If not, others may follow it.
    mutating func joinsTarget(_ id: JobID) -> Bool {
        let target = jobs[id].target.string
        if let job = shared[target]?.job {
            shared[target]?.followers.append(id)
            raise(job, to: jobs[id].priority)
            return true
        }
        shared[target] = (id, [], 0)
        jobs[id].isShared = true
        return false
    }

    /// The job requests its target no longer, and has no answer for its followers. The first of them requests it.
    mutating func leaveTarget(_ id: JobID) {
        guard jobs[id].isShared else { return }
        let failures = 1 + (shared[jobs[id].target.string]?.failures ?? 0)
        if failures == Self.maximumFailures { return separateFollowers(of: id) }
        let rest = takeFollowers(of: id)
        guard let next = rest.first else { return }
        jobs[next].isShared = true
        shared[jobs[next].target.string] = (next, Array(rest.dropFirst()), failures)
        hosts[jobs[next].host].waiting.prepend(next, jobs[next].priority)
        enqueue(jobs[next].host)
    }

    /// The followers of a job that has an answer for them. No other job can follow it from now on.
    mutating func takeFollowers(of id: JobID) -> [JobID] {
        guard jobs[id].isShared else { return [] }
        jobs[id].isShared = false
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
