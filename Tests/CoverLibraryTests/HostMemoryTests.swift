import CurlHTTP
import Testing

@testable import CoverLibrary

@Suite struct HostMemoryTests {
    private let now = HostMemory.Moment(instant: .now, milliseconds: 1_700_000_000_000)
    private func later(_ seconds: Int64) -> HostMemory.Moment {
        .init(instant: now.instant + .seconds(seconds), milliseconds: now.milliseconds + seconds * 1_000)
    }

    @Test("what is written is read again, later and in another process")
    func round() throws {
        for pace in [nil, HostPace.Learnt(limit: 32), .init(limit: 19, wall: 19)] {
            let memory = HostMemory(pace: pace, restsUntil: now.instant + .seconds(600))
            let text = try #require(memory.text(at: now))
            // Another process: its clock that runs on begins elsewhere.
            let moment = HostMemory.Moment(instant: now.instant + .seconds(5_000), milliseconds: later(60).milliseconds)
            let read = HostMemory(text, at: moment)
            #expect(read.pace == pace && read.restsUntil == moment.instant + .seconds(540))
        }
        #expect(HostMemory("19 below 20; closed until 1700000060000", at: now).restsUntil == later(60).instant)
    }

    @Test("what older programs wrote is read, and peace that is over or nonsense is none")
    func others() {
        #expect(HostMemory("19 below 20", at: now) == HostMemory(pace: .init(limit: 19, wall: 19)))
        let texts = [
            "closed until 1699999999999", "closed until x", "closed until", "", ";",
            "closed until -9223372036854775808",
        ]
        for text in texts { #expect(HostMemory(text, at: now).text(at: now) == nil, "\(text)") }
        #expect(HostMemory(restsUntil: now.instant + .seconds(5)).text(at: later(6)) == nil)
    }

    @Test("no host is left alone for longer than a day because of an earlier run")
    func bound() {
        let year = HostMemory("closed until \(later(365 * 86_400).milliseconds)", at: now)
        #expect(year.restsUntil == later(86_400).instant)
    }

    // MARK: In the queue

    private func queue(_ rest: Int64) -> DownloadQueue<String> {
        DownloadQueue(
            limits: .init(parallel: 8, perHost: 8),
            learnt: ["http://10.0.0.1": HostMemory(restsUntil: later(rest).instant)])
    }

    @Test("a host that asked an earlier run for a minute is waited for, and no longer")
    func waiting() throws {
        var queue = queue(60)
        _ = queue.submit(try HTTPURL("http://10.0.0.1/1"), waiter: "")
        guard case .wait(let time) = queue.next(now: now.instant) else {
            Issue.record("it did not wait")
            return
        }
        #expect(time == later(60).instant)
        guard case .start = queue.next(now: later(60).instant) else {
            Issue.record("it did not start")
            return
        }
    }

    @Test("one that asked for an hour is given up, and what waits for it ends at once")
    func givingUp() throws {
        var queue = queue(3_600)
        _ = queue.submit(try HTTPURL("http://10.0.0.1/1"), waiter: "")
        guard case .drop(_, _, let failure) = queue.next(now: now.instant) else {
            Issue.record("it was not dropped")
            return
        }
        #expect(failure.detail == "not tried: 10.0.0.1 asked an earlier run to wait; 3600 s are left")
        #expect(queue.learnt["http://10.0.0.1"]?.restsUntil == later(3_600).instant)
    }
}
