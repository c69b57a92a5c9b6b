import Testing

@testable import WebServer

@Suite final class ConnectionProgressTests {
    private typealias Observation = ConnectionProgress.Observation
    private var progress = ConnectionProgress(
        ConnectionTimeouts(idle: .seconds(60), stall: .seconds(30)), at: ConnectionProgressTests.start)
    private static let start = ContinuousClock.now

    private func isStalled(_ observed: Observation, at now: ContinuousClock.Instant) -> Bool {
        progress.isStalled(observed, at: now)
    }

    private func second(_ seconds: Int64) -> ContinuousClock.Instant { Self.start + .seconds(seconds) }

    @Test func `a client that takes something of a response every 29 seconds is never stalled`() {
        for step in 1...100 as ClosedRange<Int64> {
            let observed = Observation(phase: .responding, sent: Int(step), unsent: 1_000)
            #expect(!isStalled(observed, at: second(29 * step)))
        }
    }

    @Test
    func
        `a client that reads no byte of a response for 30 seconds has stalled, whatever is written meanwhile`()
    {
        #expect(!isStalled(Observation(phase: .responding, sent: 5, unsent: 10), at: second(1)))
        #expect(!isStalled(Observation(phase: .responding, sent: 5, unsent: 10_000), at: second(30)))
        #expect(isStalled(Observation(phase: .responding, sent: 5, unsent: 20_000), at: second(31)))
    }

    @Test func `the last bytes of a response are waited for as long as it makes progress`() {
        #expect(!isStalled(Observation(phase: .idle, answered: 1, sent: 5, unsent: 10), at: second(1)))
        #expect(!isStalled(Observation(phase: .idle, answered: 1, sent: 6, unsent: 9), at: second(30)))
        #expect(isStalled(Observation(phase: .idle, answered: 1, sent: 6, unsent: 9), at: second(60)))
    }

    @Test func `a client that waits for the server is not stalled`() {
        for hour in 1...10 as ClosedRange<Int64> {
            #expect(!isStalled(Observation(phase: .responding, sent: 7), at: second(3_600 * hour)))
        }
        #expect(!isStalled(Observation(phase: .responding, sent: 7, unsent: 1), at: second(36_029)))
    }

    @Test func `a head must be complete within the idle time, however its bytes arrive`() {
        for step in 1..<60 as Range<Int64> {
            #expect(!isStalled(Observation(received: Int(step)), at: second(step)))
        }
        #expect(isStalled(Observation(received: 60), at: second(60)))
    }

    @Test func `a body that arrives in kilobytes is slow, one that arrives in single bytes has stalled`() {
        var now: Int64 = 1
        #expect(!isStalled(Observation(phase: .receiving), at: second(now)))
        for step in 1...10 {
            now += 29
            #expect(!isStalled(Observation(phase: .receiving, received: step * 1_024), at: second(now)))
        }
        now += 29
        #expect(!isStalled(Observation(phase: .receiving, received: 10_250), at: second(now)))
        #expect(isStalled(Observation(phase: .receiving, received: 10_260), at: second(now + 1)))
    }

    @Test func `each response begins a new idle time`() {
        #expect(!isStalled(Observation(answered: 1), at: second(59)))
        #expect(!isStalled(Observation(answered: 1), at: second(118)))
        #expect(isStalled(Observation(answered: 1), at: second(119)))
    }
}
