import CurlHTTP
import Testing

@testable import CoverLibrary

@Suite struct DownloadQueueTests {
    private typealias Queue = QueueDriver<String>
    private let begun = ContinuousClock.now

    private func queue(parallel: Int = 100, perHost: Int = 100, interval: Duration? = nil) -> Queue {
        Queue(limits: .init(parallel: parallel, perHost: perHost, interval: interval))
    }

    /// A URL of a host that is an address, or of one with a name.
    private func url(_ path: Int, host: Int = 1) throws -> HTTPURL { try HTTPURL("http://10.0.0.\(host)/\(path)") }
    private func named(_ path: Int) throws -> HTTPURL { try HTTPURL("http://covers.example/\(path)") }

    /// Keys of everything that starts now, and when to ask again.
    private func starts(
        _ queue: inout Queue, after seconds: Double = 0
    ) -> (keys: [String], wait: ContinuousClock.Instant?) {
        var keys: [String] = []
        while true {
            switch queue.next(now: begun + .seconds(seconds)) {
            case .start(let start): keys.append(start.key)
            case .askRobots(let url, _), .drop(_, let url, _): Issue.record("\(url.string) was not to start or to wait")
            case .wait(let time): return (keys, time)
            }
        }
    }

    @Test("a second request for a URL joins the first: one start, and the end tells both")
    func joining() throws {
        var queue = queue()
        #expect(try !queue.submit(url(1), waiter: "a"))
        #expect(try queue.submit(url(1), waiter: "b"))
        #expect(try starts(&queue).keys == [url(1).string])
        #expect(try queue.submit(url(1), waiter: "c"))
        #expect(starts(&queue).keys.isEmpty)
        #expect(queue.count == 1 && queue.inFlight == 1 && queue.waiting == 0)
        #expect(try queue.end(url(1).string) == ["a", "b", "c"])
        #expect(queue.count == 0 && queue.inFlight == 0)
        #expect(try !queue.submit(url(1), waiter: "d"))
    }

    @Test("no more than the limit of a host are in flight to it, and one that ends lets one start")
    func hostLimit() throws {
        var queue = queue(perHost: 2)
        for path in 1...5 { _ = try queue.submit(url(path), waiter: "") }
        #expect(try starts(&queue).keys == [url(1).string, url(2).string])
        _ = try queue.end(url(2).string)
        #expect(try starts(&queue).keys == [url(3).string])
        _ = try queue.end(url(1).string)
        _ = try queue.end(url(3).string)
        #expect(try starts(&queue).keys == [url(4).string, url(5).string])
    }

    @Test("no more than the limit of all hosts are in flight together")
    func totalLimit() throws {
        var queue = queue(parallel: 3, perHost: 2)
        for host in 1...3 { for path in 1...2 { _ = try queue.submit(url(path, host: host), waiter: "") } }
        #expect(starts(&queue).keys.count == 3)
        #expect(queue.inFlight == 3 && queue.waiting == 3)
        _ = try queue.end(url(1, host: 1).string)
        #expect(starts(&queue).keys.count == 1)
    }

