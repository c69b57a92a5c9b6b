import CurlHTTP
import HTTPCaching

/// The state of one host in a queue: an origin (RFC 6454), that is scheme, name and port.
struct DownloadHost {
    typealias Instant = ContinuousClock.Instant

    /// Which of the queue's lists of hosts the host is in.
    enum Position {
        case none
        case roundRobin
        /// It has its share of all transfers, and takes what other hosts leave.
        case overflow
    }

    /// Why the host was given up.
    struct Outage {
        var reason = ""
        /// The host asked for fewer requests, or for a pause.
        var isRateLimit = false
    }

    /// Name and port.
    let name: String
    var waiting = WaitingJobs()
    /// The host is in the queue's list of those whose next job someone waits for.
    var isUrgent = false
    /// Jobs that have not ended: waiting or in flight.
    var jobs = 0
    var connections = HostConnections()
    var inFlight: Int { connections.inFlight }
    /// The host speaks HTTP/2; nil if unknown.
    var http2: Bool?
    var limiter: ConcurrencyLimiter
    var breaker = Breaker()
    /// Probes chosen so far.
    var probes = 0
    var quota = Quota()
    /// No transfer starts before then, because of the rate limit.
    private var closedUntil: Instant?
    /// An earlier run was asked for a pause until then, which has not been applied yet.
    private var earlierRest: Instant?
    var position = Position.none
    /// The host has not answered for a while. Its transfers in flight leave their places in `parallel` to others, and it gets one
    /// at a time.
    var isParked = false
    /// When the first transfer started that the host has not answered; nil if it need not be parked.
    var unansweredSince: Instant?
    /// Transfers in flight that have opened a connection of their own, and have not been answered.
    var unproven = 0
    /// The address of the host's name is known.
    var hasAddress: Bool
    /// The host has answered a request, even if with an error.
    var hasAnswered = false
    /// Its answers: all, and those over connections that were new.
    var answers = (all: 0, overNew: 0)
    var outage = Outage()
    /// The outage was logged.
    var isOutageLogged = false
    /// The limit when it was logged last.
    private var loggedLimit: Int
    /// The end of the pause that was logged last.
    private var loggedPause: Instant?
    /// When a transfer ended last.
    private var lastHeard: Instant?
    /// Failed transfers since the last success.
    private var failures = 0

    /// Streams of an HTTP/2 host, on both its connections. Servers should allow 100 on each (RFC 9113 section 6.5.2).
    private static let maximumStreams = 100
    /// A second connection is opened for more transfers than these. From then on both carry the same number.
    private static let smallestShare = initialLimit / 2
    /// Transfers that a new host gets at once.
    private static let initialLimit = 32

    /// - Parameters:
    ///   - url: a URL of the host.
    ///   - earlier: what earlier runs learnt about it.
    init(of url: HTTPURL, _ limits: FetchLimits, earlier: HostMemory?) {
        name = url.authority
        // HTTP/2 is only spoken over TLS.
        let http2 = url.isHTTPS ? earlier?.http2 : false
        self.http2 = http2
        limiter = ConcurrencyLimiter(
            ceiling: Self.ceiling(http2: http2, limits),
            start: min(earlier?.limit ?? Self.initialLimit, limits.perHost),
            hasRejected: earlier?.hasRejected ?? false, isFixed: !limits.adapts)
        loggedLimit = limiter.limit
        earlierRest = earlier?.restsUntil
        hasAddress = url.hostIsAddress
        // Nothing to wait for: there is no name to resolve.
        if url.hostIsAddress, http2 == false { connections.becameKnown(http2: false) }
    }

    /// Maximum number of transfers in flight.
    private static func ceiling(http2: Bool?, _ limits: FetchLimits) -> Int {
        http2 == true ? min(limits.parallel, maximumStreams) : limits.perHost
    }

    /// The facts for the next run. - Parameter adapts: the limit was adapted.
    func memory(since earlier: HostMemory?, adapts: Bool) -> HostMemory {
        var memory = earlier ?? HostMemory()
        memory.restsUntil = breaker.restsUntil ?? earlierRest
        guard hasAnswered else { return memory }
        memory.http2 = http2
        if adapts {
            // The limit is small for a moment when the server closes a connection.
            memory.limit = min(limiter.learnt, connections.streamLimit.map { max($0, Self.smallestShare) } ?? .max)
            memory.hasRejected = limiter.hasRejected
        }
        return memory
    }

    /// A message about the changes of the limit since the last message; nil if none is worth a line.
    mutating func limitMessage(after failure: CoverFailure?) -> String? {
        let (limit, before) = (limiter.limit, loggedLimit)
        guard limit < before || limit >= 2 * before || (limit == limiter.ceiling && limit > before) else { return nil }
        loggedLimit = limit
        let reason =
            limit > before
            ? "it answered all requests" : failure.map { $0.detail } ?? "its protocol allows no more"
        return "\(name) gets at most \(limit) in flight instead of \(before): \(reason)"
    }

    // MARK: Connections

    /// Streams of each connection, before another one is opened; nil over HTTP/1.1.
    var streams: Int? { http2 == false ? nil : max(Self.smallestShare, connections.share) }

    /// All that is left waits for a connection, though the host has answered over another one: it may be ready much later, or never.
    var waitsForConnection: Bool { http2 == true && hasAnswered && waiting.isEmpty && connections.areAllWaiting }

