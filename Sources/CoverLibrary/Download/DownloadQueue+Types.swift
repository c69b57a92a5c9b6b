import CurlHTTP

/// Names a job of a `DownloadQueue`, and no other after it has ended.
struct JobID: Hashable, Sendable {
    /// Small, and used again: for tables beside the queue.
    var slot: Int
    var use: Int
}

extension DownloadQueue {
    struct Limits {
        /// In flight, all hosts together.
        var parallel: Int
        /// In flight to one host that speaks HTTP/1.1.
        var perHost: Int
        /// Time between two starts to one host.
        var interval: Duration?
        /// Time between two starts, all hosts together.
        var totalInterval: Duration?
        /// Fewer may be in flight to a host, as `HostPace` finds worthwhile.
        var adapts = false
        /// A host that asked an earlier run for longer peace than this is given up.
        var longestRest = RetryPolicy.patience
        /// A host's `/robots.txt` is asked for first, and obeyed (RFC 9309).
        var respectsRobots = false
    }

    struct Start {
        var job: JobID
        var url: HTTPURL
        /// What to ask for: the URL itself, or where it leads.
        var place: HTTPURL
        var attempt: Int
        /// The host has answered over HTTP/2 before.
        var multiplexes: Bool
    }

    enum Decision {
        case start(Start)
        /// What crawlers may fetch of this host is to be found out.
        case askRobots(HTTPURL, host: Int)
        /// The host was given up, or forbids it: this job ends without a transfer.
        case drop(JobID, HTTPURL, CoverFailure)
        /// Nothing can start before then; nil: not before something else happens.
        case wait(Instant?)
    }

    struct Job {
        var id: JobID
        var url: HTTPURL
        /// Where the URL leads, as far as that is known; nil: the URL itself.
        var place: HTTPURL?
        /// That of the place.
        var host: Int
        var attempt = 0
        var isInFlight = false
        /// Of the transfer under way.
        var began: Instant?
        var company = 0
        /// A transfer of the job has failed, for whatever reason.
        var hasFailed = false
        /// Its cover is here and on its way to the disk.
        var hasLanded = false
        var waiters: [Waiter]
        /// It is over, and `id` names no job.
        var hasEnded: Bool { id.use == 0 }

        /// - Returns: those who waited.
        mutating func end() -> [Waiter] {
            id.use = 0
            defer { waiters = [] }
            return waiters
        }
    }

    struct Timer: Comparable {
        enum Wake {
            case host(Int)
            case slowHost(Int)
            case job(JobID, attempt: Int)
        }
        var time: Instant
        var wake: Wake
        static func < (left: Timer, right: Timer) -> Bool { left.time < right.time }
        static func == (left: Timer, right: Timer) -> Bool { left.time == right.time }
    }
}