    @Test("hosts take turns")
    func turns() throws {
        var queue = queue()
        for host in 1...2 { for path in 1...3 { _ = try queue.submit(url(path, host: host), waiter: "") } }
        let expected = try [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)].map { try url($0.0, host: $0.1).string }
        #expect(starts(&queue).keys == expected)
    }

    @Test("a new host with a name gets one transfer first, and many once it has answered")
    func firstTransfer() throws {
        var queue = queue(perHost: 3)
        for path in 1...6 { _ = try queue.submit(named(path), waiter: "") }
        #expect(try starts(&queue).keys == [named(1).string])
        queue.answered(try named(1).string, http2: false)
        _ = try queue.end(named(1).string)
        #expect(try starts(&queue).keys == (2...4).map { try named($0).string })
    }

    @Test("while a new host only fails, one transfer at a time asks it")
    func failingFirstTransfer() throws {
        var queue = queue()
        for path in 1...3 { _ = try queue.submit(named(path), waiter: "") }
        for path in 1...3 {
            #expect(try starts(&queue).keys == [named(path).string])
            _ = try queue.end(named(path).string)
        }
    }

    @Test("a host that speaks HTTP/2 has only the limit of all hosts, and its transfers share a connection")
    func multiplexing() throws {
        var queue = queue(parallel: 7, perHost: 2)
        let urls = try (1...9).map { try HTTPURL("https://10.0.0.1/\($0)") }
        for url in urls { _ = queue.submit(url, waiter: "") }
        guard case .start(let first) = queue.next(now: begun) else {
            Issue.record("nothing starts")
            return
        }
        #expect(!first.multiplexes)
        #expect(starts(&queue).keys.isEmpty, "an address does not tell what TLS will settle on")
        queue.answered(first.key, http2: true)
        _ = queue.end(first.key)
        guard case .start(let second) = queue.next(now: begun) else {
            Issue.record("nothing starts")
            return
        }
        #expect(second.multiplexes)
        #expect(starts(&queue).keys.count == 6)
    }

    @Test("with a rate the starts to one host are that far apart, and those to another are not delayed")
    func rate() throws {
        var queue = queue(interval: .seconds(2))
        for host in 1...2 { for path in 1...2 { _ = try queue.submit(url(path, host: host), waiter: "") } }
        let first = starts(&queue)
        #expect(try first.keys == [url(1, host: 1).string, url(1, host: 2).string])
        #expect(first.wait == begun + .seconds(2))
        #expect(starts(&queue, after: 1.9).keys.isEmpty)
        let second = starts(&queue, after: 2)
        #expect(try Set(second.keys) == [url(2, host: 1).string, url(2, host: 2).string])
        #expect(starts(&queue, after: 10).keys.isEmpty)
    }

    @Test("a host that asks to be left alone gets no start before the time it named, other hosts do")
    func retryAfter() throws {
        var queue = queue(perHost: 1)
        for path in 1...2 { _ = try queue.submit(url(path), waiter: "") }
        #expect(try starts(&queue).keys == [url(1).string])
        queue.close(hostOf: try url(1).string, until: begun + .seconds(5))
        queue.close(hostOf: try url(1).string, until: begun + .seconds(3))
        queue.retry(try url(1).string, at: begun + .seconds(5))
        _ = try queue.submit(url(1, host: 2), waiter: "")
        let meanwhile = starts(&queue, after: 1)
        #expect(try meanwhile.keys == [url(1, host: 2).string])
        #expect(meanwhile.wait == begun + .seconds(5))
        #expect(starts(&queue, after: 4.9).keys.isEmpty)
        #expect(starts(&queue, after: 5).keys.count == 1)
    }

    @Test(
        "a failed transfer is tried again at its time, not before, as the next attempt, behind those that were not tried yet"
    )
    func retrying() throws {
        var queue = queue(perHost: 1)
        for path in 1...3 { _ = try queue.submit(url(path), waiter: "\(path)") }
        #expect(starts(&queue).keys.count == 1)
        queue.retry(try url(1).string, at: begun + .seconds(3))
        #expect(queue.inFlight == 0)
        #expect(try starts(&queue, after: 1).keys == [url(2).string])
        _ = try queue.end(url(2).string)
        #expect(try starts(&queue, after: 3).keys == [url(3).string])
        _ = try queue.end(url(3).string)
        guard case .start(let start) = queue.next(now: begun + .seconds(3)) else {
            Issue.record("nothing starts")
            return
        }
        #expect(try start.key == url(1).string)
        #expect(start.attempt == 1)
        #expect(try queue.submit(url(1), waiter: "late"))
        #expect(try queue.end(url(1).string) == ["1", "late"])
    }

    @Test("a cover on its way to the disk is joined, not fetched again, and takes no place among those in flight")
    func landed() throws {
        var queue = queue(parallel: 1)
        for path in 1...2 { _ = try queue.submit(url(path), waiter: "\(path)") }
        #expect(try starts(&queue).keys == [url(1).string])
        queue.landed(try url(1).string)
        #expect(try starts(&queue).keys == [url(2).string])
        #expect(try queue.submit(url(1), waiter: "late"))
        #expect(starts(&queue).keys.isEmpty)
        #expect(try queue.end(url(1).string) == ["1", "late"])
        #expect(queue.inFlight == 1)
    }

    @Test("a cover that was lost on its way to the disk is fetched again, and can be abandoned again")
    func lost() throws {
        var queue = queue()
        _ = try queue.submit(url(1), waiter: "a")
        #expect(try starts(&queue).keys == [url(1).string])
        queue.landed(try url(1).string)
        #expect(queue.abandon { _ in true }.waiters.isEmpty)
        queue.retry(try url(1).string, at: begun)
        #expect(try starts(&queue).keys == [url(1).string])
        #expect(queue.abandon { _ in true }.waiters == ["a"])
        #expect(queue.inFlight == 0 && queue.count == 0)
    }

    @Test("what is unknown or ended is ended again without harm")
    func endingTwice() throws {
        var queue = queue()
        _ = try queue.submit(url(1), waiter: "a")
        _ = starts(&queue)
        #expect(try queue.end(url(1).string) == ["a"])
        #expect(try queue.end(url(1).string).isEmpty)
        queue.landed(try url(1).string)
        queue.answered(try url(1).string, http2: false)
        queue.close(hostOf: try url(1).string, until: begun)
        #expect(queue.inFlight == 0 && queue.count == 0)
    }
}
