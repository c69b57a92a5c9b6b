/// Limits the transfers in flight to one host, as TCP limits segments: additive increase, multiplicative decrease, and slow start
/// (RFC 5681; Chiu and Jain, "Analysis of the Increase and Decrease Algorithms", 1989).
///
/// The limit starts wide. Until a request is rejected it grows by one with each answer (*slow start*). A rejection, that is a 429, a
/// 503 or a time-out, cuts it by a twentieth. Requests that were in flight at the cut and are rejected too are one event with
/// it: together they lower the limit to the number that was not rejected. From then on the limit grows by one in ten round trips,
/// because every attempt to exceed what the host accepts costs a rejected request. Below one transfer at a time, the limit means a
/// pause between two transfers.
///
/// A host that takes only a few connections rejects, breaks, or never answers the others (*crowding*). Each costs a cover an
/// attempt, so such a cut lowers the limit by a whole transfer, and the limit grows half as fast after each. The first may be an
/// accident and does not end slow start.
///
/// A host that refuses a part of all requests with 503, and names no pause, gets no fewer for it (`SteadyRefusals`).
struct ConcurrencyLimiter {
    typealias Instant = ContinuousClock.Instant

    /// A transfer that has ended.
    struct Ended {
        var start: Instant
        /// Transfers in flight to the host when it started, itself included.
        var inFlightAtStart: Int
        /// Transfers in flight to the host when it ended, itself included.
        var inFlight: Int
        /// For one that timed out: how many the host has answered since it started; if it was one connection too many, over new connections.
        /// That many at a time are not too many.
        var answered = 0
    }

    private static let decrease = 0.95
    private static let increasePerRoundTrip = 0.1
    private static let smallestIncrease = 0.01
    /// The pause between two transfers is `pause` × (1 / window − 1), at most 1.5 s.
    private static let pause = Duration.milliseconds(100)
    private let smallestWindow: Double

    /// Maximum number of transfers in flight, between `smallestWindow` and `ceiling`.
    private var window: Double
    /// Slow start ends here. Infinite until a request is rejected.
    private var threshold = Double.infinity
    private var cut: Cut?
    private var steady = SteadyRefusals()
    private var increase = increasePerRoundTrip
    /// Broken connections beyond those that the host takes.
    private var crowdings = 0
    private let isFixed: Bool
    /// The limit set by the user or by the protocol.
    var ceiling: Int { didSet { window = isFixed ? Double(ceiling) : min(window, Double(ceiling)) } }

    /// The last decrease.
    private struct Cut {
        var time: Instant
        var inFlight: Int
        /// Rejected transfers that were in flight at the cut.
        var rejected = 1
    }

    /// - Parameters:
    ///   - start: the limit at first; nil for `ceiling`.
    ///   - isFixed: the limit is always `ceiling`.
    ///   - pauses: the limit may mean less than one transfer at a time.
    init(ceiling: Int, start: Int? = nil, isFixed: Bool = false, pauses: Bool = true) {
        self.ceiling = ceiling
        smallestWindow = pauses ? 1.0 / 16 : 1
        self.isFixed = isFixed
        window = Double(isFixed ? ceiling : min(start ?? ceiling, ceiling))
    }

    /// Maximum number of transfers in flight now.
    var limit: Int { max(1, Int(window)) }
    /// The time between two starts, where one transfer at a time is too many.
    var interval: Duration { window < 1 ? Self.pause * (1 / window - 1) : .zero }

    /// The host answered.
    mutating func answered(_ ended: Ended) {
        steady.count(isRefused: false, limit: window)
        // A limit that was not in use has not been tested.
        guard !isFixed, 2 * max(ended.inFlightAtStart, ended.inFlight) >= limit else { return }
        if window < 1 {
            window = min(1, window / Self.decrease)
        } else {
            window += window < threshold ? 1 : increase / window
        }
        window = min(window, Double(ceiling))
    }

    /// The host takes few connections.
    var takesFewConnections: Bool { crowdings > 1 }

    /// The connections that broke were no sign of too many: the host may get more again.
    mutating func forgetCrowding() {
        guard crowdings > 0 else { return }
        (threshold, increase, crowdings) = (.infinity, Self.increasePerRoundTrip, 0)
    }

