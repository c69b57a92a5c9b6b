import CurlHTTP
import Testing

@testable import CoverFetch

/// Servers that take few connections, hosts that never answer, and `Retry-After`.
extension DownloadQueueHostTests {
    private var reset: CoverFailure { CoverFailure(.broken, url: "", detail: "connection reset by peer") }

    @Test func `connections that break while others are open lower the limit, and the host stays in use`() throws {
        var queue = queue(perHost: 32, adapts: true)
        for path in 1...99 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        #expect(first.count == 32)
        for key in first {
            let mayConnect = queue.mayConnect(key, others: 0)
            #expect(mayConnect)
            _ = queue.didConnect(key, .ready)
        }
        for key in first.dropFirst(2) {
            queue.didReceive(.broken, of: key, failure: reset, now: startTime)
            queue.retry(key, at: startTime + .seconds(1))
        }
        #expect(turn(&queue).started.isEmpty, "two are in flight")
        for key in first.prefix(2) {
            queue.didReceive(.answered, of: key, now: startTime)
            _ = queue.end(key)
        }
        #expect(turn(&queue).started.count == 2)
    }

    @Test func `a connection that fails beside an open one before its request costs no attempt, eight times`() throws {
        var queue = queue(perHost: 2)
        for path in 1...2 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        for key in first { _ = queue.mayConnect(key, others: 0) }
        _ = queue.didConnect(first[0], .ready)
        for round in 1...9 {
            let now = startTime + .seconds(round)
            queue.didReceive(.unreachable, of: first[1], failure: refused, now: now)
            queue.retry(first[1], at: now)
            #expect(queue.attempts(first[1]) == (round <= 8 ? 0 : 1))
            #expect(turn(&queue, after: Double(round)).started == [first[1]])
            _ = queue.mayConnect(first[1], others: 1)
        }
    }

    @Test func `connections that are not made in time after answers leave those that are, and cost no attempt`() throws
    {
        var queue = queue(perHost: 32, adapts: true)
        for path in 1...64 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        for key in first { _ = queue.mayConnect(key, others: 0) }
        _ = queue.didConnect(first[0], .ready)
        queue.didAnswer(first[0], http2: false)
        queue.didReceive(.answered, of: first[0], now: startTime)
        _ = queue.end(first[0])
        let late = startTime + .seconds(10)
        for key in first.dropFirst() {
            queue.didReceive(.silent, of: key, failure: refused, now: late)
            queue.retry(key, at: late)
            #expect(queue.attempts(key) == 0)
        }
        #expect(turn(&queue, after: 10).started.count == 1)
    }

    @Test func `covers that hang leave their host as many places as its answers have earned`() throws {
        var queue = queue(perHost: 32, adapts: true)
        for path in 1...14 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        for key in first {
            _ = queue.mayConnect(key, others: 0)
            _ = queue.didConnect(key, .ready)
        }
        for key in first.dropFirst(4) {
            queue.didAnswer(key, http2: false)
            queue.didReceive(.answered, of: key, now: startTime)
            _ = queue.end(key)
        }
        for seconds in [3.0, 6, 9] {
            let late = startTime + .seconds(seconds)
            for key in first.prefix(4) {
                queue.didReceive(.silent, of: key, failure: refused, now: late)
                queue.retry(key, at: late)
            }
            #expect(turn(&queue, after: seconds).started.count == 4, "they are tried again")
        }
        for path in 20...59 { _ = try queue.submit(url(path), request: "") }
        #expect(turn(&queue, after: 9).started.count >= 6, "ten have been answered at a time")
    }

    @Test func `connections that cannot be opened are no sign of crowding if none is open`() throws {
        var queue = queue(perHost: 8, adapts: true)
        for path in 1...99 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        for key in first { _ = queue.mayConnect(key, others: 0) }
        fail(&queue, first, after: 0)
        #expect(turn(&queue, after: 0.1).started.isEmpty, "the breaker is open")
    }

