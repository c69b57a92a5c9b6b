import Testing

@testable import CoverFetch

/// A host that exists in arithmetic only: transfers end in the order in which it finishes them, on a clock that jumps.
private struct ModelHost {
    /// How long an answer takes with so many in flight.
    var latency: (_ inFlight: Int) -> Duration
    /// Refuses whatever comes when more than so many are in flight.
    var most = Int.max
    /// Refuses such a share of what comes, however much is in flight.
    var refusals = 0.0
    /// How long an answer takes on the line, which has room for one.
    var line = Duration.zero

    struct Outcome {
        var limits: [Int] = []
        var answered = 0
        var refused = 0
        /// Answers a second in the second half of the time.
        var goodput = 0.0
        var limit: Int { limits.last ?? 0 }
        var end = ContinuousClock.now
    }

    func run(_ pace: inout HostPace, for time: Duration, from begun: ContinuousClock.Instant = .now) -> Outcome {
        var now = begun
        var flying: [(ends: ContinuousClock.Instant, began: ContinuousClock.Instant, company: Int, isRefused: Bool)] =
            []
        var outcome = Outcome()
        var late = 0
        var lineIsFree = begun
        var random = Numbers()
        while now - begun < time {
            while flying.count < pace.limit {
                let company = flying.count + 1
                pace.begins(company: company, now: now)
                let isRefused = company > most || random.next() < refusals
                var ends = now + (isRefused ? .milliseconds(1) : latency(company))
                if line > .zero {
                    ends = max(ends, lineIsFree) + line
                    lineIsFree = ends
                }
                // Soonest last.
                var place = flying.count
                while place > 0, flying[place - 1].ends <= ends { place -= 1 }
                flying.insert((ends, now, company, isRefused), at: place)
            }
            let done = flying.removeLast()
            now = max(now, done.ends)
            let ended = HostPace.Ended(began: done.began, company: done.company, hadOthers: true)
            if done.isRefused {
                outcome.refused += 1
                pace.refused(ended, now: now)
            } else {
                outcome.answered += 1
                if now - begun > time / 2 { late += 1 }
                pace.answered(ended, now: now)
            }
            outcome.limits.append(pace.limit)
        }
        outcome.goodput = Double(late) / (time / 2).inSeconds
        outcome.end = now
        return outcome
    }
}

/// Numbers between 0 and 1 that look like chance and are the same every time (xorshift64).
private struct Numbers {
    private var state: UInt64
    init(_ seed: Int = 1) { state = 0x9E37_79B9_7F4A_7C15 &* UInt64(seed) }
    mutating func next() -> Double {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Double(state >> 11) / Double(1 << 53)
    }
}

@Suite struct HostPaceTests {
    private let begun = ContinuousClock.now

    private func ended(_ company: Int = 1, at seconds: Double = 0) -> HostPace.Ended {
        .init(began: begun + .seconds(seconds), company: company, hadOthers: true)
    }

    @Test("one transfer goes first, and some more once it has been answered")
    func first() {
        var pace = HostPace(ceiling: 32, isFixed: false)
        #expect(pace.limit == 1)
        pace.answered(ended(), now: begun + .milliseconds(10))
        #expect(pace.limit == 4)
    }

    @Test(
        "where only waiting takes time, the limit reaches the ceiling within ten answers' time, and stays there",
        arguments: [1, 20, 100])
    func latencyBound(milliseconds: Int) {
        var pace = HostPace(ceiling: 256, isFixed: false)
        let host = ModelHost { _ in .milliseconds(milliseconds) }
        let outcome = host.run(&pace, for: .milliseconds(max(milliseconds * 12, 100)))
        #expect(outcome.limits.max() == 256)
        let later = host.run(&pace, for: .milliseconds(milliseconds * 300), from: outcome.end)
        let least = later.limits.min()
        #expect(least == 256)
    }

    @Test("where a line is full, more in flight are not taken, and what is taken fills the line")
    func bandwidthBound() {
        var pace = HostPace(ceiling: 256, isFixed: false)
        // 500 answers a second, and 4 ms of way: two or three in flight fill it.
        let host = ModelHost(latency: { _ in .milliseconds(2) }, line: .milliseconds(2))
        let outcome = host.run(&pace, for: .seconds(5))
        #expect(outcome.limit <= 16)
        #expect(outcome.goodput >= 0.9 * 500)
    }

