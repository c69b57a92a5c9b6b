@testable import CoverSources
import Testing

@Suite struct SourceLimiterTests {
    @Test func `requests beyond the rate wait until the oldest of the interval is past`() {
        var limiter = SourceLimiter(RateRule(3, in: .seconds(60), pause: .seconds(30)))
        for second in 0..<3 {
            #expect(limiter.delay(at: .seconds(second)) == .zero)
            limiter.didSend(at: .seconds(second))
        }
        #expect(limiter.delay(at: .seconds(3)) == .seconds(57))
        #expect(limiter.delay(at: .seconds(60)) == .zero)
        limiter.didSend(at: .seconds(60))
        #expect(limiter.delay(at: .seconds(60)) == .seconds(1))
    }

    @Test func `a request that was long on its way counts from its answer, a single one from its start`() {
        var limiter = SourceLimiter(RateRule(2, in: .seconds(5), pause: .seconds(5)))
        limiter.didSend(at: .zero)
        limiter.didEnd(at: .seconds(1))
        limiter.didSend(at: .seconds(1))
        #expect(limiter.delay(at: .seconds(5)) == .seconds(1))
        var single = SourceLimiter(RateRule(1, in: .seconds(1), pause: .seconds(2)))
        single.didSend(at: .zero)
        single.didEnd(at: .seconds(1))
        #expect(single.delay(at: .seconds(1)) == .zero)
    }

    @Test func `pauses double with each throttled request and end with an answer`() {
        var limiter = SourceLimiter(RateRule(1, in: .seconds(1), pause: .seconds(2)))
        limiter.didThrottle(at: .zero, retryAfter: nil)
        #expect(limiter.delay(at: .zero) == .seconds(2))
        limiter.didThrottle(at: .seconds(2), retryAfter: nil)
        #expect(limiter.delay(at: .seconds(2)) == .seconds(4))
        limiter.didAnswer()
        #expect(limiter.delay(at: .seconds(2)) == .zero)
        limiter.didThrottle(at: .seconds(10), retryAfter: nil)
        #expect(limiter.delay(at: .seconds(10)) == .seconds(2))
    }

    @Test func `a pause is as long as the source asks for, and a very long one ends the run's requests`() {
        var limiter = SourceLimiter(nil)
        limiter.didThrottle(at: .zero, retryAfter: .seconds(120))
        #expect(limiter.delay(at: .zero) == .seconds(120))
        #expect(limiter.abandonment == nil)
        limiter.didThrottle(at: .zero, retryAfter: .seconds(86_400))
        #expect(limiter.abandonment?.contains("86400 s") == true)
    }

    @Test func `failures in a row end the run's requests, an answer between them does not count`() {
        var limiter = SourceLimiter(nil)
        for _ in 0..<3 { limiter.didFail(at: .zero, "down") }
        limiter.didAnswer()
        for _ in 0..<3 { limiter.didFail(at: .zero, "down") }
        #expect(limiter.abandonment == nil)
        limiter.didFail(at: .zero, "down")
        #expect(limiter.abandonment?.contains("down") == true)
    }
}