    /// The host speaks this version of HTTP.
    mutating func setVersion(http2: Bool, _ limits: FetchLimits) {
        connections.becameKnown(http2: http2)
        guard self.http2 != http2 else { return }
        self.http2 = http2
        limiter.ceiling = Self.ceiling(http2: http2, limits)
    }

    // MARK: Whether a transfer may start

    /// The time before which nothing starts; nil if something may.
    mutating func closed(at now: Instant) -> Instant? {
        if let rest = earlierRest.take(), rest > now { breaker.rest(until: rest, now: now) }
        let times = [closedUntil, breaker.opens, quota.closed(at: now)]
        return times.compactMap(\.self).max().flatMap { $0 > now ? $0 : nil }
    }

    /// Whether one more transfer may be in flight, times aside. Inlined: a call would copy the host.
    @inline(__always) var hasRoom: Bool {
        if breaker.isProbing { return false }
        if isParked { return inFlight == 0 }
        return switch connections.state {
        case .none: inFlight == 0
        case .opening: opensSecondConnection
        case .open: inFlight < min(limiter.limit, connections.limit ?? .max)
        }
    }

    private var opensSecondConnection: Bool {
        http2 != false && inFlight == 1 && min(limiter.limit, connections.maximum) > 1
            && waiting.count >= Self.smallestShare
    }

    /// No transfer has ended for 250 ms: the host gets no more than its share.
    func isSilent(at now: Instant) -> Bool { lastHeard.map { now - $0 > .milliseconds(250) } ?? false }

    // MARK: Pauses

    /// Starts nothing before `time`, or before an earlier call's time if that is later.
    mutating func close(until time: Instant) { closedUntil = max(time, closedUntil ?? time) }

    /// A pause that is reported.
    private static let notablePause = Duration.seconds(10)

    /// A message about a pause of ten seconds or longer that the host asked for, once.
    mutating func pauseMessage(at now: Instant) -> String? {
        let times = [breaker.restsUntil == nil ? nil : breaker.opens, quota.closed(at: now)]
        guard let until = times.compactMap(\.self).max(), until - now >= Self.notablePause,
            until - (loggedPause ?? now) >= Self.notablePause
        else { return nil }
        loggedPause = until
        return "\(name) asked for a pause: no request for \((until - now).components.seconds) s"
    }

    // MARK: Ends of transfers

    /// Records the end of a transfer. - Parameter failure: why it brought no cover.
    mutating func didReceive(
        _ signal: HostSignal, of job: JobID, _ ended: ConcurrencyLimiter.Ended, isCrowded: Bool, failure: CoverFailure?,
        now: Instant
    ) {
        lastHeard = now
        if isCrowded, breaker.isClosed { limiter.rejected(ended, isCrowded: true, now: now) }
        // The host is reachable over its other connections.
        if isCrowded, signal.hasNoResponse { return }
        if let kind = signal.failure {
            failures += 1
            if let failure {
                outage = Outage(reason: failure.outage(of: name, count: failures), isRateLimit: signal.isRateLimit)
            }
            if signal.isOverload { quota.refused() }
            // A probe that fails says nothing about the number in flight.
            if signal.isOverload, !isCrowded, breaker.isClosed { limiter.rejected(ended, now: now) }
            breaker.failed(job, kind, hasAnswered: hasAnswered, now: now)
            if breaker.isGivenUp(now), let rest = breaker.restsUntil {
                outage.reason = "\(name) asks to wait \((rest - now).components.seconds) s"
            }
        } else {
            failures = 0
            hasAnswered = true
            breaker.succeeded()
            // While a connection is unproven, one more would not be a test of the limit.
            if !limiter.isCrowded || unproven == 0 { limiter.answered(ended) }
        }
        if limiter.interval > .zero { close(until: now + limiter.interval) }
    }
}

/// The host's own count of the requests that it still accepts (`RateLimit` and its predecessors).
///
/// The latest answer counts: one without a count lifts the limit of those before. A host that states the same number with three
/// answers in a row does not count these requests, and its count is ignored until it refuses one.
struct Quota {
    typealias Instant = ContinuousClock.Instant

    private var remaining = Int.max
    private var resets: Instant?
    private var last: Int?
    private var repetitions = 0

    /// Answers in a row with the same number that refute it.
    private static let refutation = 3

    /// The host answered, if only that it has no such cover.
    /// - Parameters:
    ///   - limit: what the answer states; nil if nothing.
    ///   - uncounted: other requests in flight, which the host may not have counted yet.
    mutating func answered(_ limit: RateLimit?, uncounted: Int, now: Instant) {
        repetitions = limit != nil && limit?.remaining == last ? repetitions + 1 : 1
        last = limit?.remaining
        if let limit, repetitions < Self.refutation {
            (remaining, resets) = (max(0, limit.remaining - uncounted), now + limit.reset)
        } else {
            resets = nil
        }
    }

    /// The host refused a request: its count is to be believed.
    mutating func refused() { repetitions = 0 }

    mutating func start() { if resets != nil { remaining -= 1 } }

    /// The time before which no request is left; nil if one is.
    func closed(at now: Instant) -> Instant? { remaining > 0 ? nil : resets.flatMap { $0 > now ? $0 : nil } }
}
