import CurlHTTP
import Testing

@testable import CoverFetch

/// What all hosts share: the line.
@Suite struct SharedLimitTests {
    typealias Queue = QueueDriver<String>
    private let startTime = ContinuousClock.now
    private let partial = {
        var failure = CoverFailure(.timeout, url: "", detail: "timed out with a part received")
        failure.isPartial = true
        return failure
    }()

    /// A queue with this many covers of each of six hosts, none of which has its own limit below that of all.
    private func queue(covers: Int, adapts: Bool = true) throws -> Queue {
        var queue = Queue(limits: FetchLimits(parallel: 120, perHost: 100, adapts: adapts))
        for path in 1...covers {
            for host in 1...6 { _ = try queue.submit(url(path, host: host), request: "") }
        }
        return queue
    }

    private func turn(_ queue: inout Queue, after seconds: Double = 0) -> [String] {
        queue.turn(startTime + .seconds(seconds)).started
    }

    private func answer(_ queue: inout Queue, _ keys: some Sequence<String>, after seconds: Double) {
        for key in keys {
            queue.didAnswer(key, http2: false)
            queue.didReceive(.answered, of: key, now: startTime + .seconds(seconds))
            _ = queue.end(key)
        }
    }

    @Test func `a run starts with all its places, and keeps them while nothing times out`() throws {
        var queue = try queue(covers: 200)
        var keys = turn(&queue)
        #expect(keys.count == 120)
        for second in 1...5 {
            answer(&queue, keys, after: Double(second))
            keys = turn(&queue, after: Double(second))
            #expect(keys.count == 120)
        }
    }

    @Test func `bodies that are late on all hosts leave a quarter of the places, which grow with each answer`() throws {
        var queue = try queue(covers: 60)
        let first = turn(&queue)
        for key in first { queue.overran(key, now: startTime + .seconds(56)) }
        #expect(turn(&queue, after: 56).isEmpty)
        answer(&queue, first, after: 100)
        var counts: [Int] = []
        for second in 101...104 {
            let keys = turn(&queue, after: Double(second))
            counts.append(keys.count)
            answer(&queue, keys, after: Double(second))
        }
        #expect(counts.first == 30 && counts.last == 60 && counts == counts.sorted(), "\(counts)")
    }

    @Test func `time-outs of bodies that had begun do the same, and those of silent hosts do not`() throws {
        for failure in [partial, CoverFailure(.timeout, url: "", detail: "no answer")] {
            var queue = try queue(covers: 60)
            for key in turn(&queue) {
                queue.didAnswer(key, http2: false)
                queue.didReceive(.silent, of: key, failure: failure, now: startTime + .seconds(60))
                _ = queue.end(key)
            }
            #expect(queue.limit == (failure.isPartial ? 1 : 120))
        }
    }

    @Test func `a host whose bodies are late takes no place of others that answer meanwhile`() throws {
        var queue = try queue(covers: 100)
        var late = turn(&queue).filter { $0.hasPrefix("http://10.0.0.1/") }
        var others = try (2...6).flatMap { host in try (1...20).map { try url($0, host: host).string } }
        for second in 1...3 {
            answer(&queue, others, after: Double(second))
            others = turn(&queue, after: Double(second)).filter { !$0.hasPrefix("http://10.0.0.1/") }
        }
        late.removeAll { others.contains($0) }
        for key in late { queue.overran(key, now: startTime + .seconds(3)) }
        #expect(queue.limit == 120)
    }

    @Test func `a transfer that is late twice, and times out, lowers the limit once`() throws {
        var queue = try queue(covers: 60)
        let key = try #require(turn(&queue).first)
        for second in [56.0, 116] { queue.overran(key, now: startTime + .seconds(second)) }
        queue.didReceive(.silent, of: key, failure: partial, now: startTime + .seconds(180))
        #expect(queue.limit == 114)
    }

    @Test func `fixed limits stay`() throws {
        var queue = try queue(covers: 60, adapts: false)
        for key in turn(&queue) { queue.overran(key, now: startTime + .seconds(56)) }
        #expect(queue.limit == 120)
    }
}
