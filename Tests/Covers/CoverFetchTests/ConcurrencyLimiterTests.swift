import Testing

@testable import CoverFetch

/// A simulated host. Transfers end in the order in which it finishes them, on a clock that jumps.
private struct ModelHost {
    var latency = Duration.milliseconds(20)
    /// Rejects requests while more than this many are in flight.
    var maximumInFlight = Int.max
    /// Share of requests that it rejects, however many are in flight.
    var rejectedShare = 0.0
    /// Answers 503 without a pause, and not 429.
    var mayBeSteady = true

    struct Outcome {
        var limits: [Int] = []
        var answered = 0
        var rejected = 0
        var time = Duration.zero
        var limit: Int { limits.last ?? 0 }
        /// Mean number of transfers that the host worked on.
        func meanInFlight(_ latency: Duration) -> Double { Double(answered) * (latency / time) }
    }

    /// Transfers `count` covers.
    func run(_ limiter: inout ConcurrencyLimiter, covers count: Int) -> Outcome {
        let begun = ContinuousClock.now
        var now = begun
        var inFlight: [(ends: ContinuousClock.Instant, start: ContinuousClock.Instant, number: Int, isRejected: Bool)] =
            []
        var outcome = Outcome()
        var random = Numbers()
        while outcome.answered < count {
            while inFlight.count < limiter.limit {
                let number = inFlight.count + 1
                let accepted = inFlight.count { !$0.isRejected }
                let isRejected = accepted >= maximumInFlight || random.next() < rejectedShare
                // Latencies differ by a tenth, so that responses do not arrive together.
                let ends = now + (isRejected ? latency / 10 : latency * (0.95 + 0.1 * random.next()))
                let index = inFlight.firstIndex { $0.ends <= ends } ?? inFlight.count
                inFlight.insert((ends, now, number, isRejected), at: index)
            }
            let inFlightNow = inFlight.count
            let done = inFlight.removeLast()
            now = max(now, done.ends)
            let ended = ConcurrencyLimiter.Ended(
                start: done.start, inFlightAtStart: done.number, inFlight: inFlightNow)
            if done.isRejected {
                outcome.rejected += 1
                limiter.rejected(ended, mayBeSteady: mayBeSteady, now: now)
            } else {
                outcome.answered += 1
                limiter.answered(ended)
            }
            outcome.limits.append(limiter.limit)
        }
        outcome.time = now - begun
        return outcome
    }
}

/// Repeatable pseudo-random numbers between 0 and 1 (xorshift64).
private struct Numbers {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    mutating func next() -> Double {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Double(state >> 11) / Double(1 << 53)
    }
}

@Suite struct ConcurrencyLimiterTests {
    private let now = ContinuousClock.now

    private func ended(_ inFlightAtStart: Int, inFlight: Int? = nil, at seconds: Double = 0)
        -> ConcurrencyLimiter.Ended
    {
        .init(
            start: now + .seconds(seconds), inFlightAtStart: inFlightAtStart, inFlight: inFlight ?? inFlightAtStart)
    }

    @Test func `a new host gets the whole limit at once, and the limit doubles in a round trip up to the ceiling`() {
        var limiter = ConcurrencyLimiter(ceiling: 100, start: 32)
        #expect(limiter.limit == 32)
        for _ in 1...32 { limiter.answered(ended(32)) }
        #expect(limiter.limit == 64)
        for _ in 1...64 { limiter.answered(ended(64)) }
        #expect(limiter.limit == 100)
    }

    @Test(arguments: [32, 64])
    func `a host that takes 20 at a time gets at least 19 on average, and rejects fewer than 1 % of 3,000`(start: Int) {
        var limiter = ConcurrencyLimiter(ceiling: 128, start: start)
        let host = ModelHost(maximumInFlight: 20)
        let first = host.run(&limiter, covers: 300)
        #expect(first.rejected <= start - 20 + 4, "one wave of rejections")
        let run = host.run(&limiter, covers: 3_000)
        #expect(run.rejected > 0 && run.rejected < 30, "\(run.rejected) rejected")
        #expect(run.meanInFlight(host.latency) >= 19)
    }

    @Test func `rejections of one wave lower the limit to what was not rejected, whatever their order`() {
        var limiter = ConcurrencyLimiter(ceiling: 32)
        for count in (1...12).map({ 33 - $0 }) {
            limiter.rejected(ended(count % 7 + 1, inFlight: count), now: now + .seconds(1))
        }
        #expect(limiter.limit == 20)
        // Only a request that started after the cut is another sign.
        limiter.rejected(ended(20, at: 2), now: now + .seconds(3))
        #expect(limiter.limit == 19)
    }

    @Test
    func `a host that rejects everything gets one transfer at a time, and half of the number before once it answers`() {
        var limiter = ConcurrencyLimiter(ceiling: 32)
        for count in 1...32 { limiter.rejected(ended(33 - count), now: now + .seconds(1)) }
        #expect(limiter.limit == 1 && limiter.interval == .zero)
        for second in 2...40 {
            for _ in 1...limiter.limit { limiter.answered(ended(limiter.limit, at: Double(second))) }
        }
        #expect((16...20).contains(limiter.limit))
    }

