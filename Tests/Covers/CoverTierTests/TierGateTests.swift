import Testing

@testable import CoverTier

struct TierGateTests {
    private let start = ContinuousClock.now
    private let keys = (0..<3).map { TierKey("https://a.example/\($0).jpg") }

    /// A gate that has closed at `start`, and what each of three failures has said.
    private func closed() -> (TierGate, [Bool]) {
        var gate = TierGate()
        let hasClosed = keys.map { gate.failed($0, start) }
        return (gate, hasClosed)
    }

    @Test func `three failures in a row close the gate, and a success between them keeps it open`() {
        var gate = TierGate()
        for _ in 0..<5 {
            let results = [
                gate.failed(keys[0], start), gate.failed(keys[1], start), gate.succeeded(), !gate.admits(start),
            ]
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
            let results = [early, gate.admits(now), gate.admits(now), gate.failed(keys[0], now)]
            #expect(results == [false, true, false, false], "\(seconds)")
        }
        #expect(gate.closedSince == start)
    }

    @Test func `a success opens the gate, and it closes as quickly as before`() {
        var (gate, _) = closed()
        let results = [gate.admits(start + .seconds(1)), gate.succeeded(), gate.admits(start)]
        #expect(results == [true, true, true] && gate.closedSince == nil)
        let again = keys.map { gate.failed($0, start) }
        #expect(again == [false, false, true])
    }

    @Test func `one cover that is never answered does not close the gate`() {
        var gate = TierGate()
        for _ in 0..<9 where gate.failed(keys[0], start) { Issue.record("closed") }
        let results = [gate.admits(start), gate.failed(keys[1], start), gate.failed(keys[2], start)]
        #expect(results == [true, false, true])
    }
}
