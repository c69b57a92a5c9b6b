import Testing

@testable import CoverFetch

@Suite struct BreakerTests {
    private let start = ContinuousClock.now

    private func job(_ number: Int) -> JobID { JobID(slot: number, use: number + 1) }

    private func fail(
        _ breaker: inout Breaker, _ numbers: Range<Int>, _ failure: Ending, hasAnswered: Bool = true
    ) {
        for number in numbers { breaker.failed(job(number), failure, hasAnswered: hasAnswered, now: start) }
    }

    @Test func `two requests that fail again and again do not open it`() {
        var breaker = Breaker()
        for _ in 0..<100 { fail(&breaker, 0..<2, .unreachable) }
        #expect(breaker.isClosed)
    }

    @Test(arguments: [(Ending.unreachable, true, 8), (.unreachable, false, 3), (.erroneous, true, 24)])
    func `different failed requests open it, fewer if the host has never answered`(
        failure: Ending, hasAnswered: Bool, count: Int
    ) {
        var breaker = Breaker()
        fail(&breaker, 0..<count - 1, failure, hasAnswered: hasAnswered)
        #expect(breaker.isClosed)
        fail(&breaker, count - 1..<count, failure, hasAnswered: hasAnswered)
        #expect(!breaker.isClosed)
    }

    @Test func `a success resets the count of failures, and closes it`() {
        var breaker = Breaker()
        for round in 0..<10 {
            fail(&breaker, round * 7..<round * 7 + 7, .unreachable)
            breaker.succeeded()
        }
        #expect(breaker.isClosed)
        fail(&breaker, 100..<108, .unreachable)
        #expect(!breaker.isClosed)
        breaker.succeeded()
        #expect(breaker.isClosed)
    }

    @Test func `a host that answers with errors is never given up; after a hundred probes there are no pauses`() {
        var breaker = Breaker()
        fail(&breaker, 0..<24, .erroneous)
        for number in 100..<1_100 {
            #expect(!breaker.isGivenUp(start) && !breaker.isProbing)
            breaker.starts(job(number))
            #expect(breaker.isProbing)
            fail(&breaker, number..<number + 1, .erroneous)
            #expect((breaker.opens == nil) == (number >= 199))
            #expect(breaker.isFailingForLong == (number >= 199))
        }
    }

    @Test func `an answered error resets the count of unreachable probes`() {
        var breaker = Breaker()
        fail(&breaker, 0..<8, .unreachable)
        for (number, failure) in [Ending.unreachable, .unreachable, .erroneous, .unreachable, .unreachable]
            .enumerated()
        {
            breaker.starts(job(100 + number))
            fail(&breaker, 100 + number..<101 + number, failure)
            #expect(!breaker.isGivenUp(start))
        }
        breaker.starts(job(200))
        fail(&breaker, 200..<201, .unreachable)
        #expect(breaker.isGivenUp(start))
    }
}
