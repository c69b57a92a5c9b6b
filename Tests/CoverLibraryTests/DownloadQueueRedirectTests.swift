import CurlHTTP
import Testing

@testable import CoverLibrary

/// Jobs that go from one host to another, and what is asked of hosts besides covers.
@Suite struct DownloadQueueRedirectTests {
    private typealias Queue = QueueDriver<String>
    private let begun = ContinuousClock.now

    private func url(_ path: Int, host: Int = 1) throws -> HTTPURL { try HTTPURL("http://10.0.0.\(host)/\(path)") }

    private func starts(
        _ queue: inout Queue, after seconds: Double = 0
    ) -> (places: [String], asked: [Int], wait: ContinuousClock.Instant?) {
        var (places, asked): ([String], [Int]) = ([], [])
        while true {
            switch queue.next(now: begun + .seconds(seconds)) {
            case .start(let start): places.append("\(start.place) \(start.attempt)")
            case .askRobots(_, let host): asked.append(host)
            case .drop(_, let url, _): Issue.record("\(url) was dropped")
            case .wait(let time): return (places, asked, time)
            }
        }
    }

    @Test("a job that goes on at another host keeps its key and its tries, and gives its place at the first host free")
    func moving() throws {
        var queue = Queue(limits: .init(parallel: 10, perHost: 1))
        for path in 1...2 { _ = try queue.submit(url(path), waiter: "\(path)") }
        #expect(try starts(&queue).places == ["\(url(1)) 0"])
        try queue.move(url(1).string, to: url(9, host: 2))
        #expect(try starts(&queue).places == ["\(url(2)) 0", "\(url(9, host: 2)) 0"])
        #expect(try queue.submit(url(1), waiter: "joins"))
        #expect(try queue.end(url(1).string) == ["1", "joins"])
        #expect(queue.count == 1 && queue.inFlight == 1)
    }

    @Test("where jobs go on, that host's limit and rate count, and it is the one that is closed")
    func limits() throws {
        var queue = Queue(limits: .init(parallel: 10, perHost: 2, interval: .seconds(1)))
        _ = try queue.submit(url(1), waiter: "")
        _ = try queue.submit(url(1, host: 3), waiter: "")
        #expect(starts(&queue).places.count == 2)
        try queue.move(url(1).string, to: url(8, host: 2))
        try queue.move(url(1, host: 3).string, to: url(9, host: 2))
        let first = starts(&queue, after: 0.25)
        #expect(try first.places == ["\(url(9, host: 2)) 0"])
        #expect(first.wait == begun + .seconds(1.25))
        try queue.close(hostOf: url(1, host: 3).string, until: begun + .seconds(60))
        _ = try queue.submit(url(2), waiter: "")
        #expect(try starts(&queue, after: 2).places == ["\(url(2)) 0"])
        #expect(try starts(&queue, after: 60).places == ["\(url(8, host: 2)) 0"])
    }

    @Test("what is tried again goes back to where it began")
    func tryingAgain() throws {
        var queue = Queue(limits: .init(parallel: 10, perHost: 2))
        _ = try queue.submit(url(1), waiter: "", at: url(7, host: 2))
        #expect(try starts(&queue).places == ["\(url(7, host: 2)) 0"])
        try queue.move(url(1).string, to: url(8, host: 3))
        #expect(starts(&queue).places.count == 1)
        try queue.retry(url(1).string, at: begun, from: url(7, host: 2))
        #expect(try starts(&queue).places == ["\(url(7, host: 2)) 1"])
        try queue.retry(url(1).string, at: begun)
        #expect(try starts(&queue).places == ["\(url(1)) 2"])
    }

    @Test("with a rate, asking for robots.txt counts", arguments: [false, true])
    func robotsRate(isTotal: Bool) throws {
        let interval = Duration.seconds(1)
        var queue = Queue(
            limits: .init(
                parallel: 10, perHost: 2, interval: isTotal ? nil : interval, totalInterval: isTotal ? interval : nil,
                respectsRobots: true))
        _ = try queue.submit(url(1), waiter: "")
        let first = starts(&queue)
        #expect(first.asked == [0] && first.places.isEmpty)
        queue.learn(.success(.everything), host: 0, http2: false, now: begun + .seconds(0.1))
        let next = starts(&queue, after: 0.1)
        #expect(next.places.isEmpty && next.wait == begun + .seconds(1))
        #expect(try starts(&queue, after: 1).places == ["\(url(1)) 0"])
    }
}