    @Test("where more in flight bring less, it ends near the number that brings most", arguments: [1, 2, 3, 4])
    func overloaded(seed: Int) {
        var pace = HostPace(ceiling: 256, isFixed: false)
        var random = Numbers(seed)
        // 14,000 answers a second with 64 in flight, 10,000 with 256, and the time of each is anybody's guess.
        func rate(_ inFlight: Int) -> Double { 14_000 / (1 + Double(max(0, inFlight - 64)) / 500) }
        let host = ModelHost { inFlight in
            .seconds(max(0.001, Double(inFlight) / rate(inFlight) * (0.5 + random.next())))
        }
        // At first something else is slow, and any number is well.
        let slow = ModelHost { _ in .milliseconds(10) }.run(&pace, for: .milliseconds(300))
        #expect(slow.limit == 256)
        let start = host.run(&pace, for: .seconds(3), from: slow.end)
        let later = host.run(&pace, for: .seconds(2), from: start.end)
        let rates = later.limits.map(rate)
        #expect(rates.reduce(0, +) / Double(rates.count) >= 0.9 * 14_000, "\(later.limit) in flight")
    }

    @Test("a round's goodput is what was answered in it, also where less was in flight than allowed")
    func goodput() {
        var round = PaceRound().next(8, begun)
        var random = Numbers()
        var flying: [(ends: ContinuousClock.Instant, began: ContinuousClock.Instant)] = []
        var (now, answered) = (begun, 0)
        // Eight at a time for 50 ms, then nothing begins for 50 ms.
        while now - begun < .seconds(10) {
            let mayBegin = Int((now - begun) / .milliseconds(50)) % 2 == 0
            while mayBegin, flying.count < 8 {
                round.begins(flying.count + 1, now)
                flying.append((now + .milliseconds(1 + 20 * random.next()), now))
                flying.sort { $0.ends > $1.ends }
            }
            guard let done = flying.popLast() else {
                now += .milliseconds(1)
                continue
            }
            now = max(now, done.ends)
            answered += 1
            _ = round.answered(.init(began: done.began, company: 8, hadOthers: true), now)
        }
        let counted = Double(answered) / (now - begun).inSeconds
        let goodput = round.meanInFlight(until: now) / round.meanLatency
        #expect(abs(goodput / counted - 1) < 0.01, "\(goodput) by Little's law, \(counted) counted")
    }

    @Test("below a host's wall it works as fast as it may, and fewer than one in a hundred is refused")
    func wall() {
        var pace = HostPace(ceiling: 256, isFixed: false)
        // Answers that do not come all at once.
        let outcome = ModelHost(latency: { .microseconds(18_000 + $0 * 797 % 4_000) }, most: 20)
            .run(&pace, for: .seconds(10))
        #expect(outcome.goodput >= 0.9 * 1_000)
        #expect(outcome.refused > 0)
        #expect(Double(outcome.refused) < 0.01 * Double(outcome.answered))
    }

    @Test("what is too much of a leap is refused once: nothing takes its place")
    func leap() {
        var pace = HostPace(ceiling: 256, isFixed: false)
        let outcome = ModelHost(latency: { .microseconds(18_000 + $0 * 797 % 4_000) }, most: 20)
            .run(&pace, for: .milliseconds(500))
        #expect(outcome.limits.max() == 32)
        #expect((1...20).contains(outcome.refused), "\(outcome.refused) refused")
        #expect(outcome.limit == 20)
    }

    @Test("a host that has less to do than it may gets no more")
    func idle() {
        var pace = HostPace(ceiling: 64, isFixed: false)
        pace.answered(ended(), now: begun)
        for number in 1...200 {
            // Two at a time, where four may be.
            let now = begun + .milliseconds(10 * number)
            pace.answered(.init(began: now - .milliseconds(5), company: 2, hadOthers: true), now: now)
        }
        #expect(pace.limit == 4)
    }

    @Test(
        "refusals that come however few are in flight do not slow a host down for long",
        arguments: [0.005, 0.03, 0.1, 0.3])
    func chance(share: Double) {
        var pace = HostPace(ceiling: 32, isFixed: false)
        let outcome = ModelHost(latency: { _ in .milliseconds(20) }, refusals: share).run(&pace, for: .seconds(20))
        #expect(outcome.goodput >= 0.7 * 32 * 50 * (1 - share), "\(outcome.goodput)/s with \(pace.limit) in flight")
        #expect(pace.interval == .zero)
    }

