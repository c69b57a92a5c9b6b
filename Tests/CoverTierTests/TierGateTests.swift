import Testing

@testable import CoverTier

struct TierGateTests {
    private let start = ContinuousClock.now

    /// A gate that has closed at `start`.
    private func closed() -> TierGate {
        var gate = TierGate()
        for number in 1...3 {
            #expect(gate.admits(start))
            #expect(gate.failed(start) == (number == 3))
        }
        return gate
    }

    @Test func `three failures in a row close the gate, and a success between them keeps it open`() {
        var gate = TierGate()
        for _ in 0..<5 {
            #expect(!gate.failed(start) && !gate.failed(start))
            #expect(!gate.succeeded())
        }
        gate = closed()
        #expect(!gate.admits(start) && gate.closedSince == start)
    }

    @Test func `a closed gate lets one call through after 1 second, and 2, 4, … 30 seconds later`() {
        var gate = closed()
        var now = start
        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            #expect(!gate.admits(now + .seconds(seconds) - .milliseconds(1)))
            now += .seconds(seconds)
            #expect(gate.admits(now) && !gate.admits(now))
            #expect(!gate.failed(now))
        }
        #expect(gate.closedSince == start)
    }

    @Test func `a success opens the gate, and it closes as quickly as before`() {
        var gate = closed()
        #expect(gate.admits(start + .seconds(1)))
        #expect(gate.succeeded() && gate.closedSince == nil)
        #expect(!gate.failed(start) && !gate.failed(start) && gate.failed(start))
    }
}
