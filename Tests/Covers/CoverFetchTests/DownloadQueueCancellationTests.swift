import CurlHTTP
import Platform
import Testing

@testable import CoverFetch

/// Cancelling the requests of a `DownloadQueue`.
@Suite struct DownloadQueueCancellationTests {
    private typealias Queue = QueueDriver<String>

    private static func queue(parallel: Int = 100, perHost: Int = 100) -> Queue {
        Queue(limits: .init(parallel: parallel, perHost: perHost, interval: nil))
    }

    private static func starts(_ queue: inout Queue, now: ContinuousClock.Instant = .now) -> [String] {
        queue.turn(now).started
    }

    @Test func `only the selected requests are removed; jobs with other requests stay`() throws {
        var queue = Self.queue()
        for path in 1...3 { _ = try queue.submit(url(path), request: "leaves") }
        _ = try queue.submit(url(2), request: "stays")
        _ = Self.starts(&queue)
        let (requests, inFlight) = queue.cancel { $0 == "leaves" }
        #expect(requests == ["leaves", "leaves", "leaves"])
        #expect(try Set(inFlight) == [url(1).string, url(3).string])
        #expect(queue.count == 1 && queue.inFlight == 1)
        #expect(try queue.end(url(2).string) == ["stays"])
    }

    @Test func `a job cancelled while it backs off never starts`() throws {
        var queue = Self.queue()
        let now = ContinuousClock.now
        _ = try queue.submit(url(1), request: "a")
        _ = Self.starts(&queue, now: now)
        queue.retry(try url(1).string, at: now + .seconds(1))
        #expect(queue.cancel { _ in true }.requests == ["a"])
        #expect(Self.starts(&queue, now: now + .seconds(2)).isEmpty)
        #expect(queue.count == 0)
    }

    @Test func `jobs cancelled while they wait never start`() async throws {
        // In a process of its own: a queue that keeps IDs of ended jobs would crash.
        await #expect(processExitsWith: .success) {
            for perHost in [1, 2, 8] {
                var queue = Self.queue(perHost: perHost)
                for path in 1...50 { _ = try queue.submit(url(path), request: "leaves") }
                let flying = Self.starts(&queue)
                let left = queue.cancel { _ in true }
                #expect(Set(left.inFlight) == Set(flying) && left.requests.count == 50)
                #expect(Self.starts(&queue).isEmpty && queue.count == 0 && queue.inFlight == 0)
                _ = try queue.submit(url(60), request: "new")
                #expect(try Self.starts(&queue) == [url(60).string])
            }
        }
    }

    @Test func `a URL cancelled and submitted again starts once`() async throws {
        await #expect(processExitsWith: .success) {
            var queue = Self.queue(perHost: 1)
            for path in 1...3 { _ = try queue.submit(url(path), request: "leaves") }
            _ = queue.cancel { _ in true }
            for path in 1...3 { _ = try queue.submit(url(path), request: "stays") }
            var started: [String] = []
            while let key = Self.starts(&queue).first {
                started.append(key)
                #expect(queue.end(key) == ["stays"])
            }
            #expect(try started.sorted() == (1...3).map { try url($0).string })
        }
    }

    @Test func `a URL cancelled and submitted again starts no retry before its time`() async throws {
        await #expect(processExitsWith: .success) {
            let now = ContinuousClock.now
            var queue = Self.queue(perHost: 1)
            for path in [1, 2] { _ = try queue.submit(url(path), request: "leaves") }
            _ = queue.cancel { _ in true }
            for path in [2, 1] { _ = try queue.submit(url(path), request: "stays") }
            let first = try #require(Self.starts(&queue, now: now).first)
            queue.retry(first, at: now + .seconds(5))
            while let key = Self.starts(&queue, now: now + .seconds(1)).first {
                #expect(key != first)
                _ = queue.end(key)
            }
            #expect(Self.starts(&queue, now: now + .seconds(5)) == [first])
        }
    }

    @Test func `in random sequences of events the limits hold and every request completes once`() async throws {
        await #expect(processExitsWith: .success) {
            for seed in 1...40 { try Self.simulate(seed: UInt64(seed)) }
        }
    }

    private static func simulate(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var queue = QueueDriver<Int>(limits: .init(parallel: 6, perHost: 3, interval: nil))
        var now = ContinuousClock.now
        var inFlight: [String] = []
        var submitted = 0
        var completed: [Int] = []
        func startAll() {
            while case .start(let job, _) = queue.next(now: now) {
                let key = queue.key(of: job)
                precondition(!inFlight.contains(key), "started twice")
                inFlight.append(key)
                precondition(inFlight.count <= 6 && queue.inFlight == inFlight.count)
                for host in 1...3 { precondition(inFlight.count { $0.hasPrefix("http://10.0.0.\(host)/") } <= 3) }
            }
        }
        // Until a host has answered it gets a quarter of all places.
        for host in 1...3 { _ = try queue.submit(url(99, host: host), request: host - 1) }
        submitted = 3
        startAll()
        for key in inFlight {
            queue.didAnswer(key, http2: false)
            completed += queue.end(key)
        }
        inFlight = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<11, using: &random) {
            case 0..<4:
                let path = Int.random(in: 0..<30, using: &random)
                _ = try queue.submit(url(path, host: path % 3 + 1), request: submitted)
                submitted += 1
            case 4 where !inFlight.isEmpty:
                let key = inFlight.remove(at: Int.random(in: 0..<inFlight.count, using: &random))
                queue.retry(key, at: now + .seconds(Int.random(in: 0...3, using: &random)))
            case 5 where !inFlight.isEmpty:
                completed += queue.end(inFlight.remove(at: Int.random(in: 0..<inFlight.count, using: &random)))
            case 6...8 where !inFlight.isEmpty: completed += queue.end(inFlight.removeFirst())
            case 9:
                let divisor = Int.random(in: 1...5, using: &random)
                let cancelled = queue.cancel { $0.isMultiple(of: divisor) }
                completed += cancelled.requests
                inFlight.removeAll { cancelled.inFlight.contains($0) }
            default: now += .seconds(1)
            }
            startAll()
        }
        while queue.count > 0 {
            for key in inFlight { completed += queue.end(key) }
            inFlight = []
            now += .seconds(4)
            startAll()
            precondition(!inFlight.isEmpty || queue.count == 0, "a job never starts")
        }
        precondition(completed.sorted() == Array(0..<submitted), "a request completed twice, or never")
    }
}
