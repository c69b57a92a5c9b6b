import CurlHTTP

extension DownloadQueue {
    /// A transfer to start.
    struct Start {
        var job: JobID
        var url: HTTPURL
        /// The URL to request: `url`, or the target of a redirect.
        var target: HTTPURL
        var attempt: Int
        /// The host has answered over HTTP/2 before.
        var multiplexes: Bool
        /// Streams of each connection to the host; nil over HTTP/1.1.
        var streams: Int?
        /// The host keeps to HTTP/1.1.
        var isHTTP1: Bool
        /// The name of the host's proxy, and the connections that it takes.
        var proxy: String?
        var mostConnections: Int?
    }

    /// The next step of the scheduler.
    enum Decision {
        case start(Start)
        /// Cancel the job's transfer. It starts again.
        case restart(JobID)
        /// End the job without a transfer: its host was given up.
        case drop(JobID, HTTPURL, CoverFailure)
        /// Nothing starts before this time; nil for none before another event.
        case wait(Instant?)
    }

    struct Timer: Comparable {
        enum Event {
            case host(Int)
            case lastRound(Int)
            case retry(JobID, attempt: Int)
        }
        var time: Instant
        var event: Event
        static func < (left: Timer, right: Timer) -> Bool { left.time < right.time }
        static func == (left: Timer, right: Timer) -> Bool { left.time == right.time }
    }
}
