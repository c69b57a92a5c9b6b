import CurlHTTP
import Testing

@testable import CoverFetch

/// Jobs that wait for the return of a host that cannot be reached.
@Suite struct DownloadQueuePostponedTests {
    private typealias Queue = QueueDriver<String>
    private let startTime = ContinuousClock.now

    private func turn(_ queue: inout Queue, after seconds: Double = 0) -> Queue.Turn {
        queue.turn(startTime + .seconds(seconds), postpones: true)
    }

    private func fail(
        _ queue: inout Queue, _ keys: [String], after seconds: Double, _ kind: CoverFailure.Kind = .connect
    ) {
        let failure = CoverFailure(kind, url: "", detail: "no connection")
        for key in keys {
            queue.didReceive(.unreachable, of: key, failure: failure, now: startTime + .seconds(seconds))
        }
    }

    private func answer(_ queue: inout Queue, _ keys: [String], after seconds: Double) {
        for key in keys {
            queue.didAnswer(key, http2: false)
            queue.didReceive(.answered, of: key, now: startTime + .seconds(seconds))
            _ = queue.end(key)
        }
    }

    /// A queue of thirty jobs whose host was given up after 3.5 s of an outage. Those that were tried have ended.
    /// - Parameter hasAnswered: an earlier job of the host has its cover.
    private func outage(hasAnswered: Bool, _ kind: CoverFailure.Kind = .connect) throws -> Queue {
        var queue = Queue(limits: .init(parallel: 32, perHost: 8))
        if hasAnswered {
            _ = try queue.submit(url(0), request: "")
            answer(&queue, turn(&queue).started, after: 0)
        }
        for path in 1...30 { _ = try queue.submit(url(path), request: "\(path)") }
        for seconds in [0, 0.5, 1.5, 3.5] {
            let keys = turn(&queue, after: seconds).started
            fail(&queue, keys, after: seconds, kind)
            for key in keys { _ = queue.end(key) }
        }
        return queue
    }

