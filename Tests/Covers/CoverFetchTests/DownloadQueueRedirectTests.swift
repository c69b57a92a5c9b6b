import CurlHTTP
import Testing

@testable import CoverFetch

/// Jobs that redirects move to another host.
@Suite struct DownloadQueueRedirectTests {
    private typealias Queue = QueueDriver<String>
    private let startTime = ContinuousClock.now

    private func starts(
        _ queue: inout Queue, after seconds: Double = 0
    ) -> (targets: [String], wait: ContinuousClock.Instant?) {
        let turn = queue.turn(startTime + .seconds(seconds))
        #expect(turn.dropped.isEmpty)
        return (turn.starts.map { "\($0.request.url) \($0.attempt)" }, turn.wait)
    }

    @Test func `a redirected job keeps its key and its attempts, and frees its slot at the first host`() throws {
        var queue = Queue(limits: .init(parallel: 10, perHost: 1))
        for path in 1...2 { _ = try queue.submit(url(path), request: "\(path)") }
        #expect(try starts(&queue).targets == ["\(url(1)) 0"])
        try queue.move(url(1).string, to: url(9, host: 2))
        #expect(try starts(&queue).targets == ["\(url(2)) 0", "\(url(9, host: 2)) 0"])
        #expect(try queue.submit(url(1), request: "joins"))
        #expect(try queue.end(url(1).string) == ["1", "joins"])
        #expect(queue.count == 1 && queue.inFlight == 1)
    }

    @Test func `the limit, rate and pause of the target's host apply to a redirected job`() throws {
        var queue = Queue(limits: .init(parallel: 10, perHost: 2, interval: .seconds(1)))
        _ = try queue.submit(url(1), request: "")
        _ = try queue.submit(url(1, host: 3), request: "")
        #expect(starts(&queue).targets.count == 2)
        try queue.move(url(1).string, to: url(8, host: 2))
        try queue.move(url(1, host: 3).string, to: url(9, host: 2))
        let first = starts(&queue, after: 0.25)
        #expect(try first.targets == ["\(url(9, host: 2)) 0"])
        #expect(first.wait == startTime + .seconds(1.25))
        try queue.close(hostOf: url(1, host: 3).string, until: startTime + .seconds(60))
        _ = try queue.submit(url(2), request: "")
        #expect(try starts(&queue, after: 2).targets == ["\(url(2)) 0"])
        #expect(try starts(&queue, after: 60).targets == ["\(url(8, host: 2)) 0"])
    }

    @Test func `a retry of a redirected job starts from its own URL`() throws {
        var queue = Queue(limits: .init(parallel: 10, perHost: 2))
        _ = try queue.submit(url(1), request: "")
        #expect(try starts(&queue).targets == ["\(url(1)) 0"])
        try queue.move(url(1).string, to: url(8, host: 3))
        #expect(try starts(&queue).targets == ["\(url(8, host: 3)) 0"])
        try queue.retry(url(1).string, at: startTime)
        #expect(try starts(&queue).targets == ["\(url(1)) 1"])
    }

    // MARK: One target for several jobs

    /// Four jobs that were redirected to one target, of which the first requests it.
    private func jobsOfOneTarget() throws -> (queue: Queue, keys: [String]) {
        var queue = Queue(limits: .init(parallel: 32, perHost: 4))
        for path in 1...4 { _ = try queue.submit(url(path), request: "\(path)") }
        let keys = try (1...4).map { try url($0).string }
        #expect(queue.turn(startTime).started == keys)
        for key in keys { try queue.move(key, to: url(9, host: 2), isShared: true) }
        #expect(queue.turn(startTime).started == [keys[0]])
        return (queue, keys)
    }

    @Test
    func `of the jobs that are redirected to one target the first requests it, and the others can take its response`()
        throws
    {
        var (queue, keys) = try jobsOfOneTarget()
        #expect(queue.takeFollowers(of: keys[0]) == Array(keys.dropFirst()))
        for key in keys { #expect(queue.end(key) == [String(key.last ?? "?")]) }
        #expect(queue.count == 0 && queue.turn(startTime).starts.isEmpty)
    }

    @Test func `when the job that requests a shared target leaves it, the next one requests it`() throws {
        var (queue, keys) = try jobsOfOneTarget()
        #expect(queue.cancel { $0 == "2" }.requests == ["2"])
        queue.retry(keys[0], at: startTime + .seconds(1))
        #expect(queue.turn(startTime).starts.map { "\($0.request.url)" } == ["\(try url(9, host: 2))"])
        // It comes back, and takes the response of the next one.
        #expect(queue.turn(startTime + .seconds(1)).started == [keys[0]])
        try queue.move(keys[0], to: url(9, host: 2), isShared: true)
        #expect(queue.turn(startTime + .seconds(1)).starts.isEmpty)
        #expect(queue.cancel { $0 == "3" }.inFlight == [keys[2]])
        #expect(queue.turn(startTime + .seconds(1)).started == [keys[3]])
        #expect(queue.takeFollowers(of: keys[3]) == [keys[0]])
    }

    @Test func `after three jobs that requested a shared target in vain the others wait no longer for each other`()
        throws
    {
        var (queue, keys) = try jobsOfOneTarget()
        _ = try queue.submit(url(5), request: "")
        #expect(try queue.turn(startTime).started == [url(5).string])
        try queue.move(url(5).string, to: url(9, host: 2), isShared: true)
        for index in 0..<3 {
            queue.retry(keys[index], at: startTime + .seconds(60))
            let next = index < 2 ? [keys[index + 1]] : [keys[3], try url(5).string]
            #expect(queue.turn(startTime).started == next)
        }
    }

    @Test func `followers that are separated request the target themselves`() throws {
        var (queue, keys) = try jobsOfOneTarget()
        queue.separateFollowers(of: keys[0])
        #expect(queue.turn(startTime).started == Array(keys.dropFirst()))
    }
}
