import HTTPTypes
import Testing

@testable import CoverMirror

@Suite struct OriginGateTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> OriginGate.Instant { start + .seconds(seconds) }

    /// Starts a request that fails at once. - Returns: false if the gate is closed.
    private func fail(_ gate: inout OriginGate, at seconds: Double) -> Bool {
        guard let job = try? gate.begin("/1", at: at(seconds)) else { return false }
        gate.didFail(job, at: at(seconds))
        return true
    }

    @Test func `three failures in a row close it, then one probe at a time is allowed; a response opens it`() throws {
        var gate = OriginGate()
        for _ in 1...3 { #expect(fail(&gate, at: 0)) }
        #expect(gate.closed(at: at(0.1), "/1") == .init(isRequested: false, delay: .milliseconds(400)))
        #expect(gate.mayBeUnreachable(at: at(0.1), "/1") && !fail(&gate, at: 0.4))
        #expect(gate.closed(at: at(0.5), "/1") == nil)
        #expect(gate.mayBeUnreachable(at: at(0.5), "/1"), "no response has arrived yet")
        let probe = try gate.begin("/1", at: at(0.5))
        #expect(!fail(&gate, at: 0.6), "one probe at a time")
        gate.didFail(probe, at: at(0.7))
        #expect(gate.closed(at: at(0.7), "/1") == .init(isRequested: false, delay: .seconds(1)))
        _ = try gate.begin("/1", at: at(1.7))
        gate.didRespond("/1", status: 200, [:], at: at(1.8), time: 0)
        #expect(gate.closed(at: at(1.8), "/1") == nil && !gate.mayBeUnreachable(at: at(1.8), "/1"))
    }

    @Test func `an origin that stays down is probed at least every half minute`() {
        var gate = OriginGate()
        var probes: [Double] = []
        for tenth in 0..<6_000 where fail(&gate, at: Double(tenth) / 10) { probes.append(Double(tenth) / 10) }
        let gaps = zip(probes, probes.dropFirst()).map { $1 - $0 }
        #expect((20..<40).contains(probes.count) && gaps.allSatisfy { $0 <= 30.2 }, "\(probes)")
    }

    @Test func `failures with a response between them do not close it`() {
        var gate = OriginGate()
        for _ in 1...9 {
            #expect(fail(&gate, at: 0) && fail(&gate, at: 0))
            gate.didRespond("/1", status: 500, [:], at: at(0), time: 0)
        }
    }

    @Test func `another probe may follow a cancelled one`() throws {
        var gate = OriginGate()
        for _ in 1...3 { _ = fail(&gate, at: 0) }
        gate.didCancel(try gate.begin("/1", at: at(1)))
        #expect(gate.closed(at: at(1), "/1") == nil)
    }

    @Test(
        arguments: [
            (429, "7", 7), (503, "7", 7), (503, "86400", 600), (503, nil, nil), (200, "7", nil), (503, "x", nil),
        ]
            as [(Int, String?, Int?)])
    func `Retry-After of a 429 or a 503 is obeyed, ten minutes at most (RFC 9110 §10.2.3)`(
        status: Int, text: String?, seconds: Int?
    ) {
        var gate = OriginGate()
        gate.didRespond("/1", status: status, text.map { [.retryAfter: $0] } ?? [:], at: start, time: 0)
        #expect(gate.closed(at: start, "/1") == seconds.map { .init(isRequested: true, delay: .seconds($0)) })
        #expect(gate.closed(at: at(601), "/1") == nil)
    }

    @Test func `a pause concerns its URL; three URLs refused in a row close the gate for all, and an answer opens it`()
    {
        var gate = OriginGate()
        func refuse(_ url: String) {
            gate.didRespond(url, status: 503, [.retryAfter: "60"], at: start, time: 0)
        }
        for url in ["/1", "/2", "/1"] { refuse(url) }
        #expect(gate.closed(at: start, "/1") != nil && gate.closed(at: start, "/3") == nil)
        gate.didRespond("/3", status: 200, [:], at: start, time: 0)
        refuse("/4")
        refuse("/5")
        #expect(gate.closed(at: start, "/3") == nil, "not in a row")
        refuse("/6")
        #expect(gate.closed(at: start, "/3") == .init(isRequested: true, delay: .seconds(60)))
        #expect(gate.closed(at: at(60), "/3") == nil)
        refuse("/6")
        #expect(gate.closed(at: start, "/3") != nil, "one more refusal is enough")
        gate.didRespond("/7", status: 404, [:], at: start, time: 0)
        #expect(gate.closed(at: start, "/3") == nil && gate.closed(at: start, "/1") != nil)
    }
}
