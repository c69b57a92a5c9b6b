import CurlHTTP

/// How many transfers one host gets at the same time, and over which connections. libcurl opens the connections.
///
/// 1. The first transfer connects, and a second one if more wait than one connection is to carry: two carry twice as much in each round
///    trip of slow start (RFC 5681 section 3.1). The others wait until these are ready, or over cleartext until the address is known. Those
///    that share a connection before the first answer show that it is HTTP/2.
/// 2. From then on `limiter.limit` transfers are in flight, and libcurl opens connections as it needs them.
/// 3. A host that speaks HTTP/2 gets no third connection: it would need one where the server allows fewer streams than the limiter, or
///    closes one of the two. The transfer that would open it is *refused*: it leaves, and starts again when there is room. Until another
///    connection is ready, no more are in flight than were left.
/// 4. A host that does not accept the second connection gets one. The transfer starts again over the first.
/// 5. A transfer that opened a connection while others were open, and is rejected, broken, or not answered, was one connection too many:
///    the limit falls by one. If the same happens over an open connection, the number of connections was not the cause.
/// 6. An attempt that sent no request because the host took no further connection is no retry, eight times. Nor is one that has not come to an
///    end: a transfer is refused, restarted, or one too many, eight times in all, and then takes what it needs.
/// 7. A request over HTTP/2 that ended before an answer is sent again over a new connection (RFC 9113 section 8.7), and this is no retry
///    either. If it ends so again while others are in flight, the host refuses that many streams: the limit falls by one, and the
///    transfer starts again when there is room.
/// 8. A transfer that has timed out before says nothing new about its host, and the limit stays above what was answered meanwhile.
/// 9. A cover for which HTTP/2 fails (RFC 9113 sections 7 and 8.1.1) is requested over HTTP/1.1. If that is answered, and no cover of the host
///    has arrived over HTTP/2, the host keeps to HTTP/1.1.
/// 10. A host that has never answered gets at most a quarter of `parallel`: it may be dead, and others wait until its transfers time out.
struct HostGate {
    typealias Instant = ContinuousClock.Instant

    /// A job's way through the gate: what its host must know of its transfer.
    struct Passage {
        enum Connection {
            /// No transfer of the job is in flight.
            case none
            /// libcurl has given the transfer none yet, and it has opened none.
            case awaited
            /// The transfer opens one itself.
            case opening
            /// It has one, new or reused.
            case ready
            /// It may not open one. It is no longer in flight, and libcurl is about to end it.
            case refused
        }

        var connection = Connection.none
        /// It has opened a connection itself, and has not been answered.
        fileprivate(set) var isUnproven = false
        /// It has no connection yet over which it could send its request.
        var isConnecting: Bool { connection != .ready }
        /// When the transfer in flight started.
        fileprivate(set) var began: Instant?
        /// Transfers in flight to the host when it started, itself included.
        fileprivate var inFlightAtStart = 0
        /// The host's answers when it started.
        fileprivate var answersAtStart = (all: 0, overNew: 0)
        /// The last transfer failed as one connection too many.
        fileprivate var wasOneTooMany = false
        /// A transfer of the job has failed, as its host notes.
        var hasFailed = false
        /// The request was sent again, or was about to be, and has not been answered since.
        fileprivate var wasResent = false
        /// The host has refused the transfer's streams.
        fileprivate var isStreamRefused = false
        /// Attempts that sent no request, or none that the host has processed.
        fileprivate(set) var unsentAttempts = 0

        /// How often its transfer has started again without having come to an end.
        private var restarts = 0

        /// The most attempts that count as none, and the most restarts.
        private static let maximumUnsentAttempts = 8

        /// The attempt is no retry. - Returns: false if there were too many of the kind.
        @discardableResult
        fileprivate mutating func forgiveAttempt() -> Bool {
            if unsentAttempts == Self.maximumUnsentAttempts { return false }
            unsentAttempts += 1
            return true
        }

