/// How many transfers to one host are worth having in flight: a pure value, told of every transfer that ends.
///
/// It climbs while *goodput* (answers a second) climbs. Time is cut into rounds in which the limit stands still. By Little's
/// law the goodput of a round is the limit over the mean latency of the transfers that began in it: goodput that stays behind
/// the limit is latency that rises. At first every round doubles the limit, as TCP's slow start does. While the latency is
/// that of a host at rest, more are worth it; beyond, steps up and down are tried now and then, and kept where they pay.
///
/// A host that refuses (429) names a *wall*: it is kept below, and tried only after ever longer times. Other refusals and
/// time-outs cut the limit by a third, once for all transfers under way.
struct HostPace {
    typealias Instant = ContinuousClock.Instant

    /// What is worth knowing in the next run.
    struct Learnt: Sendable, Hashable {
        var limit: Int
        var wall: Int?

        init(limit: Int, wall: Int? = nil) {
            self.limit = limit
            self.wall = wall
        }

        /// `32`, or `19 below 20`. Nil: it is neither.
        init?(_ text: String) {
            let words = text.split(separator: " ")
            guard let limit = words.first.flatMap({ Int($0) }), limit > 0 else { return nil }
            self.init(limit: limit, wall: words.count == 3 ? Int(words[2]).map { $0 - 1 } : nil)
        }

        var text: String { wall.map { "\(limit) below \($0 + 1)" } ?? "\(limit)" }
    }

    /// A transfer that has ended.
    struct Ended {
        var began: Instant
        /// In flight to the host when it began, itself included.
        var company: Int
        /// Others waited for its place.
        var wasFull: Bool
    }

    /// In flight at the most, now.
    private(set) var limit: Int
    /// Time between two starts, once one at a time is too many for the host.
    private(set) var interval = Duration.zero
    /// The most a user allows. It may change once, when it is known what the host speaks.
    var ceiling: Int { didSet { limit = isFixed ? ceiling : min(limit, ceiling) } }

    private let isFixed: Bool
    private var phase = Phase.first
    private var round = Round()
    private var lastCut: Instant?
    /// The goodput that has been seen, fading.
    private var peak = 0.0
    /// The smallest mean latency of a round, rising slowly, in seconds.
    private var calm = Double.infinity
    private var wall: Wall?

    private enum Phase {
        /// Before the first answer.
        case first
        /// The goodput before the last doubling, and how many rounds the doubling has brought nothing.
        case doubling(before: Double, idle: Int)
        /// After a cut, on the way back to the wall.
        case returning
        case holding(rounds: Int)
        case trying(from: Int, goodput: Double, isUp: Bool, rounds: Int)
    }

    private struct Round {
        var start: Instant?
        var answered = 0
        var full = 0
        var latency = Duration.zero
        /// Of the rounds of this phase that are over.
        var sum = 0.0
        var count = 0.0
    }

    private struct Wall {
        var height: Int
        /// Nil: from the first answer on.
        var standsUntil: Instant?
        var patience: Duration
        /// Higher than what a refusal named, to see whether it still stands.
        var isRaised = false
    }

    /// A latency up to so many times the smallest is that of the way alone.
    private static let quiet = 1.25
    private static let firstLimit = 4
    private static let shortestDoubling = Duration.milliseconds(5)
    private static let shortestRound = Duration.milliseconds(50)
    private static let longestHold = 16
    private static let firstPatience = Duration.seconds(2)
    private static let longestPatience = Duration.seconds(300)

    private var hold = 2
    private var triesUpNext = true
    private var start = firstLimit

    /// - Parameters:
    ///   - isFixed: always `ceiling`.
    ///   - learnt: what an earlier run found, from `HostPace.learnt`.
    init(ceiling: Int, isFixed: Bool, learnt: Learnt? = nil) {
        self.ceiling = ceiling
        self.isFixed = isFixed
        limit = isFixed ? ceiling : 1
        guard let learnt, !isFixed else { return }
        // Half of it, doubled if that pays: the host may have changed.
        start = max(Self.firstLimit, learnt.limit / 2)
        wall = learnt.wall.map { Wall(height: max(1, $0), standsUntil: nil, patience: .seconds(5)) }
    }

    /// Nil when nothing was found out.
    var learnt: Learnt? {
        if case .first = phase { return nil }
        return isFixed ? nil : Learnt(limit: limit, wall: wall?.height)
    }

    /// Whether the first answer is still to come.
    var isFirst: Bool { if case .first = phase { !isFixed } else { false } }

    /// The first answer takes its time: one slow cover shall not hold up all others.
    mutating func waitedLong() { if isFirst { limit = min(Self.firstLimit, ceiling) } }

    // MARK: What ends

    /// The host did what it was asked.
    mutating func answered(_ ended: Ended, now: Instant) {
        if isFixed { return }
        if case .first = phase {
            phase = .doubling(before: 0, idle: 0)
            if let patience = wall?.patience { wall?.standsUntil = now + patience }
            return begin(min(start, top(now)), now)
        }
        if interval > .zero { interval = interval < .milliseconds(5) ? .zero : interval * (63.0 / 64) }
        guard let start = round.start, ended.began >= start else { return }
        round.answered += 1
        round.latency += now - ended.began
        if ended.wasFull { round.full += 1 }
        let (length, least) =
            switch phase {
            case .first, .doubling, .returning: (Self.shortestDoubling, max(limit, 4))
            case .holding, .trying: (Self.shortestRound, max(limit, 16))
            }
        if round.answered >= least, now - start >= length { close(now) }
    }