    @Test func `a URL that breaks the only connection as well is no sign of crowding`() throws {
        var queue = queue(perHost: 32, adapts: true)
        for path in 1...99 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        for key in first {
            let mayConnect = queue.mayConnect(key, others: 0)
            #expect(mayConnect)
            _ = queue.didConnect(key, .ready)
        }
        for key in first.dropLast() {
            queue.didReceive(.broken, of: key, failure: reset, now: startTime)
            queue.retry(key, at: startTime + .seconds(key == first[0] ? 1 : 999))
        }
        queue.didReceive(.answered, of: first[31], now: startTime)
        _ = queue.end(first[31])
        for path in 33...99 { _ = queue.withdraw(try url(path).string) { _ in true } }
        #expect(turn(&queue, after: 2).started == [first[0]])
        _ = queue.didConnect(first[0], .ready)
        queue.didReceive(.broken, of: first[0], failure: reset, now: startTime + .seconds(2))
        _ = queue.end(first[0])
        for round in 0..<6 {
            for path in 0..<40 { _ = try queue.submit(url(1_000 + 40 * round + path), request: "") }
            let keys = turn(&queue, after: 3).started
            for key in keys {
                queue.didReceive(.answered, of: key, now: startTime + .seconds(3))
                _ = queue.end(key)
            }
        }
        #expect(turn(&queue, after: 3).started.count >= 16)
    }

    // MARK: Hosts that never answer

    @Test func `a host that has never answered gets a quarter of all places, and its own limit once it answers`() throws
    {
        var queue = queue(parallel: 40)
        for path in 1...99 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        #expect(first.count == 10)
        for path in 1...9 { _ = try queue.submit(url(path, host: 2), request: "") }
        #expect(turn(&queue).started.count == 9, "others find places while it is silent")
        queue.didAnswer(first[0], http2: false)
        _ = queue.end(first[0])
        #expect(turn(&queue).started.count == 40 - 9 - 9)
    }

    @Test(arguments: [1, 3]) func `a host that has never answered gets one transfer, however few places there are`(
        parallel: Int
    ) throws {
        var queue = queue(parallel: parallel)
        for path in 1...9 { _ = try queue.submit(url(path), request: "") }
        #expect(turn(&queue).started.count == 1)
    }

    // MARK: Retry-After

    func refuse(_ queue: inout Queue, _ keys: [String], pause: Duration, after seconds: Double) {
        var failure = CoverFailure(.status, url: "", detail: "", status: 503)
        failure.retryAfter = pause
        for key in keys {
            queue.didReceive(failure.ending, of: key, failure: failure, now: startTime + .seconds(seconds))
            _ = queue.end(key)
        }
    }

    @Test(arguments: [30, 7_200]) func `the Retry-After of one URL does not pause its host`(pause: Int) throws {
        var queue = queue(perHost: 4)
        for path in 1...99 { _ = try queue.submit(url(path), request: "") }
        for _ in 1...9 {
            let keys = turn(&queue).started
            refuse(&queue, [keys[0]], pause: .seconds(pause), after: 0)
            let next = turn(&queue).started
            #expect(next.count == 1)
            queue.didReceive(.answered, of: keys[1], now: startTime)
            for key in keys.dropFirst() + next { _ = queue.end(key) }
        }
        #expect(queue.pauses.isEmpty)
    }

    @Test func `a host that refuses eight URLs and answers none pauses as long as it asks`() throws {
        var queue = queue(perHost: 8)
        for path in 1...99 { _ = try queue.submit(url(path), request: "") }
        refuse(&queue, turn(&queue).started, pause: .seconds(30), after: 0)
        #expect(turn(&queue, after: 1).started.isEmpty)
        #expect(queue.takeMessages().count == 1)
        #expect(turn(&queue, after: 29).started.isEmpty)
        let probe = turn(&queue, after: 30).started
        #expect(probe.count == 1)
        queue.didReceive(.answered, of: probe[0], now: startTime + .seconds(30))
        _ = queue.end(probe[0])
        #expect(turn(&queue, after: 30).started.count == 8)
    }

    @Test func `a host that refuses everything for an hour is given up after three probes, and the next run knows`()
        throws
    {
        var queue = queue(perHost: 8)
        for path in 1...99 { _ = try queue.submit(url(path), request: "") }
        refuse(&queue, turn(&queue).started, pause: .seconds(3_600), after: 0)
        var requests = 8
        for seconds in [1.0, 3.0, 6.0] {
            let keys = turn(&queue, after: seconds).started
            requests += keys.count
            refuse(&queue, keys, pause: .seconds(3_600), after: seconds)
        }
        let end = turn(&queue, after: 6)
        #expect(requests == 11 && end.dropped.count == 88)
        #expect(end.details.first == "not tried: 10.0.0.1 asks to wait 3600 s")
        #expect(queue.pauses == ["http://10.0.0.1": startTime + .seconds(3_606)])
    }

