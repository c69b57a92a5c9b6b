import CurlHTTP
import Testing

@testable import CoverFetch

/// Hosts that fail, stall, or limit requests.
@Suite struct DownloadQueueHostTests {
    typealias Queue = QueueDriver<String>
    let startTime = ContinuousClock.now
    let refused = {
        var failure = CoverFailure(.connect, url: "", detail: "connection refused")
        failure.isConnectionRefused = true
        return failure
    }()

    func queue(parallel: Int = 400, perHost: Int = 100, adapts: Bool = false) -> Queue {
        Queue(limits: .init(parallel: parallel, perHost: perHost, adapts: adapts))
    }

    /// Has hosts answer a request each. Until then they get a quarter of all places.
    func answerOnce(_ queue: inout Queue, hosts: ClosedRange<Int>) throws {
        for host in hosts { _ = try queue.submit(url(0, host: host), request: "") }
        for key in turn(&queue).started {
            queue.didAnswer(key, http2: false)
            _ = queue.end(key)
        }
    }

    func turn(_ queue: inout Queue, after seconds: Double = 0) -> Queue.Turn {
        queue.turn(startTime + .seconds(seconds))
    }

    func fail(_ queue: inout Queue, _ keys: [String], after seconds: Double, as failure: CoverFailure? = nil) {
        for key in keys {
            queue.didReceive(.unreachable, of: key, failure: failure ?? refused, now: startTime + .seconds(seconds))
            _ = queue.end(key)
        }
    }

    @Test func `a host that refuses eight covers is paused for half a second and then probed with another cover`()
        throws
    {
        var queue = queue(perHost: 8)
        for path in 1...30 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        for key in first {
            queue.didReceive(.unreachable, of: key, failure: refused, now: startTime)
            queue.retry(key, at: startTime + .milliseconds(10))
        }
        let open = turn(&queue, after: 0.1)
        #expect(open.started.isEmpty)
        #expect(open.wait == startTime + .milliseconds(500))
        let probe = turn(&queue, after: 0.6)
        #expect(probe.started.count == 1 && !first.contains(probe.started[0]))
        queue.didReceive(.answered, of: probe.started[0], now: startTime + .seconds(0.7))
        _ = queue.end(probe.started[0])
        #expect(turn(&queue, after: 0.7).started.count == 8)
    }

    @Test func `seven failures and a success do not open the breaker`() throws {
        var queue = queue(perHost: 8)
        for path in 1...30 { _ = try queue.submit(url(path), request: "") }
        for _ in 0..<3 {
            let keys = turn(&queue).started
            #expect(keys.count == 8)
            fail(&queue, Array(keys.dropLast()), after: 0)
            queue.didReceive(.answered, of: keys[7], now: startTime)
            _ = queue.end(keys[7])
        }
    }

    @Test func `after three failed probes the host's jobs are dropped for a minute, and other hosts go on`() throws {
        var queue = queue(perHost: 3)
        for path in 1...30 { _ = try queue.submit(url(path), request: "") }
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
        _ = try queue.submit(url(40), request: "")
        _ = try queue.submit(url(1, host: 2), request: "")
        let later = turn(&queue, after: now + 59)
        #expect(try later.dropped == [url(40).string])
        #expect(try later.started == [url(1, host: 2).string])
        _ = try queue.submit(url(41), request: "")
        #expect(try turn(&queue, after: now + 61).started == [url(41).string])
    }

    @Test func `an outage of failures that differ is told by their number`() throws {
        var queue = queue(perHost: 3)
        for path in 1...30 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        fail(&queue, Array(first.dropLast()), after: 0, as: CoverFailure(.timeout, url: first[0], detail: "no answer"))
        fail(&queue, [first[2]], after: 0)
        var now = 0.0
        for pause in [0.5, 1.0, 2.0] {
            now += pause
            fail(&queue, turn(&queue, after: now).started, after: now)
        }
        #expect(Set(turn(&queue, after: now).details) == ["not tried: 10.0.0.1 failed 6 times in a row"])
    }

