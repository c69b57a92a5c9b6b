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
        return (turn.starts.map { "\($0.target) \($0.attempt)" }, turn.wait)
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
}
