/// How many transfers to one host are worth having in flight: a pure value, told of every transfer that ends.
///
/// It climbs while *goodput* (answers a second) climbs. Time is cut into rounds in which the limit stands still. By Little's
/// law the goodput of a round is what was in flight on average over the mean latency: goodput that stays behind what is in
/// flight is latency that rises. At first every round doubles the limit, as TCP's slow start does. While the latency is that
/// of a host at rest, more are worth it; beyond, steps up and down are tried now and then: up is kept where it pays, down where
/// it costs nothing.
///
/// Where a host refuses (429, 503) whatever begins beyond a number, that is a *wall*: it is kept below, and tried after ever
/// longer times, and left behind in ever larger steps. Refusals that come at any number, and time-outs, halve the limit for a
/// round: where fewer in flight are refused as often, they are not the reason, and so many are put up with from then on.
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
        /// Others were waiting for the host.
        var hadOthers: Bool
    }

    /// In flight at the most, now.
    private(set) var limit: Int
    /// Time between two starts, once one at a time is too many for the host.
    private(set) var interval = Duration.zero
    /// The most a user allows. It may change once, when it is known what the host speaks.
    var ceiling: Int { didSet { limit = isFixed ? ceiling : min(limit, ceiling) } }

    private let isFixed: Bool
    private var phase = Phase.first
    private var round = PaceRound()
    /// The share of refusals that fewer in flight do not mend.
    private var tolerance = leastTolerance
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
        /// After a cut, to see whether it mends the share of refusals there was.
        case easing(from: Int, interval: Duration, share: Double)
        case holding(rounds: Int)
        case trying(from: Int, goodput: Double, isUp: Bool, rounds: Int)
    }

    private struct Wall {
        var height: Int
        /// Nil: from the first answer on.
        var standsUntil: Instant?
        var patience: Duration
        /// Raised, to see whether it still stands: how high it was before.
        var held: Int?
    }

    /// A latency up to so many times the smallest is that of the way alone.
    private static let quiet = 1.25
    /// More are kept where goodput is so many times what it was, fewer where it is. A busy machine's rounds differ by as much.
    private static let (gain, loss) = (1.08, 0.99)
    private static let firstLimit = 4
    private static let shortestDoubling = Duration.milliseconds(5)
    private static let shortestRound = Duration.milliseconds(50)
    private static let longestHold = 64
    private static let leastTolerance = 0.05
    private static let firstPatience = Duration.seconds(2)
    private static let raisedPatience = Duration.milliseconds(200)
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
        wall = learnt.wall.map { Wall(height: max(1, $0), standsUntil: nil, patience: Self.firstPatience) }
    }

    /// Nil when nothing was found out.
    var learnt: Learnt? {
        if case .first = phase { return nil }
        return isFixed ? nil : Learnt(limit: limit, wall: wall.map { $0.held ?? $0.height })
    }

    private var isDoubling: Bool { if case .doubling = phase { true } else { false } }

    /// Whether the first answer is still to come.
    var isFirst: Bool { if case .first = phase { !isFixed } else { false } }

    /// The first answer takes its time: one slow cover shall not hold up all others.
    mutating func waitedLong() { if isFirst { limit = min(Self.firstLimit, ceiling) } }

    // MARK: What ends

    /// A transfer begins, with so many in flight, itself included.
    mutating func begins(company: Int, now: Instant) { if !isFixed { round.begins(company, now) } }

    /// The host did what it was asked.
    mutating func answered(_ ended: Ended, now: Instant) {
        if isFixed { return }
        if case .first = phase {
            phase = .doubling(before: 0, idle: 0)
            if let patience = wall?.patience { wall?.standsUntil = now + patience }
            return begin(min(start, top), now)
        }
        if round.answered(ended, now) { closeIfDue(now) }
    }

    /// The host has too much to do, and said so (429, 503) or took too long.
    mutating func refused(_ ended: Ended, now: Instant) {
        guard !isFixed, round.refused(ended, now) else { return }
        if isDoubling {
            // No other takes its place: a leap is only judged when it is over.
            limit = max(limit - 1, round.limit / 2, 1)
            closeIfDue(now)
        } else if let held = wall?.held, round.refusesMost(from: held + 1) {
            meet(held, now)
        } else if let height = round.wall(usual: tolerance) {
            meet(height, now)
        } else {
            closeIfDue(now)
        }
    }

    private mutating func meet(_ height: Int, _ now: Instant) {
        var patience = Self.firstPatience
        if let tried = wall, let held = tried.held, height >= held {
            patience = max(patience, min(tried.patience * 2, Self.longestPatience))
        }
        wall = Wall(height: height, standsUntil: now + patience, patience: patience)
        settle(min(limit, height), now)
    }

    // MARK: Rounds

    /// As high as the limit may go now.
    private var top: Int { min(ceiling, wall?.height ?? ceiling) }

    private mutating func begin(_ number: Int, _ now: Instant) {
        limit = min(number, ceiling)
        round = round.next(limit, now)
        round.goodputs = []
    }

    private mutating func closeIfDue(_ now: Instant) {
        guard let start = round.start else { return }
        let (length, least) =
            switch phase {
            case .first, .doubling: (Self.shortestDoubling, max(limit, 4))
            case .easing: (Self.shortestRound, limit == 1 ? 8 : max(limit, 32))
            case .holding, .trying: (Self.shortestRound, max(limit, 16))
            }
        if round.total >= least, now - start >= length { close(now) }
    }

    private mutating func close(_ now: Instant) {
        let ended = round
        round = ended.next(limit, now)
        if isDoubling, let height = ended.wall(usual: tolerance) {
            // What was begun at once may have arrived in any order: those not refused tell more.
            return meet(limit > ended.limit / 2 ? max(height, limit) : height, now)
        }
        if ease(ended, now) { return }
        // Where there was less to do than allowed, nothing is to be learnt.
        guard ended.answered > 0, ended.company >= limit, ended.wanted * 2 >= ended.total else { return }
        // Counting answers over time would depend on how they bunch.
        let goodput = ended.meanInFlight(until: now) * (1 - ended.share) / ended.meanLatency
        calm = min(calm * 1.01, ended.meanLatency)
        if ended.isSettled {
            round.goodputs.append(goodput)
            raiseWall(now)
        }
        if ended.isSettled || isDoubling { decide(goodput, ended.meanLatency, now) }
    }

    /// Looks for the reason of refusals. True: this round has served that.
    private mutating func ease(_ ended: PaceRound, _ now: Instant) -> Bool {
        let (limit, share) = (ended.limit, ended.share)
        tolerance = max(Self.leastTolerance, tolerance * 0.999)
        if case .easing(let from, let pause, let before) = phase {
            // Of a host that refuses most there is no doubt what it wants.
            guard share > 0.5 * before, before <= 0.5 else {
                settle(limit, now)
                return true
            }
            tolerance = min(1, max(share, before) * 1.5)
            // Then a wall that was found was none.
            wall = nil
            interval = pause
            settle(from, now)
            return true
        }
        // One at a time is hardly too many, unless most of them are refused.
        guard share > (limit == 1 ? max(tolerance, 0.5) : tolerance) else {
            interval = interval < .milliseconds(5) ? .zero : interval * 0.95
            return false
        }
        phase = .easing(from: limit, interval: interval, share: share)
        // Where one at a time is too many, time is left between them.
        if limit == 1 { interval = min(max(interval * 2, .milliseconds(100)), .seconds(2)) }
        begin(max(1, limit / 2), now)
        return true
    }

    private mutating func raiseWall(_ now: Instant) {
        guard let standing = wall, let time = standing.standsUntil, now >= time, limit >= standing.height else {
            return
        }
        // What was tried last time has held: the host takes more than it did, perhaps far more.
        let step = standing.held.map { 2 * (standing.height - $0) } ?? 1
        let patience = standing.held == nil ? standing.patience : min(standing.patience, Self.raisedPatience)
        wall = Wall(
            height: standing.height + step, standsUntil: now + patience, patience: patience, held: standing.height)
    }

    private mutating func decide(_ goodput: Double, _ latency: Double, _ now: Instant) {
        switch phase {
        case .first, .easing: break
        case .doubling(let before, let idle):
            if goodput >= before * 1.1 || latency <= Self.quiet * calm {
                peak = max(peak, goodput)
                if limit >= top { return settle(limit, now) }
                phase = .doubling(before: goodput, idle: 0)
                begin(min(limit * 2, top), now)
            } else if idle == 0 {
                phase = .doubling(before: before, idle: 1)
            } else {
                settle(limit, now)
            }
        case .holding(let rounds):
            if latency > 3 * calm, goodput < 0.7 * peak {
                // The same number in flight brings less: the host has slowed down.
                peak = goodput
                return begin(max(1, limit * 4 / 5), now)
            }
            // Nobody waits for anybody, as far as can be told: fewer would only bring less, and more will bring more.
            let isQuiet = latency <= Self.quiet * calm
            if isQuiet, limit == top {
                peak = max(peak * 0.98, goodput)
                settle(limit, now)
            } else if rounds > 1, !(isQuiet && triesUpNext) {
                phase = .holding(rounds: rounds - 1)
            } else {
                tryStep(now)
            }
        case .trying(let from, let base, let isUp, let rounds):
            if isUp, latency <= Self.quiet * calm {
                settle(limit, now)
            } else if rounds > 1, round.medianGoodput >= 0.9 * base {
                phase = .trying(from: from, goodput: base, isUp: isUp, rounds: rounds - 1)
            } else {
                judge(from, base, isUp, now)
            }
        }
    }

    private mutating func settle(_ limit: Int, _ now: Instant) {
        hold = 2
        triesUpNext = true
        phase = .holding(rounds: hold)
        begin(limit, now)
    }

    private mutating func tryStep(_ now: Instant) {
        let goodput = round.medianGoodput
        peak = max(peak * 0.98, goodput)
        let isUp = triesUpNext && limit < top || limit == 1
        let step = isUp ? min(top, limit + max(1, limit / 2)) : max(1, min(limit - max(1, limit / 3), top))
        triesUpNext = !isUp
        if step == limit {
            phase = .holding(rounds: hold)
            return begin(limit, now)
        }
        phase = .trying(from: limit, goodput: goodput, isUp: isUp, rounds: 3)
        begin(step, now)
    }

    private mutating func judge(_ from: Int, _ base: Double, _ isUp: Bool, _ now: Instant) {
        let isWorth = round.medianGoodput >= base * (isUp ? Self.gain : Self.loss)
        if isWorth { triesUpNext = isUp }
        hold = isWorth ? 2 : min(hold * 2, Self.longestHold)
        phase = .holding(rounds: hold)
        // What is kept goes on, with what the trial has shown.
        if !isWorth { begin(min(from, top), now) }
    }
}
