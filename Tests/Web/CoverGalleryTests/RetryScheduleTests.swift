import Testing

@testable import CoverGallery
@testable import CoverLibrary

@Suite struct RetryScheduleTests {
    private let start = ContinuousClock.now

    private func url(_ number: Int, host: String = "a.example") -> String { "http://\(host)/\(number).jpg?size=1" }

    private func failure(_ kind: CoverFailure.Kind, _ url: String, status: Int? = nil) -> CoverFailure {
        CoverFailure(kind, url: url, detail: "", status: status)
    }

    @Test func `a failure that may pass is retried after 5 s, then after twice as long, at most 5 min`() {
        var schedule = RetrySchedule()
        var now = start
        for seconds in [5, 10, 20, 40, 80, 160, 300, 300] {
            _ = schedule.didFail(url(1), failure(.status, url(1), status: 503), hasSeveralURLs: false, at: now)
            #expect(schedule.problem(of: url(1), at: now + .seconds(seconds) - .milliseconds(1)) != nil)
            now += .seconds(seconds)
            #expect(schedule.isDue(url(1), at: now) && schedule.problem(of: url(1), at: now) == nil)
        }
    }

    @Test func `a permanent failure is not retried, until a person asks for it`() {
        var schedule = RetrySchedule()
        _ = schedule.didFail(url(1), failure(.status, url(1), status: 404), hasSeveralURLs: false, at: start)
        #expect(schedule.problem(of: url(1), at: start + .seconds(3_600)) != nil)
        schedule.forget(url(1))
        #expect(schedule.problem(of: url(1), at: start) == nil)
    }

    @Test func `an unreachable host gets one request every two seconds, and its other covers follow when it answers`() {
        var schedule = RetrySchedule()
        let covers = [url(1), url(2), url(3, host: "b.example")]
        for cover in covers { _ = schedule.didFail(cover, failure(.connect, cover), hasSeveralURLs: false, at: start) }
        let probes = [1, 2, 3].map { schedule.takeProbes(among: covers, at: start + .seconds($0)) }
        #expect(probes.map(Set.init) == [[], [covers[0], covers[2]], []])
        let wasUnreachable = schedule.didArrive(covers[0], at: start + .seconds(3))
        #expect(wasUnreachable)
        #expect(schedule.problem(of: covers[1], at: start + .seconds(3)) == nil)
        #expect(schedule.problem(of: covers[2], at: start + .seconds(3)) != nil, "another host")
        let isUnreachable = schedule.didArrive(covers[1], at: start + .seconds(4))
        #expect(!isUnreachable)
    }

    @Test func `a status ends the outage of its host, unless the cover has several URLs`() {
        var schedule = RetrySchedule()
        _ = schedule.didFail(url(1), failure(.connect, url(1)), hasSeveralURLs: false, at: start)
        let status = failure(.status, url(2), status: 404)
        let ended = [true, false].map { schedule.didFail(url(2), status, hasSeveralURLs: $0, at: start) }
        #expect(ended == [false, true])
        #expect(schedule.problem(of: url(1), at: start) == nil)
    }
}
