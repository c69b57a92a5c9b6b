import Testing

@testable import CoverTier

struct TierGateTests {
    private let start = ContinuousClock.now

    /// A gate that has closed at `start`, and what each of three failures has said.
    private func closed() -> (TierGate, [Bool]) {
        var gate = TierGate()
        let hasClosed = (0..<3).map { _ in gate.failed(start) }
        return (gate, hasClosed)
    }

    @Test func `three failures in a row close the gate, and a success between them keeps it open`() {
        var gate = TierGate()
        for _ in 0..<5 {
            let results = [gate.failed(start), gate.failed(start), gate.succeeded(), !gate.admits(start)]
            #expect(results == [false, false, false, false])
        }
        let (closed, hasClosed) = closed()
        gate = closed
        let admits = gate.admits(start)
        #expect(hasClosed == [false, false, true] && !admits && gate.closedSince == start)
    }

    @Test func `a closed gate lets one call through after 1 second, and 2, 4, … 30 seconds later`() {
        var (gate, now) = (closed().0, start)
        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            let early = gate.admits(now + .seconds(seconds) - .milliseconds(1))
            now += .seconds(seconds)
            let results = [early, gate.admits(now), gate.admits(now), gate.failed(now)]
            #expect(results == [false, true, false, false], "\(seconds)")
        }
        #expect(gate.closedSince == start)
    }

    @Test func `a success opens the gate, and it closes as quickly as before`() {
        var (gate, _) = closed()
        let results = [gate.admits(start + .seconds(1)), gate.succeeded(), gate.admits(start)]
        #expect(results == [true, true, true] && gate.closedSince == nil)
        let again = (0..<3).map { _ in gate.failed(start) }
        #expect(again == [false, false, true])
    }
}
