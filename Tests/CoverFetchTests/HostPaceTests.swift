import Testing

@testable import CoverFetch

/// A simulated host. Transfers end in the order in which it finishes them, on a clock that jumps.
private struct ModelHost {
    /// Latency of a response, by the number of transfers in flight.
    var latency: (_ inFlight: Int) -> Duration
    /// Refuses requests while more than this many are in flight.
    var maximumInFlight = Int.max
    /// Share of requests that it refuses, however many are in flight.
    var refusalShare = 0.0
    /// Time that each response occupies the link, which transmits one at a time.
    var transmission = Duration.zero

    struct Outcome {
        var limits: [Int] = []
        var answered = 0
        var refused = 0
        /// Responses per second in the second half of the time.
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
        var linkIsFree = begun
        var random = Numbers()
        while now - begun < time {
            while flying.count < pace.limit {
                let company = flying.count + 1
                pace.begins(company: company, now: now)
                let isRefused = company > maximumInFlight || random.next() < refusalShare
                var ends = now + (isRefused ? .milliseconds(1) : latency(company))
                if transmission > .zero {
                    ends = max(ends, linkIsFree) + transmission
                    linkIsFree = ends
                }
                // Sorted by end, the earliest last.
                var index = flying.count
                while index > 0, flying[index - 1].ends <= ends { index -= 1 }
                flying.insert((ends, now, company, isRefused), at: index)
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

/// Repeatable pseudo-random numbers between 0 and 1 (xorshift64).
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

    @Test("one transfer starts first, and four once it has been answered")
    func first() {
        var pace = HostPace(ceiling: 32, isFixed: false)
        #expect(pace.limit == 1)
        pace.answered(ended(), now: begun + .milliseconds(10))
        #expect(pace.limit == 4)
    }

    @Test(
        "bound by latency, the limit reaches the ceiling within twelve round trips and stays there",
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

    @Test("bound by bandwidth, the limit stays small and the link stays full")
    func bandwidthBound() {
        var pace = HostPace(ceiling: 256, isFixed: false)
        // 500 responses a second and a latency of 4 ms: two or three in flight fill the link.
        let host = ModelHost(latency: { _ in .milliseconds(2) }, transmission: .milliseconds(2))
        let outcome = host.run(&pace, for: .seconds(5))
        #expect(outcome.limit <= 16)
        #expect(outcome.goodput >= 0.9 * 500)
    }

    @Test("if goodput falls beyond a number in flight, the limit settles near that number", arguments: [1, 2, 3, 4])
    func overloaded(seed: Int) {
        var pace = HostPace(ceiling: 256, isFixed: false)
        var random = Numbers(seed)
        // 14,000 responses a second with 64 in flight, 10,000 with 256, at random latencies.
        func rate(_ inFlight: Int) -> Double { 14_000 / (1 + Double(max(0, inFlight - 64)) / 500) }
        let host = ModelHost { inFlight in
            .seconds(max(0.001, Double(inFlight) / rate(inFlight) * (0.5 + random.next())))
        }
        // At first another bottleneck makes every limit equally good.
        let slow = ModelHost { _ in .milliseconds(10) }.run(&pace, for: .milliseconds(300))
        #expect(slow.limit == 256)
        let start = host.run(&pace, for: .seconds(3), from: slow.end)
        let later = host.run(&pace, for: .seconds(2), from: start.end)
        let rates = later.limits.map(rate)
        #expect(rates.reduce(0, +) / Double(rates.count) >= 0.9 * 14_000, "\(later.limit) in flight")
    }

    @Test("a round's goodput by Little's law equals its rate of responses, also below the limit")
    func goodput() {
        var round = PaceRound().next(8, begun)
        var random = Numbers()
        var flying: [(ends: ContinuousClock.Instant, began: ContinuousClock.Instant)] = []
        var (now, answered) = (begun, 0)
        // Eight at a time for 50 ms, then no start for 50 ms.
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

    @Test("below a host's rejection limit goodput is full, and fewer than one request in a hundred is refused")
    func wall() {
        var pace = HostPace(ceiling: 256, isFixed: false)
        // Latencies that differ, so that responses do not arrive together.
        let outcome = ModelHost(latency: { .microseconds(18_000 + $0 * 797 % 4_000) }, maximumInFlight: 20)
            .run(&pace, for: .seconds(10))
        #expect(outcome.goodput >= 0.9 * 1_000)
        #expect(outcome.refused > 0)
        #expect(Double(outcome.refused) < 0.01 * Double(outcome.answered))
    }

    @Test("a doubling that exceeds the host's limit costs one round of refusals")
    func leap() {
        var pace = HostPace(ceiling: 256, isFixed: false)
        let outcome = ModelHost(latency: { .microseconds(18_000 + $0 * 797 % 4_000) }, maximumInFlight: 20)
            .run(&pace, for: .milliseconds(500))
        #expect(outcome.limits.max() == 32)
        #expect((1...20).contains(outcome.refused), "\(outcome.refused) refused")
        #expect(outcome.limit == 20)
    }

    @Test("the limit does not grow while fewer transfers are in flight than it allows")
    func idle() {
        var pace = HostPace(ceiling: 64, isFixed: false)
        pace.answered(ended(), now: begun)
        for number in 1...200 {
            // Two at a time, although four are allowed.
            let now = begun + .milliseconds(10 * number)
            pace.answered(.init(began: now - .milliseconds(5), company: 2, hadOthers: true), now: now)
        }
        #expect(pace.limit == 4)
    }

    @Test(
        "refusals that do not depend on the number in flight do not slow a host down for long",
        arguments: [0.005, 0.03, 0.1, 0.3])
    func chance(share: Double) {
        var pace = HostPace(ceiling: 32, isFixed: false)
        let outcome = ModelHost(latency: { _ in .milliseconds(20) }, refusalShare: share).run(&pace, for: .seconds(20))
        #expect(outcome.goodput >= 0.7 * 32 * 50 * (1 - share), "\(outcome.goodput)/s with \(pace.limit) in flight")
        #expect(pace.interval == .zero)
    }

    @Test("a host with an unannounced limit of ten requests a second gets little more")
    func rateLimited() {
        var pace = HostPace(ceiling: 32, isFixed: false)
        // A token bucket that holds one token.
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

    @Test("a host that becomes slower gets fewer transfers")
    func rising() {
        var pace = HostPace(ceiling: 32, isFixed: false)
        let quick = ModelHost { _ in .milliseconds(10) }.run(&pace, for: .seconds(1))
        let before = pace.limit
        // More than ten in flight only add latency.
        _ = ModelHost { inFlight in .milliseconds(max(40, inFlight * 4)) }
            .run(&pace, for: .seconds(10), from: quick.end)
        #expect(pace.limit < before)
    }

    @Test("the next run starts with half of the learnt limit and keeps the rejection limit")
    func learnt() throws {
        var pace = HostPace(ceiling: 256, isFixed: false)
        #expect(pace.learnt == nil)
        _ = ModelHost(latency: { _ in .milliseconds(20) }, maximumInFlight: 40).run(&pace, for: .seconds(3))
        let learnt = try #require(pace.learnt)
        #expect(learnt.limit > 20)
        var next = HostPace(ceiling: 256, isFixed: false, learnt: learnt)
        #expect(next.limit == 1)
        next.answered(ended(), now: begun + .milliseconds(10))
        #expect(next.limit == learnt.limit / 2)
        let outcome = ModelHost(latency: { _ in .milliseconds(20) }, maximumInFlight: 40).run(&next, for: .seconds(1))
        #expect(outcome.refused == 0)
    }

    @Test(
        "a host whose rejection limit has gone reaches the ceiling again",
        arguments: [0, 60])
    func wallGone(secondsBefore: Int) {
        var pace = HostPace(ceiling: 64, isFixed: false)
        let latency = { (_: Int) in Duration.milliseconds(20) }
        var walled = ModelHost(latency: latency, maximumInFlight: 5).run(&pace, for: .seconds(2 + secondsBefore))
        #expect(walled.limit <= 6)
        if secondsBefore == 0, let learnt = pace.learnt {
            pace = HostPace(ceiling: 64, isFixed: false, learnt: learnt)
        } else {
            // The time between two trials of the rejection limit grows with each that failed.
            walled = ModelHost(latency: latency).run(&pace, for: .seconds(300), from: walled.end)
        }
        let outcome = ModelHost(latency: latency).run(&pace, for: .seconds(6), from: walled.end)
        #expect(outcome.limit == 64)
    }

    @Test("the learnt values are parsed from their text, and other texts are not")
    func learntText() {
        for learnt in [HostPace.Learnt(limit: 32), .init(limit: 19, wall: 20)] {
            #expect(HostPace.Learnt(learnt.text) == learnt)
        }
        for text in ["", "x", "0", "-1", "3.5"] { #expect(HostPace.Learnt(text) == nil) }
    }

    @Test("a fixed limit is the ceiling, whatever happens")
    func fixed() {
        var pace = HostPace(ceiling: 9, isFixed: true)
        pace.answered(ended(), now: begun)
        for _ in 0..<100 { pace.refused(ended(9, at: 1), now: begun + .seconds(2)) }
        #expect(pace.limit == 9 && pace.interval == .zero)
    }
}
