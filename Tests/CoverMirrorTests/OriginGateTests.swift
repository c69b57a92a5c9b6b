import HTTPTypes
import Testing

@testable import CoverLibrary

@Suite struct OriginGateTests {
    private let begun = ContinuousClock.now

    private func at(_ seconds: Double) -> OriginGate.Instant { begun + .seconds(seconds) }

    /// A request that fails at once. - Returns: false: it was turned away.
    private func fail(_ gate: inout OriginGate, at seconds: Double) -> Bool {
        guard let job = try? gate.begin(at: at(seconds)) else { return false }
        gate.failed(job, at: at(seconds))
        return true
    }

    @Test("after three failures in a row nothing is asked for a while, then once; an answer opens the way to all")
    func breaker() throws {
        var gate = OriginGate()
        for _ in 1...3 { #expect(fail(&gate, at: 0)) }
        #expect(gate.closed(at: at(0.1)) == .init(isAsked: false, wait: .milliseconds(400)))
        #expect(gate.isDoubtful(at: at(0.1)) && !fail(&gate, at: 0.4))
        #expect(gate.closed(at: at(0.5)) == nil && gate.isDoubtful(at: at(0.5)), "nothing has shown that it is back")
        let probe = try gate.begin(at: at(0.5))
        #expect(!fail(&gate, at: 0.6), "one probe at a time")
        gate.failed(probe, at: at(0.7))
        #expect(gate.closed(at: at(0.7)) == .init(isAsked: false, wait: .seconds(1)))
        _ = try gate.begin(at: at(1.7))
        gate.answered(status: 200, [:], at: at(1.8), time: 0)
        #expect(gate.closed(at: at(1.8)) == nil && !gate.isDoubtful(at: at(1.8)))
    }

    @Test("an origin that stays away is probed every half minute at the least: somebody waits for it to be back")
    func longAway() {
        var gate = OriginGate()
        var asked: [Double] = []
        for tenth in 0..<6_000 where fail(&gate, at: Double(tenth) / 10) { asked.append(Double(tenth) / 10) }
        let gaps = zip(asked, asked.dropFirst()).map { $1 - $0 }
        #expect(asked.count < 40 && gaps.allSatisfy { $0 <= 30.2 }, "\(asked)")
    }

    @Test("failures that an answer stands between do not close it")
    func notInARow() {
        var gate = OriginGate()
        for _ in 1...9 {
            #expect(fail(&gate, at: 0) && fail(&gate, at: 0))
            gate.answered(status: 500, [:], at: at(0), time: 0)
        }
    }

    @Test("a probe that is taken away leaves the way open for another")
    func dropped() throws {
        var gate = OriginGate()
        for _ in 1...3 { _ = fail(&gate, at: 0) }
        gate.dropped(try gate.begin(at: at(1)))
        #expect(gate.closed(at: at(1)) == nil)
    }

    @Test(
        "Retry-After of a 429 or a 503 is obeyed, ten minutes at most (RFC 9110 §10.2.3)",
        arguments: [
            (429, "7", 7), (503, "7", 7), (503, "86400", 600), (503, nil, nil), (200, "7", nil), (503, "x", nil),
        ]
            as [(Int, String?, Int?)])
    func retryAfter(status: Int, text: String?, seconds: Int?) {
        var gate = OriginGate()
        gate.answered(status: status, text.map { [.retryAfter: $0] } ?? [:], at: begun, time: 0)
        #expect(gate.closed(at: begun) == seconds.map { .init(isAsked: true, wait: .seconds($0)) })
        #expect(gate.closed(at: at(601)) == nil)
    }
}