    @Test func `preferred jobs start in their order, before all others of their host`() throws {
        var queue = queue(perHost: 1)
        for path in 1...9 { _ = try queue.submit(url(path), request: "") }
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

    @Test func `a job is withdrawn unless it is in flight or has another request`() throws {
        var queue = queue(perHost: 1)
        for path in 1...4 { _ = try queue.submit(url(path), request: "view") }
        _ = try queue.submit(url(3), request: "run")
        #expect(try turn(&queue).started == [url(1).string])
        for path in [1, 3] { #expect(try queue.withdraw(url(path).string) { $0 == "view" } == []) }
        #expect(try queue.withdraw(url(2).string) { $0 == "view" } == ["view"])
        _ = try queue.end(url(1).string)
        #expect(try turn(&queue).started == [url(3).string])
    }

    @Test func `a new run retries a host that could not be reached, but not one that asked for a pause`() throws {
        for asksForPause in [false, true] {
            var queue = queue(perHost: 8)
            for path in 1...19 { _ = try queue.submit(url(path), request: "") }
            let first = turn(&queue).started
            if asksForPause {
                refuse(&queue, first, pause: .seconds(3_600), after: 0)
                for seconds in [1.0, 3.0, 6.0] {
                    refuse(&queue, turn(&queue, after: seconds).started, pause: .seconds(3_600), after: seconds)
                }
            } else {
                fail(&queue, first, after: 0)
            }
            queue.forgetOutages()
            #expect(turn(&queue, after: 10).started.isEmpty == asksForPause)
        }
    }

    @Test func `another probe starts after a cancelled one`() throws {
        var queue = queue(perHost: 8)
        for path in 1...30 { _ = try queue.submit(url(path), request: url(path).string) }
        fail(&queue, turn(&queue).started, after: 0)
        let probe = turn(&queue, after: 1).started
        #expect(probe.count == 1)
        _ = queue.cancel { $0 == probe[0] }
        let next = turn(&queue, after: 1).started
        #expect(next.count == 1 && next != probe)
    }

    @Test func `of ten hosts a stalled one keeps its share of the transfers, and the others take the rest`() throws {
        var queue = queue(parallel: 50)
        for host in 1...10 { for path in 1...40 { _ = try queue.submit(url(path, host: host), request: "") } }
        var (flying, ends) = (turn(&queue).started, 0)
        #expect(flying.count == 50)
        for _ in 0..<200 {
            // Every host but the first answers.
            guard let next = flying.firstIndex(where: { !$0.hasPrefix("http://10.0.0.1/") }) else { break }
            _ = queue.end(flying.remove(at: next))
            ends += 1
            flying += turn(&queue).started
        }
        #expect(ends == 200)
        #expect(flying.count { $0.hasPrefix("http://10.0.0.1/") } == 5)
    }

    @Test(arguments: [(0.1, 24), (1.0, 0)])
    func `a host takes what others leave if one of its transfers ended lately, but not if it is silent`(
        seconds: Double, taken: Int
    ) throws {
        var queue = queue(parallel: 50)
        try answerOnce(&queue, hosts: 1...2)
        for path in 1...200 { _ = try queue.submit(url(path, host: 1), request: "") }
        for path in 1...25 { _ = try queue.submit(url(path, host: 2), request: "") }
        let others = turn(&queue).started.filter { $0.hasPrefix("http://10.0.0.2/") }
        try queue.didReceive(.answered, of: url(1).string, now: startTime)
        _ = try queue.end(url(1).string)
        #expect(try turn(&queue).started == [url(26).string])
        for key in others.dropLast() { _ = queue.end(key) }
        #expect(turn(&queue, after: seconds).started.count == taken)
    }

    @Test func `a single host that answers gets every transfer`() throws {
        var queue = queue(parallel: 50)
        try answerOnce(&queue, hosts: 1...1)
        for path in 1...60 { _ = try queue.submit(url(path), request: "") }
        #expect(turn(&queue).started.count == 50)
    }

    @Test
    func
        `a host that answers every request of a second with 429 is paused and probed; many 429s at once are not enough`()
        throws
    {
        var queue = queue(perHost: 20)
        for path in 1...60 { _ = try queue.submit(url(path), request: "") }
        func refuse(after seconds: Double) -> Int {
            let keys = turn(&queue, after: seconds).started
            for key in keys {
                queue.didReceive(
                    .refused(pause: nil), of: key, failure: refused, now: startTime + .seconds(seconds))
                _ = queue.end(key)
            }
            return keys.count
        }
        #expect(refuse(after: 0) == 20)
        #expect(refuse(after: 0.1) == 20)
        #expect(refuse(after: 1.2) == 20)
        for path in 61...80 { _ = try queue.submit(url(path), request: "") }
        #expect(turn(&queue, after: 1.3).started.isEmpty)
        #expect(turn(&queue, after: 1.8).started.count == 1)
    }

    @Test func `with adaptation a host gets its whole limit at once, and fewer after a 429`() throws {
        var queue = queue(perHost: 8, adapts: true)
        for path in 1...50 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        #expect(first.count == 8)
        for key in first {
            queue.didReceive(.refused(pause: nil), of: key, now: startTime + .seconds(2))
            _ = queue.end(key)
        }
        #expect(turn(&queue, after: 2).started.count == 1)
    }

    @Test func `a change of a host's limit has a message with its reason, and the answers between changes have none`()
        throws
    {
        var queue = queue(perHost: 64, adapts: true)
        for path in 1...200 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        for key in first.prefix(31) { queue.didReceive(.answered, of: key, now: startTime + .seconds(1)) }
        #expect(queue.limitMessage(hostOf: first[0], after: nil) == nil)
        queue.didReceive(.answered, of: first[31], now: startTime + .seconds(1))
        let message = "10.0.0.1 gets at most 64 in flight instead of 32: it answered all requests"
        #expect(queue.limitMessage(hostOf: first[0], after: nil) == message)
        for key in first.dropFirst() { _ = queue.end(key) }
        let key = try #require(turn(&queue, after: 1).started.last)
        queue.didReceive(.refused(pause: nil), of: key, now: startTime + .seconds(2))
        let failure = CoverFailure(.status, url: "", detail: "429 Too Many Requests", status: 429)
        let cut = "10.0.0.1 gets at most 60 in flight instead of 64: 429 Too Many Requests"
        #expect(queue.limitMessage(hostOf: key, after: failure) == cut)
        #expect(queue.limitMessage(hostOf: key, after: failure) == nil)
    }
}