        /// The transfer is to start again, and has not come to an end. - Returns: false if it did so too often.
        mutating func restart() -> Bool {
            if restarts == Self.maximumUnsentAttempts { return false }
            restarts += 1
            return true
        }
    }

    private enum State {
        case none
        /// The first transfers are connecting.
        case opening
        case open
    }

    private var state = State.none
    private(set) var inFlight = 0
    var limiter: ConcurrencyLimiter
    /// The host speaks HTTP/2; nil if unknown.
    private(set) var http2: Bool?
    /// HTTP/2 does not work with the host, and HTTP/1.1 does.
    private(set) var keepsToHTTP1 = false
    /// A cover has arrived over HTTP/2.
    private var worksOverHTTP2 = false
    /// The host has answered a request, even if with an error.
    var hasAnswered = false
    /// Maximum number of connections to a host that speaks HTTP/2.
    private var maximum = 2
    /// Maximum number of transfers in flight until another connection is ready; nil if there is none.
    private var limit: Int?
    private var opening = 0
    private var ready = 0
    /// Transfers in flight that have opened a connection themselves, and have not been answered.
    private var unproven = 0
    /// The host's answers: all, and those over connections that were new.
    private var answers = (all: 0, overNew: 0)
    private let limits: FetchLimits
    /// The transfers are those of many hosts.
    let isProxy: Bool

    /// Streams of an HTTP/2 host, on both its connections. Servers should allow 100 on each (RFC 9113 section 6.5.2).
    private static let maximumStreams = 100
    /// A second connection is opened for more transfers than these. From then on both carry the same number.
    private static let smallestShare = initialLimit / 2
    /// Transfers that a new host gets at once.
    private static let initialLimit = 32

    /// - Parameter url: a URL of the host; nil for a proxy. The transfers of that wait for no connection of another one, as their hosts' gates
    ///   see to that.
    init(of url: HTTPURL?, _ limits: FetchLimits) {
        self.limits = limits
        isProxy = url == nil
        // HTTP/2 is only spoken over TLS.
        http2 = url?.isHTTPS == true && limits.awaitsConnections ? nil : false
        limiter = ConcurrencyLimiter(
            ceiling: isProxy ? limits.parallel : Self.ceiling(http2: http2, limits),
            start: limits.awaitsConnections ? Self.initialLimit : nil, isFixed: !limits.adapts)
        // Nothing to wait for: there is no name to resolve.
        if http2 == false, url?.hostIsAddress ?? true || !limits.awaitsConnections { state = .open }
    }

    /// Maximum number of transfers in flight.
    private static func ceiling(http2: Bool?, _ limits: FetchLimits) -> Int {
        http2 == true ? min(limits.parallel, maximumStreams) : limits.perHost
    }

    // MARK: Room

    /// Whether one more transfer may be in flight. Inlined: a call would copy the gate.
    /// - Parameter waiting: jobs that wait for the host.
    @inline(__always) func hasRoom(waiting: @autoclosure () -> Int) -> Bool {
        switch state {
        case .none: inFlight == 0
        case .opening:
            http2 != false && inFlight == 1 && min(most, maximum) > 1 && waiting() >= Self.smallestShare
        case .open: inFlight < min(most, limit ?? .max)
        }
    }

    /// Maximum number of transfers in flight, connections aside.
    @inline(__always) private var most: Int {
        hasAnswered || isProxy || !limits.awaitsConnections
            ? limiter.limit : min(limiter.limit, max(1, limits.parallel / 4))
    }

    /// Streams of each connection, before another one is opened; nil over HTTP/1.1.
    var streams: Int? { http2 == false ? nil : max(Self.smallestShare, (inFlight + maximum - 1) / maximum) }

    /// Transfers share the open connections.
    var multiplexes: Bool { hasAnswered && http2 == true }

