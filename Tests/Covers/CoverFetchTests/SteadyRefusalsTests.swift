import Testing

@testable import CoverFetch

@Suite struct SteadyRefusalsTests {
    /// The verdict on each refusal, of `share` of the requests that end while the limit is that number.
    private func verdicts(
        _ refusals: inout SteadyRefusals, _ count: Int, oneIn share: Int, limit: Double
    ) -> [SteadyRefusals.Verdict] {
        (1...count * share).compactMap { number in
            let verdict = refusals.count(isRefused: number.isMultiple(of: share), limit: limit)
            return number.isMultiple(of: share) ? verdict : nil
        }
    }

    @Test func `the same share below a lower limit brings the former limit back, until the share doubles`() {
        var refusals = SteadyRefusals()
        #expect(verdicts(&refusals, 10, oneIn: 20, limit: 60).allSatisfy { $0 == .cut })
        let below = verdicts(&refusals, 8, oneIn: 20, limit: 30)
        #expect(below.dropLast().allSatisfy { $0 == .cut } && below.last == .restore(60))
        #expect(verdicts(&refusals, 50, oneIn: 20, limit: 60).allSatisfy { $0 == .ignore })
        #expect(verdicts(&refusals, 100, oneIn: 4, limit: 60).contains(.cut))
    }

    @Test func `a steady share is forgotten once far more is refused: it has to show itself again`() {
        var refusals = SteadyRefusals()
        _ = verdicts(&refusals, 10, oneIn: 20, limit: 60)
        #expect(verdicts(&refusals, 8, oneIn: 20, limit: 30).last == .restore(60))
        #expect(verdicts(&refusals, 10, oneIn: 20, limit: 60).allSatisfy { $0 == .ignore })
        _ = verdicts(&refusals, 100, oneIn: 1, limit: 60)
        #expect(verdicts(&refusals, 50, oneIn: 20, limit: 60).allSatisfy { $0 == .cut })
    }

    @Test(arguments: [
        // Fewer at the lower limit; more than a host in order refuses; what the growth of so small a limit costs.
        (20, 80, 60.0, 30.0), (6, 6, 60, 30), (20, 20, 8, 4),
    ])
    func `no other share is steady`(above: Int, below: Int, limit: Double, lower: Double) {
        var refusals = SteadyRefusals()
        #expect(verdicts(&refusals, 10, oneIn: above, limit: limit).allSatisfy { $0 == .cut })
        #expect(verdicts(&refusals, 30, oneIn: below, limit: lower).allSatisfy { $0 == .cut })
    }
}