    /// The host has too much to do. - Parameter isWall: it said that it was asked too much (429).
    mutating func refused(_ ended: Ended, isWall: Bool, now: Instant) {
        if isFixed { return }
        // Those that began before the last cut say nothing about what it has brought.
        if let lastCut, ended.began < lastCut { return }
        if limit == 1 { interval = min(max(interval * 2, .milliseconds(50)), .seconds(30)) }
        lastCut = now
        phase = .returning
        let below = max(1, ended.company - 1)
        if isWall, let standing = wall, standing.isRaised, ended.company >= standing.height {
            let patience = min(standing.patience * 2, Self.longestPatience)
            wall = Wall(height: below, standsUntil: now + patience, patience: patience)
            return begin(min(limit, below), now)
        }
        if isWall {
            wall = Wall(height: below, standsUntil: now + Self.firstPatience, patience: Self.firstPatience)
        }
        begin(max(1, min(limit * 7 / 10, top(now))), now)
    }

    // MARK: Rounds

    /// As high as the limit may go now.
    private func top(_ now: Instant) -> Int { min(ceiling, wall?.height ?? ceiling) }

    private mutating func begin(_ limit: Int, _ now: Instant) {
        self.limit = limit
        round = Round()
        round.start = now
    }

    private mutating func close(_ now: Instant) {
        let (sum, count) = (round.sum, round.count)
        let isDriven = round.full * 2 >= round.answered
        let latency = max(round.latency.inSeconds / Double(round.answered), 1e-6)
        // Counting answers over time would depend on how they bunch.
        let goodput = Double(limit) / latency
        round = Round()
        round.start = now
        (round.sum, round.count) = (sum, count)
        // Where there was less to do than allowed, nothing is to be learnt.
        guard isDriven else { return }
        round.sum += goodput
        round.count += 1
        calm = min(calm * 1.01, latency)
        raiseWall(now)
        decide(goodput, latency, now)
    }

    private mutating func raiseWall(_ now: Instant) {
        guard let standing = wall, let time = standing.standsUntil, now >= time, limit >= standing.height else {
            return
        }
        // What was tried last time has held.
        let patience = standing.isRaised ? max(Self.firstPatience, standing.patience / 2) : standing.patience
        wall = Wall(height: standing.height + 1, standsUntil: now + patience, patience: patience, isRaised: true)
    }

    private mutating func decide(_ goodput: Double, _ latency: Double, _ now: Instant) {
        let top = top(now)
        switch phase {
        case .first: break
        case .doubling(let before, let idle):
            if goodput >= before * 1.1 || latency <= Self.quiet * calm {
                peak = max(peak, goodput)
                if limit >= top { return settle(now) }
                phase = .doubling(before: goodput, idle: 0)
                begin(min(limit * 2, top), now)
            } else if idle == 0 {
                phase = .doubling(before: before, idle: 1)
            } else {
                settle(now)
            }
        case .returning:
            if limit >= top || wall == nil { return settle(now) }
            begin(limit + 1, now)
        case .holding(let rounds):
            if latency > 3 * calm, goodput < 0.7 * peak {
                // The same number in flight brings less: the host has slowed down.
                peak = goodput
                return begin(max(1, limit * 4 / 5), now)
            }
            if latency <= Self.quiet * calm {
                // Nobody waits for anybody: fewer would only bring less, and more will bring more.
                peak = max(peak * 0.98, goodput)
                hold = 2
                phase = .holding(rounds: hold)
                if limit < top { begin(min(max(limit + 1, limit * 3 / 2), top), now) }
            } else if rounds > 1 {
                phase = .holding(rounds: rounds - 1)
            } else {
                tryStep(round.sum / max(round.count, 1), now)
            }
        case .trying(let from, let base, let isUp, let rounds):
            if rounds > 1 {
                phase = .trying(from: from, goodput: base, isUp: isUp, rounds: rounds - 1)
            } else {
                judge(round.sum / max(round.count, 1), from, base, isUp, now)
            }
        }
    }

    private mutating func settle(_ now: Instant) {
        hold = 2
        phase = .holding(rounds: hold)
        begin(limit, now)
    }

    private mutating func tryStep(_ goodput: Double, _ now: Instant) {
        peak = max(peak * 0.98, goodput)
        let top = top(now)
        let isUp = triesUpNext && limit < top || limit == 1
        let step = isUp ? min(top, limit + max(1, limit / 4)) : max(1, min(limit - max(1, limit / 8), top))
        triesUpNext = !isUp
        if step == limit {
            phase = .holding(rounds: hold)
            return begin(limit, now)
        }
        phase = .trying(from: limit, goodput: goodput, isUp: isUp, rounds: 2)
        begin(step, now)
    }

    private mutating func judge(_ goodput: Double, _ from: Int, _ base: Double, _ isUp: Bool, _ now: Instant) {
        let isWorth = isUp ? goodput >= base * 1.04 : goodput >= base * 0.98 && goodput >= peak * 0.95
        if isWorth {
            triesUpNext = isUp
            hold = 1
        } else {
            hold = min(hold * 2, Self.longestHold)
        }
        phase = .holding(rounds: hold)
        begin(isWorth ? limit : min(from, top(now)), now)
    }
}