    /// All transfers wait for a connection, though the host has answered over another one: it may be ready much later, or never.
    var waitsForConnection: Bool { multiplexes && inFlight > 0 && ready == 0 }

    // MARK: A transfer

    mutating func start(_ passage: inout Passage, now: Instant) {
        inFlight += 1
        if case .none = state { state = .opening }
        (passage.began, passage.inFlightAtStart, passage.answersAtStart) = (now, inFlight, answers)
        (passage.connection, passage.isStreamRefused) = (.awaited, false)
    }

    /// The transfer has ended, or starts again.
    mutating func end(_ passage: inout Passage) {
        inFlight -= 1
        leave(&passage)
        prove(&passage)
        guard case .opening = state else { return }
        // Without a connection, the next transfer tries.
        if inFlight == 0 { state = .none } else if ready == inFlight { state = .open }
    }

    /// The transfer needs a connection that is not open yet, while `others` are open.
    /// - Returns: whether it may open one. If not, it is to end, and `refused` is due.
    mutating func mayOpen(_ passage: inout Passage, others: Int) -> Bool {
        // It tries another address.
        if case .opening = passage.connection { return true }
        leave(&passage)
        // A transfer that is alone may: there is no other whose end would leave it a stream.
        if others >= maximum, http2 ?? (maximum == 1), inFlight > 1, passage.restart() { return false }
        passage.connection = .opening
        opening += 1
        if !passage.isUnproven { unproven += 1 }
        passage.isUnproven = true
        return true
    }

    /// The transfer may not open a connection, and has ended. The open ones carry no more than what is left in flight.
    mutating func refused(_ passage: inout Passage) {
        passage.connection = .refused
        limit = inFlight
    }

    /// libcurl opens a connection for the transfer.
    /// - Returns: whether others may start now: over HTTP/1.1 each needs a connection of its own.
    mutating func isOpening() -> Bool {
        guard http2 == false, case .opening = state else { return false }
        setVersion(http2: false)
        return true
    }

    /// The transfer's connection, new or reused, is ready.
    /// - Returns: whether others that waited for it may start now.
    mutating func isReady(_ passage: inout Passage) -> Bool {
        // Before the first answer, a connection that another transfer opened is in use: this is HTTP/2.
        let isShared = http2 == nil && passage.connection == .awaited
        let isNew = passage.connection == .opening
        leave(&passage)
        passage.connection = .ready
        ready += 1
        defer { if isShared { setVersion(http2: true) } }
        guard case .opening = state else { return isNew || isShared }
        if ready == inFlight { state = .open }
        return ready == inFlight || isShared
    }

    /// What becomes of a request that ended before an answer.
    enum Repetition {
        /// It is sent again, which is a retry.
        case retry
        /// It is sent again, which is none.
        case free
        /// The transfer fails, and starts again when there is room.
        case later
    }

    mutating func repetition(_ passage: inout Passage) -> Repetition {
        if http2 != true || passage.wasResent && inFlight == 1 { return .retry }
        guard passage.forgiveAttempt() else { return .retry }
        passage.isStreamRefused = passage.wasResent
        passage.wasResent.toggle()
        return passage.isStreamRefused ? .later : .free
    }

    /// The transfer has failed.
    /// - Returns: whether the host can take it later: it failed to open a second connection while another one is ready or being opened, or to get a
    ///   stream beside others.
    mutating func canTakeLater(_ passage: inout Passage, now: Instant) -> Bool {
        if passage.isStreamRefused {
            // A server that closes a connection refuses the streams that it has not begun: new connections replace it.
            if opening == 0, answers.overNew == passage.answersAtStart.overNew {
                limiter.rejected(ended(passage, now: now), isOneTooMany: true, now: now)
            }
            return true
        }
        guard passage.connection == .opening, ready > 0 || opening > 1, http2 != false, passage.restart() else {
            return false
        }
        maximum = 1
        return true
    }