    @Test func `a host that has answered gets one more probe eight seconds after the outage began, and all go on`()
        throws
    {
        var queue = try outage(hasAnswered: true)
        let given = turn(&queue, after: 3.5)
        #expect(given.started.isEmpty && given.dropped.isEmpty && queue.postponed == 30 - 8 - 3)
        #expect(given.wait == startTime + .seconds(8))
        #expect(
            queue.takeMessages() == [
                "10.0.0.1 can't be reached (11 attempts); its covers are requested again at the end"
            ])
        #expect(turn(&queue, after: 7.9).started.isEmpty)
        let probe = turn(&queue, after: 8).started
        #expect(probe.count == 1 && queue.postponed == 0)
        answer(&queue, probe, after: 8)
        #expect(turn(&queue, after: 8).started.count == 8)
    }

    @Test func `if the last probe fails, all jobs of the host end, and later ones are not postponed`() throws {
        for (kind, seconds) in [(CoverFailure.Kind.connect, 3.5), (.nameResolution, 8)] {
            var queue = try outage(hasAnswered: false, kind)
            // A host that never answered is not waited for. A resolver may fail for a moment.
            var probe = turn(&queue, after: 3.5).started
            #expect(probe.isEmpty == (seconds == 8))
            if probe.isEmpty { probe = turn(&queue, after: seconds).started }
            #expect(probe.count == 1)
            fail(&queue, probe, after: seconds, kind)
            for key in probe { _ = queue.end(key) }
            let last = turn(&queue, after: seconds)
            #expect(last.started.isEmpty && last.dropped.count == 18 && queue.count == 0)
            _ = try queue.submit(url(99), request: "")
            #expect(try turn(&queue, after: seconds + 1).dropped == [url(99).string])
        }
    }

    @Test func `a host that was silent until a moment ago gets no other probe`() throws {
        var queue = Queue(limits: .init(parallel: 32, perHost: 8))
        for path in 1...30 { _ = try queue.submit(url(path), request: "") }
        for seconds in [0, 15.5, 31.5, 48.5] {
            let keys = turn(&queue, after: seconds).started
            fail(&queue, keys, after: seconds + 15, .timeout)
            for key in keys { _ = queue.end(key) }
        }
        let last = turn(&queue, after: 63.5)
        #expect(last.started.isEmpty && last.dropped.count == 19)
    }

    @Test func `the last round waits for every other job, but not longer than ten minutes`() throws {
        for isEndless in [true, false] {
            var queue = try outage(hasAnswered: false)
            _ = try queue.submit(url(1, host: 2), request: "")
            let other = turn(&queue, after: 3.5).started
            #expect(try other == [url(1, host: 2).string])
            #expect(turn(&queue, after: 500).started.isEmpty)
            if !isEndless { answer(&queue, other, after: 500) }
            #expect(turn(&queue, after: isEndless ? 600 : 500).started.count == 1)
        }
    }

    @Test func `a host with a later outage does not hold up the last round of one that has waited for ten minutes`()
        throws
    {
        var queue = try outage(hasAnswered: false)
        _ = try queue.submit(url(1, host: 2), request: "")
        #expect(turn(&queue, after: 3.5).started.count == 1)
        _ = try queue.submit(url(50), request: "", ignoresOutage: true)
        answer(&queue, turn(&queue, after: 4).started, after: 4)
        let later = turn(&queue, after: 4).started
        for path in 1...30 { _ = try queue.submit(url(path, host: 3), request: "") }
        for seconds in [5, 5.5, 6.5, 8.5] {
            let keys = turn(&queue, after: seconds).started.filter { $0.hasPrefix("http://10.0.0.3/") }
            fail(&queue, keys, after: seconds)
            for key in keys { _ = queue.end(key) }
        }
        _ = turn(&queue, after: 8.5)
        fail(&queue, later, after: 300)
        #expect(queue.postponed > 9 && later.count == 8)
        let started = [turn(&queue, after: 604), turn(&queue, after: 606)].map {
            $0.started.count { $0.hasPrefix("http://10.0.0.3/") }
        }
        #expect(started == [0, 1])
    }

    @Test func `any answer of the host ends the outage, and a later one has its own last round`() throws {
        var queue = try outage(hasAnswered: true)
        _ = turn(&queue, after: 3.5)
        _ = try queue.submit(url(50), request: "", ignoresOutage: true)
        let probe = turn(&queue, after: 4).started
        #expect(try probe == [url(50).string])
        answer(&queue, probe, after: 4)
        let others = turn(&queue, after: 4).started
        #expect(others.count == 8 && queue.postponed == 0)
        fail(&queue, others, after: 5)
        for key in others { _ = queue.end(key) }
        for seconds in [5.5, 6.5, 8.5] {
            let keys = turn(&queue, after: seconds).started
            fail(&queue, keys, after: seconds)
            for key in keys { _ = queue.end(key) }
        }
        #expect(turn(&queue, after: 8.5).wait == startTime + .seconds(13) && queue.postponed == 8)
        #expect(turn(&queue, after: 13).started.count == 1)
    }

    @Test func `a job whose retries have ended is postponed if its host answered nothing meanwhile`() throws {
        for isAlone in [true, false] {
            var queue = Queue(limits: .init(parallel: 32, perHost: 8))
            for path in 1...2 { _ = try queue.submit(url(path), request: "") }
            let (key, other) = try (url(1).string, url(2).string)
            #expect(turn(&queue).started == [key, other])
            for seconds in [0.1, 0.2, 0.3] {
                fail(&queue, [key], after: seconds)
                queue.retry(key, at: startTime + .seconds(seconds))
                #expect(turn(&queue, after: seconds).started == [key])
            }
            if !isAlone { answer(&queue, [other], after: 0.35) }
            fail(&queue, [key], after: 0.4)
            let isPostponed = queue.postpone(key, startTime + .seconds(0.4))
            #expect(isPostponed == isAlone)
            if !isAlone { continue }
            fail(&queue, [other], after: 0.4)
            _ = queue.end(other)
            #expect(turn(&queue, after: 0.4).started == [key] && queue.attempts(key) == 0, "its retries begin anew")
            fail(&queue, [key], after: 0.5)
            let isAgain = queue.postpone(key, startTime + .seconds(0.5))
            #expect(!isAgain, "once")
        }
    }

    @Test func `no job of a host without trusted TLS is postponed`() throws {
        var queue = try outage(hasAnswered: false, .tls)
        #expect(turn(&queue, after: 3.5).dropped.count == 19)
    }

    @Test func `postponed jobs do not hold the list up until they are too many, and then have their last round`() throws
    {
        var queue = try outage(hasAnswered: true)
        _ = try queue.submit(url(1, host: 2), request: "")
        let other = turn(&queue, after: 3.5).started
        #expect(other.count == 1 && queue.waiting == 0)
        let maximum = DownloadQueue<String>.maximumPostponed
        for path in 100..<100 + maximum { _ = try queue.submit(url(path), request: "") }
        #expect(turn(&queue, after: 4).started.isEmpty && queue.waiting == 19)
        #expect(turn(&queue, after: 8).started.count == 1)
        answer(&queue, other, after: 8)
    }

    @Test func `a postponed job ends with its requests, and waits for its turn again if another joins it`() throws {
        var queue = try outage(hasAnswered: true)
        _ = turn(&queue, after: 3.5)
        #expect(queue.cancel { $0 == "30" }.requests == ["30"] && queue.postponed == 18)
        #expect(try queue.submit(url(29), request: "hurried", priority: .immediate))
        #expect(queue.postponed == 17)
        #expect(try queue.turn(startTime + .seconds(4)).dropped == [url(29).string])
    }
}
