import Testing

@testable import CoverLibrary

/// Covers are numbers, renewals are texts, and a group is the number of covers in it.
@Suite struct WritePipelineTests {
    private typealias Pipeline = WritePipeline<Int, String, Int>

    private let start = ContinuousClock.now
    private let commitLimit = 8 << 20

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    private func next(_ pipeline: Pipeline, _ milliseconds: Int) -> Pipeline.Step {
        pipeline.next(at(milliseconds), commitLimit: commitLimit)
    }

    @Test func `a cover waits 20 ms for others, and no longer if nothing else is coming`() {
        var pipeline = Pipeline()
        pipeline.add(1, groupBytes: 100, now: at(0))
        #expect(next(pipeline, 0) == .wait(until: at(20)))
        #expect(next(pipeline, 19) == .wait(until: at(20)))
        #expect(next(pipeline, 20) == .seal)
        pipeline.expectNoMore()
        #expect(next(pipeline, 0) == .seal)
        pipeline.didSeal(1, now: at(0))
        #expect(next(pipeline, 5) == .wait(until: nil))
        #expect(pipeline.didSync(1, isSafe: true, now: at(5))?.id == nil)
        #expect(next(pipeline, 5) == .commit)
        #expect(pipeline.takeSynced().map(\.covers) == [[1]])
        #expect(pipeline.isEmpty && next(pipeline, 5) == .wait(until: nil))
    }

    @Test func `a large group is sealed immediately, but never while another one syncs`() {
        var pipeline = Pipeline()
        pipeline.add(1, groupBytes: Pipeline.minimumGroup, now: at(0))
        #expect(next(pipeline, 0) == .seal)
        pipeline.didSeal(1, now: at(0))
        for number in 2...9 { pipeline.add(number, groupBytes: Pipeline.minimumGroup * number, now: at(number)) }
        #expect(next(pipeline, 900) == .wait(until: nil))
        #expect(pipeline.didSync(1, isSafe: true, now: at(900))?.id == nil)
        #expect(next(pipeline, 900) == .seal, "before the commit, which it overlaps")
        pipeline.didSeal(8, now: at(900))
        #expect(pipeline.syncing?.covers == Array(2...9))
        #expect(pipeline.didSync(1, isSafe: false, now: at(901))?.id == nil, "known already")
        #expect(pipeline.syncing?.id == 2)
    }

    @Test func `groups grow while syncs take long: one gathers for twice as long as the last one, up to a second`() {
        for (sync, expected) in [(5, 20), (10, 20), (200, 400), (400, 800), (3_000, 1_000)] {
            var pipeline = Pipeline()
            pipeline.add(1, groupBytes: 1, now: at(0))
            pipeline.didSeal(1, now: at(0))
            #expect(pipeline.didSync(1, isSafe: true, now: at(sync))?.id == nil)
            _ = pipeline.takeSynced()
            pipeline.add(2, groupBytes: Pipeline.minimumGroup, now: at(sync))
            #expect((next(pipeline, sync) == .seal) == (expected == 20), "a small group is enough for a quick disk")
            var small = pipeline
            small.add(3, groupBytes: 1, now: at(sync))
            #expect(next(small, sync) == .wait(until: at(sync + expected)))
            #expect(next(small, sync + expected) == .seal)
            pipeline.add(3, groupBytes: Pipeline.largeGroup, now: at(sync))
            #expect(next(pipeline, sync) == .seal)
        }
    }

    @Test func `a group holds a limited number of covers`() {
        var pipeline = Pipeline()
        for number in 1..<Pipeline.maximumCount { pipeline.add(number, groupBytes: 1, now: at(0)) }
        #expect(pipeline.hasRoom && next(pipeline, 0) == .wait(until: at(20)))
        pipeline.add(0, groupBytes: 1, now: at(0))
        #expect(!pipeline.hasRoom && next(pipeline, 0) == .seal)
    }

    @Test func `synced groups are committed together while others are coming, and none waits for longer than a second`()
    {
        var pipeline = Pipeline()
        for number in 1...3 {
            pipeline.add(number, groupBytes: 1 << 20, now: at(number * 300))
            pipeline.expectNoMore()
            pipeline.didSeal(1, now: at(number * 300))
            pipeline.add(-number, groupBytes: 1, now: at(number * 300))
            _ = pipeline.takeGathering()
            #expect(pipeline.didSync(number, isSafe: true, now: at(number * 300 + 10))?.id == nil)
            pipeline.add(-number, groupBytes: 1, now: at(number * 300 + 10))
            #expect(next(pipeline, number * 300 + 11) == .wait(until: at(number * 300 + 30)))
            _ = pipeline.takeGathering()
        }
        pipeline.add(4, groupBytes: 1, now: at(1_295))
        #expect(next(pipeline, 1_299) == .wait(until: at(1_300)))
        #expect(next(pipeline, 1_300) == .commit)
        #expect(pipeline.takeSynced().map(\.covers) == [[1], [2], [3]])
    }

    @Test func `synced groups that are long together are committed while others gather`() {
        var pipeline = Pipeline()
        pipeline.add(1, groupBytes: commitLimit, now: at(0))
        pipeline.didSeal(1, now: at(0))
        pipeline.add(2, groupBytes: 1, now: at(1))
        _ = pipeline.didSync(1, isSafe: true, now: at(2))
        #expect(next(pipeline, 2) == .commit)
    }

    @Test func `a group whose sync failed is given back, and the others are committed`() {
        var pipeline = Pipeline()
        pipeline.add(1, groupBytes: 1, now: at(0))
        pipeline.didSeal(1, now: at(0))
        #expect(pipeline.didSync(1, isSafe: false, now: at(0))?.covers == [1])
        #expect(pipeline.isEmpty)
        pipeline.add(2, groupBytes: 1, now: at(0))
        pipeline.didSeal(1, now: at(0))
        #expect(pipeline.didSync(2, isSafe: true, now: at(0)) { $0 *= 10 }?.id == nil)
        #expect(pipeline.takeSynced().map(\.covers) == [[20]], "changed when the sync ended")
    }

    @Test func `renewals wait for each other, not for covers`() {
        var pipeline = Pipeline()
        pipeline.add(1, groupBytes: 1, now: at(0))
        pipeline.didSeal(1, now: at(0))
        pipeline.add(renewal: "a", now: at(5))
        #expect(next(pipeline, 6) == .wait(until: at(25)))
        #expect(next(pipeline, 25) == .renew)
        #expect(pipeline.takeRenewals() == ["a"] && !pipeline.isEmpty)
        for number in 1...Pipeline.maximumCount { pipeline.add(renewal: "\(number)", now: at(30)) }
        #expect(next(pipeline, 30) == .renew)
    }

    @Test func `a flush waits for nothing but the disk`() {
        var pipeline = Pipeline()
        pipeline.add(1, groupBytes: 1, now: at(0))
        pipeline.add(renewal: "a", now: at(0))
        pipeline.isFlushing = true
        #expect(next(pipeline, 0) == .renew)
        _ = pipeline.takeRenewals()
        #expect(next(pipeline, 0) == .seal)
        pipeline.didSeal(1, now: at(0))
        #expect(next(pipeline, 500) == .wait(until: nil))
    }
}
