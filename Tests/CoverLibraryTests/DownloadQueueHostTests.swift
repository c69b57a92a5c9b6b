import CurlHTTP
import Testing

@testable import CoverLibrary

/// Hosts that fail, stall, or count what is asked of them.
@Suite struct DownloadQueueHostTests {
    private typealias Queue = QueueDriver<String>
    private let begun = ContinuousClock.now
    private let refused = CoverFailure(.connect, url: "", detail: "connection refused")

    private func queue(parallel: Int = 100, perHost: Int = 100, totalInterval: Duration? = nil, adapts: Bool = false)
        -> Queue
    {
        Queue(
            limits: .init(
                parallel: parallel, perHost: perHost, interval: nil, totalInterval: totalInterval, adapts: adapts))
    }

    private func url(_ path: Int, host: Int = 1) throws -> HTTPURL { try HTTPURL("http://10.0.0.\(host)/\(path)") }

    private struct Turn {
        var started: [String] = []
        var dropped: [String] = []
        var details: [String] = []
        var asked: [Int] = []
        var wait: ContinuousClock.Instant?
    }

    private func turn(_ queue: inout Queue, after seconds: Double = 0) -> Turn {
        var turn = Turn()
        while true {
            switch queue.next(now: begun + .seconds(seconds)) {
            case .start(let start): turn.started.append(start.key)
            case .drop(let job, let url, let failure):
                turn.dropped.append(url.string)
                turn.details.append(failure.detail)
                _ = queue.end(job)
            case .askRobots(_, let host): turn.asked.append(host)
            case .wait(let time):
                turn.wait = time
                return turn
            }
        }
    }

    private func fail(_ queue: inout Queue, _ keys: [String], after seconds: Double) {
        for key in keys {
            queue.note(.unreachable, of: key, failure: refused, now: begun + .seconds(seconds))
            _ = queue.end(key)
        }
    }

    @Test(
        "a host that refuses eight different covers is left alone for half a second, and then asked for another cover")
    func breaker() throws {
        var queue = queue(perHost: 8)
        for path in 1...30 { _ = try queue.submit(url(path), waiter: "") }
        let first = turn(&queue).started
        for key in first {
            queue.note(.unreachable, of: key, failure: refused, now: begun)
            queue.retry(key, at: begun + .milliseconds(10))
        }
        let open = turn(&queue, after: 0.1)
        #expect(open.started.isEmpty)
        #expect(open.wait == begun + .milliseconds(500))
        let probe = turn(&queue, after: 0.6)
        #expect(probe.started.count == 1 && !first.contains(probe.started[0]))
        queue.note(.answered, of: probe.started[0], now: begun + .seconds(0.7))
        _ = queue.end(probe.started[0])
        #expect(turn(&queue, after: 0.7).started.count == 8)
    }

    @Test("seven failures and an answer stop nothing")
    func notInARow() throws {
        var queue = queue(perHost: 8)
        for path in 1...30 { _ = try queue.submit(url(path), waiter: "") }
        for _ in 0..<3 {
            let keys = turn(&queue).started
            #expect(keys.count == 8)
            fail(&queue, Array(keys.dropLast()), after: 0)
            queue.note(.answered, of: keys[7], now: begun)
            _ = queue.end(keys[7])
        }
    }

    @Test(
        "after three probes in vain what waits for the host is dropped, and so is what comes within a minute; others go on"
    )
    func givenUp() throws {
        var queue = queue(perHost: 3)
        for path in 1...30 { _ = try queue.submit(url(path), waiter: "") }
        fail(&queue, turn(&queue).started, after: 0)
        var now = 0.0
        for pause in [0.5, 1.0, 2.0] {
            now += pause
            let probe = turn(&queue, after: now)
            #expect(probe.started.count == 1 && probe.dropped.isEmpty)
            fail(&queue, probe.started, after: now)
        }
        let given = turn(&queue, after: now)
        #expect(given.dropped.count == 30 - 3 - 3)
        #expect(Set(given.details) == ["not tried: 10.0.0.1 refused 6 connections"])
        _ = try queue.submit(url(40), waiter: "")
        _ = try queue.submit(url(1, host: 2), waiter: "")
        let later = turn(&queue, after: now + 59)
        #expect(try later.dropped == [url(40).string])
        #expect(try later.started == [url(1, host: 2).string])
        _ = try queue.submit(url(41), waiter: "")
        #expect(try turn(&queue, after: now + 61).started == [url(41).string])
    }

