import CurlHTTP
import Testing

@testable import CoverFetch

/// Which job of a host, and which host, goes first.
extension DownloadQueueHostTests {
    /// The jobs in the order of their starts, each ended before the next.
    private func order(_ queue: inout Queue) -> [String] {
        var order: [String] = []
        while true {
            let started = turn(&queue).started
            if started.isEmpty { return order }
            order += started
            for key in started { _ = queue.end(key) }
        }
    }

    @Test func `an immediate job goes before all others of its host`() throws {
        var queue = queue(perHost: 1)
        for path in 1...3 { _ = try queue.submit(url(path), request: "") }
        for path in 4...5 { _ = try queue.submit(url(path), request: "", priority: .immediate) }
        #expect(try order(&queue) == [4, 5, 1, 2, 3].map { try url($0).string })
    }

    @Test func `an immediate job exceeds no limit: neither a host's, nor a pause, nor all hosts' together`() throws {
        var queue = queue(parallel: 2, perHost: 1)
        for host in 1...3 { _ = try queue.submit(url(1, host: host), request: "") }
        #expect(turn(&queue).started.count == 2)
        for host in 1...3 { _ = try queue.submit(url(2, host: host), request: "", priority: .immediate) }
        #expect(turn(&queue).started.isEmpty)
        queue.close(hostOf: try url(1).string, until: startTime + .seconds(60))
        _ = queue.end(try url(1).string)
        #expect(try turn(&queue).started == [url(2, host: 3).string], "another host's takes the free place")
        for host in 2...3 { for path in 1...2 { _ = queue.end(try url(path, host: host).string) } }
        let others = turn(&queue, after: 59).started
        #expect(try others.allSatisfy { try $0 != url(2).string })
        for key in others { _ = queue.end(key) }
        #expect(try turn(&queue, after: 61).started.contains(url(2).string))
    }

    @Test func `a host with an immediate job goes before the turns of other hosts`() throws {
        var queue = queue(parallel: 1, perHost: 1)
        for host in 1...20 { for path in 1...3 { _ = try queue.submit(url(path, host: host), request: "") } }
        #expect(try turn(&queue).started == [url(1, host: 1).string])
        _ = try queue.submit(url(99, host: 20), request: "", priority: .immediate)
        _ = queue.end(try url(1, host: 1).string)
        #expect(try turn(&queue).started == [url(99, host: 20).string])
        _ = queue.end(try url(99, host: 20).string)
        #expect(try turn(&queue).started == [url(1, host: 2).string], "then the others' turns go on")
    }

    @Test func `a job is as urgent as the most urgent of its requests, also when it is retried`() throws {
        var queue = queue(perHost: 1)
        for path in 1...9 { _ = try queue.submit(url(path), request: "") }
        _ = turn(&queue)
        #expect(try queue.submit(url(8), request: "", priority: .immediate))
        #expect(try queue.submit(url(8), request: "", priority: .normal))
        _ = queue.end(try url(1).string)
        #expect(try turn(&queue).started == [url(8).string])
        queue.retry(try url(8).string, at: startTime + .seconds(5))
        #expect(try turn(&queue, after: 1).started == [url(2).string])
        #expect(turn(&queue, after: 6).started.isEmpty)
        _ = queue.end(try url(2).string)
        #expect(try turn(&queue, after: 6).started == [url(8).string])
    }

    @Test func `a request that ignores outages probes a host that is unreachable, but none that asked for a pause`()
        throws
    {
        for asksForPause in [false, true] {
            var queue = queue(perHost: 8)
            for path in 1...30 { _ = try queue.submit(url(path), request: "") }
            var now = 0.0
            while queue.count > 0 {
                let given = turn(&queue, after: now)
                if asksForPause {
                    refuse(&queue, given.started, pause: .seconds(3_600), after: now)
                } else {
                    fail(&queue, given.started, after: now)
                }
                now += 1
                if now > 20 { break }
            }
            #expect(queue.count == 0)
            _ = try queue.submit(url(40), request: "", priority: .immediate)
            #expect(try turn(&queue, after: now).dropped == [url(40).string], "a priority alone probes nothing")
            for path in 41...43 { _ = try queue.submit(url(path), request: "") }
            _ = try queue.submit(url(50), request: "", priority: .immediate, ignoresOutage: true)
            let given = turn(&queue, after: now)
            if asksForPause {
                #expect(given.started.isEmpty && given.dropped.count == 4)
            } else {
                #expect(try given.started == [url(50).string] && given.dropped.isEmpty, "one probe, the job itself")
                queue.didReceive(.answered, of: given.started[0], now: startTime + .seconds(now))
                _ = queue.end(given.started[0])
                #expect(turn(&queue, after: now).started.count == 3)
            }
        }
    }
}
