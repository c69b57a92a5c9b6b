import CurlHTTP
import Testing

@testable import CoverFetch

@Suite struct HostMemoryTests {
    private let now = HostMemory.Moment(instant: .now, milliseconds: 1_700_000_000_000)
    private func later(_ seconds: Int64) -> HostMemory.Moment {
        .init(instant: now.instant + .seconds(seconds), milliseconds: now.milliseconds + seconds * 1_000)
    }

    @Test func `what one process writes another reads later`() throws {
        for (http2, limit, hasRejected) in [(nil, nil, false), (true, 128, false), (false, 19, true)] {
            let memory = HostMemory(
                http2: http2, limit: limit, hasRejected: hasRejected, restsUntil: now.instant + .seconds(600))
            let text = try #require(memory.text(at: now))
            // Another process: its monotonic clock has another origin.
            let moment = HostMemory.Moment(instant: now.instant + .seconds(5_000), milliseconds: later(60).milliseconds)
            let read = HostMemory(text, at: moment)
            #expect(read.http2 == http2 && read.limit == limit && read.hasRejected == hasRejected)
            #expect(read.restsUntil == moment.instant + .seconds(540))
        }
    }

    @Test func `a text without a pause is read; pauses that are over or malformed are ignored`() {
        let memory = HostMemory(http2: false, limit: 19, hasRejected: true)
        #expect(
            HostMemory("h1; rejects beyond 19", at: now) == memory && memory.text(at: now) == "h1; rejects beyond 19")
        let texts = [
            "19 below 20", "32", "h3", "limit 0", "limit -1", "limit x", "rejects 19",
            "closed 1000 from 1699999999000", "closed 9 from x", "closed from", "", ";", "closed until 1700000060000",
            "closed -9223372036854775808 from 1700000000000", "closed 9 from -9223372036854775808", "closed -1 from 0",
        ]
        for text in texts { #expect(HostMemory(text, at: now).text(at: now) == nil, "\(text)") }
        #expect(HostMemory(restsUntil: now.instant + .seconds(5)).text(at: later(6)) == nil)
    }

    @Test func `a pause from an earlier run lasts a day at most`() {
        let year = HostMemory("closed 31536000000 from \(now.milliseconds)", at: now)
        #expect(year.restsUntil == later(86_400).instant)
    }

    @Test(arguments: [1, 86_400, 5 * 365 * 86_400] as [Int64])
    func `a pause that was recorded while the clock was ahead is over`(ahead: Int64) throws {
        let text = try #require(HostMemory(restsUntil: later(ahead + 600).instant).text(at: later(ahead)))
        #expect(HostMemory(text, at: now).restsUntil == nil)
    }

    // MARK: In the queue

    private func queue(_ rest: Int64) -> QueueDriver<String> {
        QueueDriver(
            limits: .init(parallel: 8, perHost: 8),
            hosts: ["http://10.0.0.1": HostMemory(restsUntil: later(rest).instant)])
    }

    @Test func `a host that asked an earlier run for a minute gets no transfer until it is over`() throws {
        var queue = queue(60)
        _ = queue.submit(try HTTPURL("http://10.0.0.1/1"), request: "")
        let turn = queue.turn(now.instant)
        #expect(turn.starts.isEmpty && turn.wait == later(60).instant)
        #expect(queue.turn(later(60).instant).starts.count == 1)
    }

    @Test(arguments: [true, false])
    func `a host that asked an earlier run for an hour gets one request, whose end decides`(answers: Bool) throws {
        var queue = queue(3_600)
        for path in 1...9 { _ = queue.submit(try HTTPURL("http://10.0.0.1/\(path)"), request: "") }
        let started = queue.turn(now.instant).started
        let key = try #require(started.first)
        #expect(started.count == 1)
        #expect(queue.learnt["http://10.0.0.1"]?.restsUntil == later(3_600).instant)
        let failure = answers ? nil : CoverFailure(.status, url: "", detail: "", status: 429)
        queue.didReceive(HostSignal(failure, pause: .seconds(3_000)), of: key, failure: failure, now: now.instant)
        _ = queue.end(key)
        #expect(queue.learnt["http://10.0.0.1"]?.restsUntil == (answers ? nil : later(3_000).instant))
        let turn = queue.turn(now.instant)
        #expect(turn.starts.isEmpty != answers && turn.dropped.isEmpty == answers)
        #expect(answers || turn.details.allSatisfy { $0 == "not tried: 10.0.0.1 asks to wait 3000 s" })
    }
}