    @Test(arguments: [(0.02, true, 40...128), (0.05, true, 100...128), (0.05, false, 2...10), (0.3, true, 0...2)])
    func `a small part of 503s that does not depend on the number in flight costs no time; 429s and a large part do`(
        share: Double, mayBeSteady: Bool, expected: ClosedRange<Int>
    ) {
        var limiter = ConcurrencyLimiter(ceiling: 128, start: 32)
        let host = ModelHost(rejectedShare: share, mayBeSteady: mayBeSteady)
        _ = host.run(&limiter, covers: 2_000)
        let run = host.run(&limiter, covers: 2_000)
        #expect(expected.contains(Int(run.meanInFlight(host.latency))), "\(run.meanInFlight(host.latency))")
    }

    @Test func `a host that refuses a part of all gets fewer when it refuses more`() {
        var limiter = ConcurrencyLimiter(ceiling: 128, start: 32)
        _ = ModelHost(rejectedShare: 0.05).run(&limiter, covers: 2_000)
        #expect(limiter.limit > 100)
        let run = ModelHost(maximumInFlight: 10, rejectedShare: 0.05).run(&limiter, covers: 1_000)
        #expect(limiter.limit <= 10 && run.rejected < 300, "\(limiter.limit), \(run.rejected) rejected")
    }

    @Test func `a host with an unannounced limit of ten requests a second gets little more`() {
        var limiter = ConcurrencyLimiter(ceiling: 32)
        // A token bucket that holds one token.
        let begun = now
        var time = begun
        var full = begun
        var (answered, rejected) = (0, 0)
        while time - begun < .seconds(120) {
            let start = time
            let isRejected = time < full
            if !isRejected { full = time + .milliseconds(100) }
            time += .milliseconds(20)
            let ended = ConcurrencyLimiter.Ended(start: start, inFlightAtStart: 1, inFlight: 1)
            if time - begun > .seconds(60) { if isRejected { rejected += 1 } else { answered += 1 } }
            if isRejected { limiter.rejected(ended, now: time) } else { limiter.answered(ended) }
            time += limiter.interval
        }
        #expect(answered > 300, "\(answered) answered, \(rejected) rejected in a minute")
        #expect(rejected < answered / 4)
    }

    @Test func `the limit does not grow while fewer than half of it are in flight`() {
        var limiter = ConcurrencyLimiter(ceiling: 64, start: 8)
        for _ in 1...100 { limiter.answered(ended(3)) }
        #expect(limiter.limit == 8)
    }

    @Test func `a host whose rejection limit has gone reaches the ceiling again`() {
        var limiter = ConcurrencyLimiter(ceiling: 64, start: 5)
        limiter.rejected(ended(5), now: now + .seconds(1))
        #expect(ModelHost().run(&limiter, covers: 25_000).limit == 64)
    }

    @Test func `a wave of crowded connections leaves what worked, and few are tried beyond it`() {
        var limiter = ConcurrencyLimiter(ceiling: 64, start: 32)
        for count in (3...32).reversed() {
            limiter.rejected(ended(32, inFlight: count), isOneTooMany: true, now: now + .seconds(1))
        }
        #expect(limiter.limit == 2)
        var crowded = 0
        for _ in 1...300 {
            if limiter.limit > 2 {
                crowded += 1
                limiter.rejected(ended(3, at: 2), isOneTooMany: true, now: now + .seconds(2 + crowded))
            }
            limiter.answered(ended(2, at: 2))
        }
        #expect((1...5).contains(crowded) && limiter.limit >= 2)
    }

    @Test func `one broken connection does not end slow start`() {
        var limiter = ConcurrencyLimiter(ceiling: 64, start: 32)
        limiter.rejected(ended(32), isOneTooMany: true, now: now + .seconds(1))
        for _ in 1...64 { limiter.answered(ended(32, at: 2)) }
        #expect(limiter.limit == 64)
    }

    @Test func `crowding that was none is forgotten`() {
        var limiter = ConcurrencyLimiter(ceiling: 64, start: 32)
        for count in (2...32).reversed() {
            limiter.rejected(ended(32, inFlight: count), isOneTooMany: true, now: now + .seconds(1))
        }
        limiter.forgetCrowding()
        for _ in 1...64 { limiter.answered(ended(32, at: 2)) }
        #expect(limiter.limit == 64)
    }

    @Test func `a fixed limit is the ceiling, whatever happens`() {
        var limiter = ConcurrencyLimiter(ceiling: 9, start: 3, isFixed: true)
        limiter.answered(ended(9))
        for _ in 0..<100 { limiter.rejected(ended(9, at: 1), now: now + .seconds(2)) }
        #expect(limiter.limit == 9 && limiter.interval == .zero)
        limiter.ceiling = 20
        #expect(limiter.limit == 20)
    }
}