    @Test(
        "what a person waits for starts at once, whether its host was given up, is paused or at its limit, and others follow its success"
    )
    func urgent() throws {
        var queue = queue(perHost: 3)
        for path in 1...30 { _ = try queue.submit(url(path), waiter: "") }
        fail(&queue, turn(&queue).started, after: 0)
        #expect(turn(&queue, after: 0.1).started.isEmpty)
        _ = try queue.submit(url(20), waiter: "", isUrgent: true)
        #expect(try turn(&queue, after: 0.1).started == [url(20).string])
        fail(&queue, [try url(20).string], after: 0.1)
        for seconds in [2.0, 4.0] { fail(&queue, turn(&queue, after: seconds).started, after: seconds) }
        #expect(!turn(&queue, after: 4).dropped.isEmpty)
        for path in [50, 51] { _ = try queue.submit(url(path), waiter: "", isUrgent: path == 50) }
        let again = turn(&queue, after: 5)
        #expect(try again.started == [url(50).string])
        #expect(again.dropped.isEmpty, "the probe decides")
        for path in 60...70 { _ = try queue.submit(url(path), waiter: "") }
        try queue.note(.answered, of: url(50).string, now: begun + .seconds(5))
        _ = try queue.end(url(50).string)
        #expect(turn(&queue, after: 5).started.count == 3)
        _ = try queue.submit(url(80), waiter: "", isUrgent: true)
        #expect(try turn(&queue, after: 5).started == [url(80).string], "one more than the limit")
        queue.close(hostOf: try url(80).string, until: begun + .seconds(60))
        _ = try queue.submit(url(81), waiter: "", isUrgent: true)
        #expect(try turn(&queue, after: 6).started == [url(81).string])
    }

    @Test("jobs that wait start in the order that is preferred, before all others of their host")
    func preferred() throws {
        var queue = queue(perHost: 1)
        for path in 1...9 { _ = try queue.submit(url(path), waiter: "") }
        var order: [String] = []
        try queue.prefer([1, 5, 3].map { try url($0).string })
        for round in 0..<5 {
            let started = turn(&queue).started
            order += started
            if round == 1 { try queue.prefer([7, 5].map { try url($0).string }) }
            for key in started { _ = queue.end(key) }
        }
        #expect(try order == [1, 5, 7, 3, 2].map { try url($0).string })
    }