    /// The host rejected the request with 429 or 503, or did not answer in time.
    /// - Parameters:
    ///   - isOneTooMany: it broke a new connection while others were open.
    ///   - mayBeSteady: it answered 503, and named no pause.
    mutating func rejected(_ ended: Ended, isOneTooMany: Bool = false, mayBeSteady: Bool = false, now: Instant) {
        if isFixed { return }
        if mayBeSteady {
            switch steady.count(isRefused: true, limit: window) {
            case .cut: break
            case .ignore: return
            case .restore(let limit):
                (window, threshold) = (max(window, limit), .infinity)
                return forgetCrowding()
            }
        }
        let earned = min(window, Double(ended.answered))
        defer { window = max(window, earned) }
        if var cut, ended.start < cut.time {
            cut.rejected += 1
            self.cut = cut
            window = min(window, Double(max(1, cut.inFlight - cut.rejected)))
        } else if isOneTooMany {
            cut = Cut(time: now, inFlight: ended.inFlight)
            window = min(window, Double(max(1, ended.inFlight - 1)))
            increase = max(increase / 2, Self.smallestIncrease)
        } else {
            cut = Cut(time: now, inFlight: ended.inFlight)
            window = window <= 1 ? max(window / 2, smallestWindow) : max(1, window * Self.decrease)
        }
        if isOneTooMany { crowdings += 1 }
        if isOneTooMany, let cut, cut.rejected < cut.inFlight {
            if crowdings > 1 { threshold = window }
            return
        }
        // A host that rejected everything may take half of it again soon.
        threshold = window > 1 ? window : max(1, Double((cut?.inFlight ?? 0) / 2))
    }
}

/// Whether a host refuses a part of all requests, however many are in flight. Fewer would not help then, and would only take longer.
///
/// The limit's own cuts are the test: a host that refuses what exceeds its capacity refuses less below 70 % of a limit than above. If the
/// share stays the same there, and is not what the growth of the limit costs by itself, it is *steady*: the limit comes back, and refusals
/// are no sign until their share doubles.
struct SteadyRefusals {
    /// What a refusal means for the limit.
    enum Verdict: Equatable {
        case cut
        case ignore
        /// The cuts were of no use.
        case restore(Double)
    }

    private struct Share {
        var all = 0.0
        var refused = 0.0
        var value: Double { all > 0 ? refused / all : 0 }

        mutating func count(isRefused: Bool) {
            all += 1
            if isRefused { refused += 1 }
            // Older requests count less.
            if all > 1_000 { (all, refused) = (all / 2, refused / 2) }
        }
    }

    /// A larger share is the sign of a host in trouble, whatever it depends on.
    private static let largestShare = 0.15
    /// Refusals that show a share.
    private static let enough = 8.0
    private static let lowerPart = 0.7

    /// The limit at the beginning of the test; 0 before the first refusal.
    private var level = 0.0
    /// The requests that ended while the limit was above `lowerPart` of the level, and below.
    private var above = Share()
    private var below = Share()
    /// Nil if none is known.
    private var steady: Share?
    /// Of the last hundred requests or so.
    private var recentShare = 0.0

    /// Counts the end of a request. - Parameter limit: the transfers that may be in flight.
    @discardableResult
    mutating func count(isRefused: Bool, limit: Double) -> Verdict {
        if let share = steady?.value {
            recentShare += ((isRefused ? 1 : 0) - recentShare) / 100
            // What so few requests show varies.
            let most = min(2 * share, Self.largestShare) + 0.03
            if recentShare > 2 * most { self = Self() }
            if recentShare > most { return .cut }
            steady?.count(isRefused: isRefused)
            return .ignore
        }
        if level == 0, !isRefused { return .ignore }
        level = level == 0 ? limit : max(level, limit)
        if limit > Self.lowerPart * level {
            above.count(isRefused: isRefused)
            return .cut
        }
        below.count(isRefused: isRefused)
        let isShown = below.refused >= Self.enough
        // Twice as many refusals as that are due at the former share.
        if !isShown, below.all * above.value < 2 * Self.enough { return .cut }
        // Each growth beyond a host's capacity costs a refusal, and the limit grows by 2 / limit² of a cut with each answer.
        let isSteady =
            isShown && max(above.value, below.value) < Self.largestShare && below.value > 0.6 * above.value
            && below.value > 1.5 * 2 / (limit * limit)
        let (former, share) = (level, Share(all: above.all + below.all, refused: above.refused + below.refused))
        self = Self()
        guard isSteady else {
            level = limit
            return .cut
        }
        (steady, recentShare) = (share, share.value)
        return .restore(former)
    }
}