    @Test func `a host that says Retry-After 1 for a while is not given up`() throws {
        var queue = queue(perHost: 8)
        for path in 1...99 { _ = try queue.submit(url(path), request: "") }
        refuse(&queue, turn(&queue).started, pause: .seconds(1), after: 0)
        for seconds in 1...40 {
            let turn = turn(&queue, after: Double(seconds))
            refuse(&queue, turn.started, pause: .seconds(1), after: Double(seconds))
            #expect(turn.dropped.isEmpty)
        }
        let probe = turn(&queue, after: 100).started
        queue.didReceive(.answered, of: try #require(probe.first), now: startTime + .seconds(100))
        #expect(queue.pauses.isEmpty)
    }

    // MARK: A host that answers 403

    /// Ends transfers whose covers are answered with this status.
    private func answer(_ queue: inout Queue, _ keys: [String], _ status: Int, after seconds: Double) {
        for key in keys {
            let failure =
                status == 200 ? nil : CoverFailure(.status, url: key, detail: "the server answered", status: status)
            queue.didReceive(
                failure?.ending ?? .answered, of: key, failure: failure, now: startTime + .seconds(seconds))
            _ = queue.end(key)
        }
    }

    @Test(arguments: [nil, 200, 404, 503])
    func `403s count as errors from the eighth cover in a row on, which no temporary failure ends`(other: Int?) throws {
        var queue = queue(perHost: 40)
        for path in 1...200 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        answer(&queue, Array(first[..<15]), 403, after: 0)
        if let other { answer(&queue, [first[39]], other, after: 0) }
        answer(&queue, Array(first[15..<30]), 403, after: 0)
        #expect(turn(&queue).started.isEmpty == (other == 503), "seven and 23 errors do not open the breaker, 24 do")
        answer(&queue, [first[30]], 403, after: 0)
        #expect(turn(&queue).started.isEmpty == (other == nil || other == 503))
    }

    @Test func `403s about expired signatures are no ban, and end none`() throws {
        for expired in [0..<40, 5..<40] {
            var queue = queue(perHost: 40)
            for path in 1...200 { _ = try queue.submit(url(path), request: "") }
            let first = turn(&queue).started
            for (number, key) in first.enumerated() {
                var failure = CoverFailure(.status, url: key, detail: "the server answered", status: 403)
                failure.hasExpiredSignature = expired.contains(number)
                queue.didReceive(.failed, of: key, failure: failure, now: startTime)
                _ = queue.end(key)
            }
            let second = turn(&queue).started
            #expect(second.count >= 40)
            answer(&queue, Array(second[..<30]), 403, after: 0)
            #expect(turn(&queue).started.isEmpty == (expired.lowerBound == 5), "24 errors from the eighth 403 on")
        }
    }

    @Test func `403s of one cover are no ban, however often it is asked for`() throws {
        var queue = queue(perHost: 8)
        for path in 1...8 { _ = try queue.submit(url(path), request: "") }
        let first = turn(&queue).started
        let failure = CoverFailure(.status, url: "", detail: "the server answered", status: 403)
        for _ in 1...40 {
            queue.didReceive(.answered, of: first[0], failure: failure, now: startTime)
            queue.retry(first[0], at: startTime)
            #expect(turn(&queue).started == [first[0]])
        }
    }

    @Test
    func `a host that answers 403 is asked for one cover at a time, and never given up; any other answer ends that`()
        throws
    {
        var queue = queue(perHost: 32)
        for path in 1...400 { _ = try queue.submit(url(path), request: "") }
        answer(&queue, turn(&queue).started, 403, after: 0)
        var seconds = 0.0
        for _ in 1...300 {
            seconds += 0.2
            let probe = turn(&queue, after: seconds)
            #expect(probe.started.count == 1 && probe.dropped.isEmpty)
            answer(&queue, probe.started, 403, after: seconds)
        }
        answer(&queue, turn(&queue, after: seconds + 1).started, 200, after: seconds + 1)
        #expect(turn(&queue, after: seconds + 1).started.count == 32)
    }
}
