import Testing

@testable import CoverLibrary

/// Covers are numbers, renewals are texts, and a group is the number of covers in it.
@Suite struct WriteScheduleTests {
    private typealias Pipeline = WriteSchedule<Int, String, Int>

    private let start = ContinuousClock.now
    private let commitLimit = 8 << 20

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    private func next(_ schedule: Pipeline, _ milliseconds: Int) -> Pipeline.Step {
        schedule.next(at(milliseconds), commitLimit: commitLimit)
    }

    @Test func `a cover waits 20 ms for others, and no longer if nothing else is coming`() {
        var schedule = Pipeline()
        schedule.add(1, groupBytes: 100, now: at(0))
        #expect(next(schedule, 0) == .wait(until: at(20)))
        #expect(next(schedule, 19) == .wait(until: at(20)))
        #expect(next(schedule, 20) == .seal)
        schedule.expectNoMore()
        #expect(next(schedule, 0) == .seal)
        schedule.didSeal(1, now: at(0))
        #expect(next(schedule, 5) == .wait(until: nil))
        #expect(schedule.didSync(1, isSafe: true, now: at(5))?.id == nil)
        #expect(next(schedule, 5) == .commit)
        #expect(schedule.takeSynced().map(\.covers) == [[1]])
        #expect(schedule.isEmpty && next(schedule, 5) == .wait(until: nil))
    }

    @Test func `a large group is sealed immediately, but never while another one syncs`() {
        var schedule = Pipeline()
        schedule.add(1, groupBytes: Pipeline.minimumGroup, now: at(0))
        #expect(next(schedule, 0) == .seal)
        schedule.didSeal(1, now: at(0))
        for number in 2...9 { schedule.add(number, groupBytes: Pipeline.minimumGroup * number, now: at(number)) }
        #expect(next(schedule, 900) == .wait(until: nil))
        #expect(schedule.didSync(1, isSafe: true, now: at(900))?.id == nil)
        #expect(next(schedule, 900) == .seal, "before the commit, which it overlaps")
        schedule.didSeal(8, now: at(900))
        #expect(schedule.syncing?.covers == Array(2...9))
        #expect(schedule.didSync(1, isSafe: false, now: at(901))?.id == nil, "known already")
        #expect(schedule.syncing?.id == 2)
    }

    @Test func `groups grow while syncs take long: one gathers for twice as long as the last one, up to a second`() {
        for (sync, expected) in [(5, 20), (10, 20), (200, 400), (400, 800), (3_000, 1_000)] {
            var schedule = Pipeline()
            schedule.add(1, groupBytes: 1, now: at(0))
            schedule.didSeal(1, now: at(0))
            #expect(schedule.didSync(1, isSafe: true, now: at(sync))?.id == nil)
            _ = schedule.takeSynced()
            schedule.add(2, groupBytes: Pipeline.minimumGroup, now: at(sync))
            #expect((next(schedule, sync) == .seal) == (expected == 20), "a small group is enough for a quick disk")
            var small = schedule
            small.add(3, groupBytes: 1, now: at(sync))
            #expect(next(small, sync) == .wait(until: at(sync + expected)))
            #expect(next(small, sync + expected) == .seal)
            schedule.add(3, groupBytes: Pipeline.largeGroup, now: at(sync))
            #expect(next(schedule, sync) == .seal)
        }
    }

    @Test func `a group holds a limited number of covers`() {
        var schedule = Pipeline()
        for number in 1..<Pipeline.maximumCount { schedule.add(number, groupBytes: 1, now: at(0)) }
        #expect(schedule.hasRoom && next(schedule, 0) == .wait(until: at(20)))
        schedule.add(0, groupBytes: 1, now: at(0))
        #expect(!schedule.hasRoom && next(schedule, 0) == .seal)
    }

    @Test func `synced groups are committed together while others are coming, and none waits for longer than a second`()
    {
        var schedule = Pipeline()
        for number in 1...3 {
            schedule.add(number, groupBytes: 1 << 20, now: at(number * 300))
            schedule.expectNoMore()
            schedule.didSeal(1, now: at(number * 300))
            schedule.add(-number, groupBytes: 1, now: at(number * 300))
            _ = schedule.takeGathering()
            #expect(schedule.didSync(number, isSafe: true, now: at(number * 300 + 10))?.id == nil)
            schedule.add(-number, groupBytes: 1, now: at(number * 300 + 10))
            #expect(next(schedule, number * 300 + 11) == .wait(until: at(number * 300 + 30)))
            _ = schedule.takeGathering()
        }
        schedule.add(4, groupBytes: 1, now: at(1_295))
        #expect(next(schedule, 1_299) == .wait(until: at(1_300)))
        #expect(next(schedule, 1_300) == .commit)
        #expect(schedule.takeSynced().map(\.covers) == [[1], [2], [3]])
    }

    @Test func `synced groups that are long together are committed while others gather`() {
        var schedule = Pipeline()
        schedule.add(1, groupBytes: commitLimit, now: at(0))
        schedule.didSeal(1, now: at(0))
        schedule.add(2, groupBytes: 1, now: at(1))
        _ = schedule.didSync(1, isSafe: true, now: at(2))
        #expect(next(schedule, 2) == .commit)
    }

    @Test func `a group whose sync failed is given back, and the others are committed`() {
        var schedule = Pipeline()
        schedule.add(1, groupBytes: 1, now: at(0))
        schedule.didSeal(1, now: at(0))
        #expect(schedule.didSync(1, isSafe: false, now: at(0))?.covers == [1])
        #expect(schedule.isEmpty)
        schedule.add(2, groupBytes: 1, now: at(0))
        schedule.didSeal(1, now: at(0))
        #expect(schedule.didSync(2, isSafe: true, now: at(0)) { $0 *= 10 }?.id == nil)
        #expect(schedule.takeSynced().map(\.covers) == [[20]], "changed when the sync ended")
    }

    @Test func `renewals wait for each other, not for covers`() {
        var schedule = Pipeline()
        schedule.add(1, groupBytes: 1, now: at(0))
        schedule.didSeal(1, now: at(0))
        schedule.add(renewal: "a", now: at(5))
        #expect(next(schedule, 6) == .wait(until: at(25)))
        #expect(next(schedule, 25) == .renew)
        #expect(schedule.takeRenewals() == ["a"] && !schedule.isEmpty)
        for number in 1...Pipeline.maximumCount { schedule.add(renewal: "\(number)", now: at(30)) }
        #expect(next(schedule, 30) == .renew)
    }

    @Test func `a flush waits for nothing but the disk`() {
        var schedule = Pipeline()
        schedule.add(1, groupBytes: 1, now: at(0))
        schedule.add(renewal: "a", now: at(0))
        schedule.isFlushing = true
        #expect(next(schedule, 0) == .renew)
        _ = schedule.takeRenewals()
        #expect(next(schedule, 0) == .seal)
        schedule.didSeal(1, now: at(0))
        #expect(next(schedule, 500) == .wait(until: nil))
    }
}
