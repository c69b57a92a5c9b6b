import Testing

@testable import CoverLibrary

@Suite struct PipelineDepthTests {
    /// A server with so many in flight to it: how long it takes for a pipeline of some length, in milliseconds.
    private func depth(
        _ start: PipelineDepth = PipelineDepth(), limit: Int = 64, company: Int = 64, _ latency: (Int) -> Double
    ) -> PipelineDepth {
        var depth = start
        var now = ContinuousClock.now
        for _ in 0..<400 {
            let length = depth.length(limit: limit)
            let began = now
            now += .seconds(latency(length) / 1_000)
            for _ in 0..<max(1, company / length) {
                depth.answered(length, company: company, limit: limit, began: began, now: now)
            }
        }
        return depth
    }

    @Test("it grows where the time goes into requests, whichever way they come, to an eighth of what may be in flight")
    func quick() {
        let deep = depth { _ in 2 }
        #expect(deep.length(limit: 64) == 8 && deep.length(limit: 32) == 4 && deep.length(limit: 4) == 1)
        let deepest = depth(limit: 1_000, company: 1_000) { _ in 2 }
        #expect(deepest.length(limit: 1_000) == 16)
    }

    @Test("it stays one by one where the server takes its time for each answer")
    func slow() {
        let depth = depth { Double($0) * 20 }
        #expect(depth.length(limit: 64) == 1)
    }

    @Test("chance does not make it fall back")
    func noise() {
        var round = 0
        let depth = depth { _ in
            round += 1
            return round.isMultiple(of: 2) ? 1.8 : 2.2
        }
        #expect(depth.length(limit: 64) == 8)
    }

    @Test("where less is in flight than might be, nothing is to be learnt")
    func idle() {
        let depth = depth(company: 10) { _ in 2 }
        #expect(depth.length(limit: 64) == 1)
    }

    @Test("where something changes now and then, less goes together")
    func changes() {
        var held = depth { _ in 2 }
        for _ in 0..<3 { held.wasHeldUp() }
        #expect(held.length(limit: 64) == 1)
        let later = depth(held) { _ in 2 }
        #expect(later.length(limit: 64) == 8)
    }

    @Test("a server that drops what is behind its answer gets one at a time from then on")
    func broken() {
        var broken = depth { _ in 2 }
        broken.broke()
        let later = depth(broken) { _ in 2 }
        #expect(later.length(limit: 64) == 1)
    }
}