    @Test("a host that takes ten requests a second, and does not say so, is asked for little more")
    func rateLimited() {
        var pace = HostPace(ceiling: 32, isFixed: false)
        // Tokens that drip into a bucket of one.
        var now = begun
        var full = begun
        var (answered, refused) = (0, 0)
        while now - begun < .seconds(120) {
            let began = now
            pace.begins(company: 1, now: now)
            let isRefused = now < full
            if !isRefused { full = now + .milliseconds(100) }
            now += .milliseconds(20)
            let ended = HostPace.Ended(began: began, company: 1, hadOthers: true)
            if now - begun > .seconds(60) { if isRefused { refused += 1 } else { answered += 1 } }
            if isRefused { pace.refused(ended, now: now) } else { pace.answered(ended, now: now) }
            now += max(.zero, pace.interval)
        }
        #expect(answered > 300, "\(answered) answered, \(refused) refused in a minute")
        #expect(refused < 2 * answered)
    }

    @Test("a host that slows down to a third gets fewer")
    func rising() {
        var pace = HostPace(ceiling: 32, isFixed: false)
        let quick = ModelHost { _ in .milliseconds(10) }.run(&pace, for: .seconds(1))
        let before = pace.limit
        // Beyond ten in flight nothing comes any sooner.
        _ = ModelHost { inFlight in .milliseconds(max(40, inFlight * 4)) }
            .run(&pace, for: .seconds(10), from: quick.end)
        #expect(pace.limit < before)
    }

    @Test("what was learnt is where the next run begins, half of it, and a wall still stands")
    func learnt() throws {
        var pace = HostPace(ceiling: 256, isFixed: false)
        #expect(pace.learnt == nil)
        _ = ModelHost(latency: { _ in .milliseconds(20) }, most: 40).run(&pace, for: .seconds(3))
        let learnt = try #require(pace.learnt)
        #expect(learnt.limit > 20)
        var next = HostPace(ceiling: 256, isFixed: false, learnt: learnt)
        #expect(next.limit == 1)
        next.answered(ended(), now: begun + .milliseconds(10))
        #expect(next.limit == learnt.limit / 2)
        let outcome = ModelHost(latency: { _ in .milliseconds(20) }, most: 40).run(&next, for: .seconds(1))
        #expect(outcome.refused == 0)
    }

    @Test(
        "a host whose wall is gone is asked as if there had been none, seconds after that was tried",
        arguments: [0, 60])
    func wallGone(secondsBefore: Int) {
        var pace = HostPace(ceiling: 64, isFixed: false)
        let latency = { (_: Int) in Duration.milliseconds(20) }
        var walled = ModelHost(latency: latency, most: 5).run(&pace, for: .seconds(2 + secondsBefore))
        #expect(walled.limit <= 6)
        if secondsBefore == 0, let learnt = pace.learnt {
            pace = HostPace(ceiling: 64, isFixed: false, learnt: learnt)
        } else {
            // How long a wall stands before it is tried depends on how often that was in vain.
            walled = ModelHost(latency: latency).run(&pace, for: .seconds(300), from: walled.end)
        }
        let outcome = ModelHost(latency: latency).run(&pace, for: .seconds(6), from: walled.end)
        #expect(outcome.limit == 64)
    }

    @Test("what was learnt is read as it is written, and what is neither is not")
    func learntText() {
        for learnt in [HostPace.Learnt(limit: 32), .init(limit: 19, wall: 20)] {
            #expect(HostPace.Learnt(learnt.text) == learnt)
        }
        for text in ["", "x", "0", "-1", "3.5"] { #expect(HostPace.Learnt(text) == nil) }
    }

    @Test("a fixed pace is the ceiling, whatever happens")
    func fixed() {
        var pace = HostPace(ceiling: 9, isFixed: true)
        pace.answered(ended(), now: begun)
        for _ in 0..<100 { pace.refused(ended(9, at: 1), now: begun + .seconds(2)) }
        #expect(pace.limit == 9 && pace.interval == .zero)
    }
}
