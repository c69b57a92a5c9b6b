import CurlHTTP
import Testing

@testable import CoverFetch

@Suite struct DownloadQueueTests {
    private typealias Queue = QueueDriver<String>
    private let startTime = ContinuousClock.now

    private func queue(parallel: Int = 100, perHost: Int = 100, interval: Duration? = nil) -> Queue {
        Queue(limits: .init(parallel: parallel, perHost: perHost, interval: interval))
    }

    /// A URL of a host with a name.
    private func named(_ path: Int) throws -> HTTPURL { try HTTPURL("http://covers.example/\(path)") }

    /// The keys of all jobs that start now, and when to ask again.
    private func starts(
        _ queue: inout Queue, after seconds: Double = 0
    ) -> (keys: [String], wait: ContinuousClock.Instant?) {
        let turn = queue.turn(startTime + .seconds(seconds))
        #expect(turn.dropped.isEmpty)
        return (turn.started, turn.wait)
    }

    @Test func `requests for one URL share a transfer and complete together`() throws {
        var queue = queue()
        #expect(try !queue.submit(url(1), request: "a"))
        #expect(try queue.submit(url(1), request: "b"))
        #expect(try starts(&queue).keys == [url(1).string])
        #expect(try queue.submit(url(1), request: "c"))
        #expect(starts(&queue).keys.isEmpty)
        #expect(queue.count == 1 && queue.inFlight == 1 && queue.waiting == 0)
        #expect(try queue.end(url(1).string) == ["a", "b", "c"])
        #expect(queue.count == 0 && queue.inFlight == 0)
        #expect(try !queue.submit(url(1), request: "d"))
    }

    @Test func `no more transfers than the host's limit are in flight to it`() throws {
        var queue = queue(perHost: 2)
        for path in 1...5 { _ = try queue.submit(url(path), request: "") }
        #expect(try starts(&queue).keys == [url(1).string, url(2).string])
        _ = try queue.end(url(2).string)
        #expect(try starts(&queue).keys == [url(3).string])
        _ = try queue.end(url(1).string)
        _ = try queue.end(url(3).string)
        #expect(try starts(&queue).keys == [url(4).string, url(5).string])
    }

    @Test func `no more transfers than the total limit are in flight`() throws {
        var queue = queue(parallel: 3, perHost: 2)
        for host in 1...3 { for path in 1...2 { _ = try queue.submit(url(path, host: host), request: "") } }
        #expect(starts(&queue).keys.count == 3)
        #expect(queue.inFlight == 3 && queue.waiting == 3)
        _ = try queue.end(url(1, host: 1).string)
        #expect(starts(&queue).keys.count == 1)
    }

    @Test func `hosts take turns`() throws {
        var queue = queue()
        for host in 1...2 { for path in 1...3 { _ = try queue.submit(url(path, host: host), request: "") } }
        let expected = try [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)].map { try url($0.0, host: $0.1).string }
        #expect(starts(&queue).keys == expected)
    }

    @Test func `a new host whose transfers all fail gets one at a time`() throws {
        var queue = queue()
        for path in 1...3 { _ = try queue.submit(named(path), request: "") }
        for path in 1...3 {
            #expect(try starts(&queue).keys == [named(path).string])
            _ = try queue.end(named(path).string)
        }
    }

    @Test func `an HTTP/2 host is limited by the total limit only, and its transfers multiplex`() throws {
        var queue = queue(parallel: 7, perHost: 2)
        let urls = try (1...9).map { try HTTPURL("https://10.0.0.1/\($0)") }
        for url in urls { _ = queue.submit(url, request: "") }
        let starts = queue.turn(startTime).starts
        let first = try #require(starts.first)
        #expect(!first.request.waitsToMultiplex && starts.count == 1, "the version is negotiated by TLS")
        queue.didAnswer(first.key, http2: true)
        _ = queue.end(first.key)
        let next = queue.turn(startTime).starts
        #expect(next.count == 7 && next.allSatisfy(\.request.waitsToMultiplex))
    }

    @Test func `the rate limit separates starts to one host and does not delay another host`() throws {
        var queue = queue(interval: .seconds(2))
        for host in 1...2 { for path in 1...2 { _ = try queue.submit(url(path, host: host), request: "") } }
        let first = starts(&queue)
        #expect(try first.keys == [url(1, host: 1).string, url(1, host: 2).string])
        #expect(first.wait == startTime + .seconds(2))
        #expect(starts(&queue, after: 1.9).keys.isEmpty)
        let second = starts(&queue, after: 2)
        #expect(try Set(second.keys) == [url(2, host: 1).string, url(2, host: 2).string])
        #expect(starts(&queue, after: 10).keys.isEmpty)
    }

    @Test func `a closed host gets no transfer before the latest of its times; other hosts do`() throws {
        var queue = queue(perHost: 1)
        for path in 1...2 { _ = try queue.submit(url(path), request: "") }
        #expect(try starts(&queue).keys == [url(1).string])
        queue.close(hostOf: try url(1).string, until: startTime + .seconds(5))
        queue.close(hostOf: try url(1).string, until: startTime + .seconds(3))
        queue.retry(try url(1).string, at: startTime + .seconds(5))
        _ = try queue.submit(url(1, host: 2), request: "")
        let meanwhile = starts(&queue, after: 1)
        #expect(try meanwhile.keys == [url(1, host: 2).string])
        #expect(meanwhile.wait == startTime + .seconds(5))
        #expect(starts(&queue, after: 4.9).keys.isEmpty)
        #expect(starts(&queue, after: 5).keys.count == 1)
    }

    @Test func `a retry starts at its time, as the next attempt, behind jobs that were not tried yet`() throws {
        var queue = queue(perHost: 1)
        for path in 1...3 { _ = try queue.submit(url(path), request: "\(path)") }
        #expect(starts(&queue).keys.count == 1)
        queue.retry(try url(1).string, at: startTime + .seconds(3))
        #expect(queue.inFlight == 0)
        #expect(try starts(&queue, after: 1).keys == [url(2).string])
        _ = try queue.end(url(2).string)
        #expect(try starts(&queue, after: 3).keys == [url(3).string])
        _ = try queue.end(url(3).string)
        let start = try #require(queue.turn(startTime + .seconds(3)).starts.first)
        #expect(try start.key == url(1).string)
        #expect(start.attempt == 1)
        #expect(try queue.submit(url(1), request: "late"))
        #expect(try queue.end(url(1).string) == ["1", "late"])
    }

    @Test func `events of a job that has ended change nothing`() throws {
        var queue = queue()
        _ = try queue.submit(url(1), request: "a")
        _ = starts(&queue)
        #expect(try queue.end(url(1).string) == ["a"])
        #expect(try queue.end(url(1).string).isEmpty)
        queue.didAnswer(try url(1).string, http2: false)
        queue.close(hostOf: try url(1).string, until: startTime)
        #expect(queue.inFlight == 0 && queue.count == 0)
    }
}
