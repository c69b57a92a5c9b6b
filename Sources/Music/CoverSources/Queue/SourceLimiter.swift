import Platform

/// Decides when the next request may be sent to a source: within its rate, and not while it wants to be left alone. Times are those of an
/// injected clock, from any zero.
struct SourceLimiter: Sendable {
    /// Throttled requests in a row after which the source is given up for the run.
    static let maximumThrottles = 6
    /// Failed requests in a row after which the source is given up for the run.
    static let maximumFailures = 4
    /// No pause is longer. A source that asks for more is given up.
    static let maximumPause = Duration.seconds(300)

    private let rate: RateRule?
    /// When the last `rate.requests` requests were sent, or answered, the oldest first.
    private var sent: [Duration] = []
    private var pausedUntil: Duration?
    private var throttles = 0
    private var failures = 0
    /// Why the source gets no more requests; nil if it does.
    private(set) var abandonment: String?

    init(_ rate: RateRule?) { self.rate = rate }

    /// How long the next request has to wait. A run that has more requests to come than the interval allows spreads them over it, rather than
    /// be silent for the rest of it.
    /// - Parameter more: The requests that are to come.
    func delay(at now: Duration, more: Int = 0) -> Duration {
        var time = max(now, pausedUntil ?? now)
        if let rate, let last = sent.last {
            if sent.count >= rate.requests { time = max(time, sent[sent.count - rate.requests] + rate.interval) }
            let left = rate.requests - sent.count { $0 + rate.interval > now }
            if more > left { time = max(time, last + rate.spacing) }
        }
        return time - now
    }

    mutating func didSend(at now: Duration) {
        guard let rate else { return }
        sent.append(now)
        if sent.count > rate.requests { sent.removeFirst() }
    }

    /// The last request has ended. A request may take any time to arrive, such as that of a new connection: only from here on it is certain when
    /// it counted at the source. A rate of single requests is one on the average, and counts from their start.
    mutating func didEnd(at now: Duration) {
        guard let rate, rate.requests > 1, !sent.isEmpty else { return }
        sent[sent.count - 1] = now
    }

    /// A response has arrived that says something about the album.
    mutating func didAnswer() { (throttles, failures, pausedUntil) = (0, 0, nil) }

    /// The source has asked for fewer requests.
    /// - Parameter retryAfter: the pause that it asked for.
    mutating func didThrottle(at now: Duration, retryAfter: Duration?) {
        throttles += 1
        let pause = (rate?.pause ?? .seconds(2)) * (1 << min(throttles - 1, 10))
        pausedUntil = now + max(min(pause, Self.maximumPause), retryAfter ?? .zero)
        if let retryAfter, retryAfter > Self.maximumPause {
            abandonment = "it asks for a pause of \(retryAfter.components.seconds) s"
        } else if throttles >= Self.maximumThrottles {
            abandonment = "it has refused \(throttles) requests in a row as too many"
        }
    }

    /// The source is to get no more requests.
    mutating func abandon(_ reason: String) { abandonment = reason }

    /// The request has failed, or its answer could not be read.
    mutating func didFail(at now: Duration, _ detail: String) {
        failures += 1
        pausedUntil = now + .seconds(1)
        if failures >= Self.maximumFailures { abandonment = "\(failures) requests in a row have failed: \(detail)" }
    }
}

/// The time of a queue of sources; tests have another one.
package struct SourceClock: Sendable {
    /// The time since any zero, which never goes back.
    package var now: @Sendable () -> Duration
    /// The time of day in milliseconds since 1970.
    package var timeOfDay: @Sendable () -> Int64
    /// - Throws: `CancellationError`.
    package var sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> Duration, timeOfDay: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.now, self.timeOfDay, self.sleep) = (now, timeOfDay, sleep)
    }

    /// The system's clocks.
    package static var system: SourceClock {
        let start = ContinuousClock.now
        return SourceClock(
            now: { start.duration(to: .now) }, timeOfDay: { WallClock.milliseconds() },
            sleep: { try await Task.sleep(for: $0) })
    }
}