    @Test("a job that is not wanted any more is withdrawn, unless it is in flight or wanted by others")
    func withdrawn() throws {
        var queue = queue(perHost: 1)
        for path in 1...4 { _ = try queue.submit(url(path), waiter: "view") }
        _ = try queue.submit(url(3), waiter: "run")
        #expect(try turn(&queue).started == [url(1).string])
        for path in [1, 3] { #expect(try queue.withdraw(url(path).string) { $0 == "view" } == []) }
        #expect(try queue.withdraw(url(2).string) { $0 == "view" } == ["view"])
        _ = try queue.end(url(1).string)
        #expect(try turn(&queue).started == [url(3).string])
    }

    @Test("a job that backs off and is made urgent starts once")
    func urgentWhileBackingOff() throws {
        var queue = queue(perHost: 8)
        _ = try queue.submit(url(1), waiter: "")
        _ = turn(&queue)
        queue.retry(try url(1).string, at: begun + .seconds(5))
        _ = try queue.submit(url(1), waiter: "", isUrgent: true)
        #expect(try turn(&queue, after: 1).started == [url(1).string])
        queue.landed(try url(1).string)
        #expect(turn(&queue, after: 6).started.isEmpty)
        #expect(queue.inFlight == 0)
    }

    @Test("a new run asks a host again that could not be reached, and not one that asked for a pause")
    func newRun() throws {
        for isAsked in [false, true] {
            var queue = queue(perHost: 3)
            for path in 1...9 { _ = try queue.submit(url(path), waiter: "") }
            let first = turn(&queue).started
            if isAsked {
                queue.giveUp(hostOf: first[0], for: .seconds(3_600), now: begun)
            } else {
                fail(&queue, first, after: 0)
            }
            queue.forgetOutages()
            #expect(turn(&queue, after: 0.1).started.isEmpty == isAsked)
        }
    }

    @Test("a probe that is cancelled makes way for another")
    func cancelledProbe() throws {
        var queue = queue(perHost: 8)
        for path in 1...30 { _ = try queue.submit(url(path), waiter: url(path).string) }
        fail(&queue, turn(&queue).started, after: 0)
        let probe = turn(&queue, after: 1).started
        #expect(probe.count == 1)
        _ = queue.abandon { $0 == probe[0] }
        let next = turn(&queue, after: 1).started
        #expect(next.count == 1 && next != probe)
    }

    @Test("of ten hosts one that has stalled keeps its share of the places at most, and the others have the rest")
    func stalled() throws {
        var queue = queue(parallel: 50)
        for host in 1...10 { for path in 1...40 { _ = try queue.submit(url(path, host: host), waiter: "") } }
        var (flying, ends) = (turn(&queue).started, 0)
        #expect(flying.count == 50)
        for _ in 0..<200 {
            // Everybody but host 1 answers.
            guard let next = flying.firstIndex(where: { !$0.hasPrefix("http://10.0.0.1/") }) else { break }
            _ = queue.end(flying.remove(at: next))
            ends += 1
            flying += turn(&queue).started
        }
        #expect(ends == 200)
        #expect(flying.count { $0.hasPrefix("http://10.0.0.1/") } == 5)
    }

    @Test(
        "places that nobody else wants go to a host that was heard of lately, and not to one that is silent",
        arguments: [(0.1, 24), (1.0, 0)])
    func silent(seconds: Double, taken: Int) throws {
        var queue = queue(parallel: 50)
        for path in 1...200 { _ = try queue.submit(url(path, host: 1), waiter: "") }
        for path in 1...25 { _ = try queue.submit(url(path, host: 2), waiter: "") }
        let others = turn(&queue).started.filter { $0.hasPrefix("http://10.0.0.2/") }
        try queue.note(.answered, of: url(1).string, now: begun)
        _ = try queue.end(url(1).string)
        #expect(try turn(&queue).started == [url(26).string])
        for key in others.dropLast() { _ = queue.end(key) }
        #expect(turn(&queue, after: seconds).started.count == taken)
    }

    @Test("a host alone takes every place")
    func alone() throws {
        var queue = queue(parallel: 50)
        for path in 1...60 { _ = try queue.submit(url(path), waiter: "") }
        #expect(turn(&queue).started.count == 50)
    }

    @Test("with a rate for all, starts are that far apart whatever the host")
    func totalRate() throws {
        var queue = queue(totalInterval: .seconds(2))
        for host in 1...3 { _ = try queue.submit(url(1, host: host), waiter: "") }
        let first = turn(&queue)
        #expect(try first.started == [url(1, host: 1).string])
        #expect(first.wait == begun + .seconds(2))
        #expect(turn(&queue, after: 1.9).started.isEmpty)
        #expect((1..<4).contains(turn(&queue, after: 2).started.count))
    }

    @Test(
        "a host that counts requests gets no more than it has left, and again as many as wanted from the time it named")
    func allowance() throws {
        var queue = queue()
        for path in 1...2 { _ = try queue.submit(url(path), waiter: "") }
        let first = turn(&queue).started
        // One more is in flight, which the host has not counted yet.
        queue.allow(4, hostOf: first[0], until: begun + .seconds(30))
        _ = queue.end(first[0])
        for path in 3...20 { _ = try queue.submit(url(path), waiter: "") }
        let second = turn(&queue, after: 1)
        #expect(second.started.count == 3)
        #expect(second.wait == begun + .seconds(30))
        #expect(turn(&queue, after: 30).started.count == 15)
    }

    @Test("a host that refuses everything for a second is left alone and probed; many refusals at once are not enough")
    func refusing() throws {
        var queue = queue(perHost: 20)
        for path in 1...60 { _ = try queue.submit(url(path), waiter: "") }
        func refuse(after seconds: Double) -> Int {
            let keys = turn(&queue, after: seconds).started
            for key in keys {
                queue.note(.rateLimited, of: key, failure: refused, now: begun + .seconds(seconds))
                _ = queue.end(key)
            }
            return keys.count
        }
        #expect(refuse(after: 0) == 20)
        #expect(refuse(after: 0.1) == 20)
        #expect(refuse(after: 1.2) == 20)
        for path in 61...80 { _ = try queue.submit(url(path), waiter: "") }
        #expect(turn(&queue, after: 1.3).started.isEmpty)
        #expect(turn(&queue, after: 1.8).started.count == 1)
    }

    @Test("with adaptation a first answer that takes half a second lets three others start")
    func slowFirst() throws {
        var queue = queue(adapts: true)
        for path in 1...50 { _ = try queue.submit(url(path), waiter: "") }
        let first = turn(&queue)
        #expect(first.started.count == 1 && first.wait == begun + .milliseconds(500))
        #expect(turn(&queue, after: 0.5).started.count == 3)
    }

    @Test("with adaptation a host gets one transfer, then four, and fewer after a 429")
    func adapting() throws {
        var queue = queue(adapts: true)
        for path in 1...50 { _ = try queue.submit(url(path), waiter: "") }
        let first = turn(&queue).started
        #expect(first.count == 1)
        queue.note(.answered, of: first[0], now: begun + .seconds(1))
        _ = queue.end(first[0])
        let second = turn(&queue, after: 1).started
        #expect(second.count == 4)
        for key in second {
            queue.note(.rateLimited, of: key, now: begun + .seconds(2))
            _ = queue.end(key)
        }
        #expect((1..<4).contains(turn(&queue, after: 2).started.count))
    }
}