    private func ended(_ passage: Passage, now: Instant) -> ConcurrencyLimiter.Ended {
        ConcurrencyLimiter.Ended(
            start: passage.began ?? now, inFlightAtStart: passage.inFlightAtStart, inFlight: inFlight)
    }

    /// The host has answered over HTTP/1.1 after HTTP/2 had failed.
    mutating func answeredInstead() {
        if worksOverHTTP2 { return }
        keepsToHTTP1 = true
        setVersion(http2: false)
    }

    /// The host speaks this version of HTTP, so there is nothing to wait for.
    mutating func setVersion(http2: Bool) {
        state = .open
        let isHTTP2 = http2 && !keepsToHTTP1
        if !isHTTP2 { limit = nil }
        guard self.http2 != isHTTP2 else { return }
        self.http2 = isHTTP2
        limiter.ceiling = Self.ceiling(http2: isHTTP2, limits)
    }

    // MARK: What a transfer shows

    /// Whether a transfer that ends so may have been one connection too many.
    func mayBeTooMany(_ passage: Passage, _ ending: Ending) -> Bool {
        let hasOthers =
            ready > (passage.connection == .ready ? 1 : 0)
            // A proxy that is full rejects one before it has served the others.
            || isProxy && ending != .unreachable && opening > (passage.connection == .opening ? 1 : 0)
        return ending.mayMeanCrowding && passage.isUnproven && http2 != true && (hasOthers || isLate(passage, ending))
            // A host that has never answered is more likely to be dead.
            && (ending != .silent || hasAnswered)
    }

    /// A transfer ended so. Precedes `end`.
    /// - Parameters:
    ///   - hasFailed: it brought no cover.
    ///   - adapts: its end may change the limit.
    /// - Returns: whether it was one connection too many.
    mutating func received(
        _ ending: Ending, of passage: inout Passage, hasFailed: Bool, adapts: Bool, now: Instant
    ) -> Bool {
        var ended = ended(passage, now: now)
        if !hasFailed, http2 == true { worksOverHTTP2 = true }
        passage.wasResent = false
        let isOneTooMany = mayBeTooMany(passage, ending)
        if isOneTooMany, passage.connection == .opening { passage.forgiveAttempt() }
        if passage.wasOneTooMany, !isOneTooMany, ending == .broken { limiter.forgetCrowding() }
        passage.wasOneTooMany = isOneTooMany
        if ending == .silent {
            let before = passage.answersAtStart
            ended.answered = isOneTooMany ? answers.overNew - before.overNew : answers.all - before.all
        } else if ending.weight == nil {
            answers.all += 1
            if passage.isUnproven { answers.overNew += 1 }
        }
        // The others that wait for a connection wait in vain, too.
        if isOneTooMany, isLate(passage, ending) { ended.inFlight = ready + 1 }
        prove(&passage)
        if ending.weight == nil {
            hasAnswered = true
            // While a connection is unproven, one more would not be a test of the limit.
            if !limiter.takesFewConnections || unproven == 0 { limiter.answered(ended) }
        } else if isOneTooMany || ending.isOverload, adapts {
            limiter.rejected(ended, isOneTooMany: isOneTooMany, mayBeSteady: ending == .overloaded, now: now)
        }
        return isOneTooMany
    }

    /// Whether the transfer has waited in vain for a connection: no request was sent.
    private func isLate(_ passage: Passage, _ ending: Ending) -> Bool {
        ending == .silent && passage.connection == .opening
    }

    private mutating func prove(_ passage: inout Passage) {
        if passage.isUnproven { unproven -= 1 }
        passage.isUnproven = false
    }

    private mutating func leave(_ passage: inout Passage) {
        switch passage.connection {
        case .none, .awaited, .refused: break
        case .opening:
            opening -= 1
            limit = nil
        case .ready: ready -= 1
        }
        passage.connection = .none
    }
}
