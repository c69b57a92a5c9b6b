import CurlHTTP
import Testing

@testable import CoverLibrary

/// What `DownloadQueue` does when those who wait go away.
@Suite struct DownloadQueueAbandonTests {
    private typealias Queue = QueueDriver<String>

    private static func queue(parallel: Int = 100, perHost: Int = 100) -> Queue {
        Queue(limits: .init(parallel: parallel, perHost: perHost, interval: nil))
    }

    private static func url(_ path: Int, host: Int = 1) throws -> HTTPURL {
        try HTTPURL("http://10.0.0.\(host)/\(path)")
    }

    private static func starts(_ queue: inout Queue, now: ContinuousClock.Instant = .now) -> [String] {
        var keys: [String] = []
        while case .start(let start) = queue.next(now: now) { keys.append(start.key) }
        return keys
    }

    @Test("only the waiters of the one who leaves go; jobs that others wait for stay")
    func onlyTheirs() throws {
        var queue = Self.queue()
        for path in 1...3 { _ = try queue.submit(Self.url(path), waiter: "leaves") }
        _ = try queue.submit(Self.url(2), waiter: "stays")
        _ = Self.starts(&queue)
        let (waiters, inFlight) = queue.abandon { $0 == "leaves" }
        #expect(waiters == ["leaves", "leaves", "leaves"])
        #expect(try Set(inFlight) == [Self.url(1).string, Self.url(3).string])
        #expect(queue.count == 1 && queue.inFlight == 1)
        #expect(try queue.end(Self.url(2).string) == ["stays"])
    }

    @Test("a cover on its way to the disk is left to arrive")
    func landedStays() throws {
        var queue = Self.queue()
        _ = try queue.submit(Self.url(1), waiter: "a")
        _ = Self.starts(&queue)
        queue.landed(try Self.url(1).string)
        let (waiters, inFlight) = queue.abandon { _ in true }
        #expect(waiters.isEmpty && inFlight.isEmpty)
        #expect(try queue.end(Self.url(1).string) == ["a"])
    }

    @Test("a job abandoned while it waits to be tried again never starts")
    func waitingForItsTime() throws {
        var queue = Self.queue()
        let now = ContinuousClock.now
        _ = try queue.submit(Self.url(1), waiter: "a")
        _ = Self.starts(&queue, now: now)
        queue.retry(try Self.url(1).string, at: now + .seconds(1))
        #expect(queue.abandon { _ in true }.waiters == ["a"])
        #expect(Self.starts(&queue, now: now + .seconds(2)).isEmpty)
        #expect(queue.count == 0)
    }

    @Test("jobs abandoned before they start never do, whatever the limits had let start")
    func waitingJobs() async throws {
        // In a process of its own: what this guards against is a crash.
        await #expect(processExitsWith: .success) {
            for perHost in [1, 2, 8] {
                var queue = Self.queue(perHost: perHost)
                for path in 1...50 { _ = try queue.submit(Self.url(path), waiter: "leaves") }
                let flying = Self.starts(&queue)
                let left = queue.abandon { _ in true }
                #expect(Set(left.inFlight) == Set(flying) && left.waiters.count == 50)
                #expect(Self.starts(&queue).isEmpty && queue.count == 0 && queue.inFlight == 0)
                _ = try queue.submit(Self.url(60), waiter: "new")
                #expect(try Self.starts(&queue) == [Self.url(60).string])
            }
        }
    }

    @Test("a URL abandoned and asked for again starts once")
    func askedForAgain() async throws {
        await #expect(processExitsWith: .success) {
            var queue = Self.queue(perHost: 1)
            for path in 1...3 { _ = try queue.submit(Self.url(path), waiter: "leaves") }
            _ = queue.abandon { _ in true }
            for path in 1...3 { _ = try queue.submit(Self.url(path), waiter: "stays") }
            var started: [String] = []
            while let key = Self.starts(&queue).first {
                started.append(key)
                #expect(queue.end(key) == ["stays"])
            }
            #expect(try started.sorted() == (1...3).map { try Self.url($0).string })
        }
    }

    @Test("a URL abandoned and asked for again does not start before its time when it is to be tried again")
    func askedForAgainAndRetried() async throws {
        await #expect(processExitsWith: .success) {
            let now = ContinuousClock.now
            var queue = Self.queue(perHost: 1)
            for path in [1, 2] { _ = try queue.submit(Self.url(path), waiter: "leaves") }
            _ = queue.abandon { _ in true }
            for path in [2, 1] { _ = try queue.submit(Self.url(path), waiter: "stays") }
            let first = try #require(Self.starts(&queue, now: now).first)
            queue.retry(first, at: now + .seconds(5))
            while let key = Self.starts(&queue, now: now + .seconds(1)).first {
                #expect(key != first)
                _ = queue.end(key)
            }
            #expect(Self.starts(&queue, now: now + .seconds(5)) == [first])
        }
    }

    @Test("whatever comes in whatever order, limits hold and every waiter is told once")
    func anything() async throws {
        await #expect(processExitsWith: .success) {
            for seed in 1...40 { try Self.simulate(seed: UInt64(seed)) }
        }
    }

    private static func simulate(seed: UInt64) throws {
        var random = Randomness(state: seed)
        var queue = QueueDriver<Int>(limits: .init(parallel: 6, perHost: 3, interval: nil))
        var now = ContinuousClock.now
        var (flying, landed): ([String], [String]) = ([], [])
        var (submitted, told): (Int, [Int]) = (0, [])
        func pump() {
            while case .start(let start) = queue.next(now: now) {
                precondition(!flying.contains(start.key) && !landed.contains(start.key), "started twice")
                flying.append(start.key)
                precondition(flying.count <= 6 && queue.inFlight == flying.count)
                for host in 1...3 { precondition(flying.count { $0.hasPrefix("http://10.0.0.\(host)/") } <= 3) }
            }
        }
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let path = Int.random(in: 0..<30, using: &random)
                _ = try queue.submit(url(path, host: path % 3 + 1), waiter: submitted)
                submitted += 1
            case 4 where !flying.isEmpty:
                let key = flying.remove(at: Int.random(in: 0..<flying.count, using: &random))
                queue.retry(key, at: now + .seconds(Int.random(in: 0...3, using: &random)))
            case 5 where !flying.isEmpty:
                let key = flying.remove(at: Int.random(in: 0..<flying.count, using: &random))
                landed.append(key)
                queue.landed(key)
            case 6 where !landed.isEmpty: told += queue.end(landed.removeFirst())
            case 7 where !flying.isEmpty: told += queue.end(flying.removeFirst())
            case 8:
                let share = Int.random(in: 1...5, using: &random)
                let left = queue.abandon { $0.isMultiple(of: share) }
                told += left.waiters
                flying.removeAll { left.inFlight.contains($0) }
            default: now += .seconds(1)
            }
            pump()
        }
        // To the end: everything still there starts and ends.
        while queue.count > 0 {
            for key in landed + flying { told += queue.end(key) }
            (landed, flying) = ([], [])
            now += .seconds(4)
            pump()
            precondition(!flying.isEmpty || queue.count == 0, "something never starts")
        }
        precondition(told.sorted() == Array(0..<submitted), "a waiter was told twice, or never")
    }

    /// A small generator with a seed (xorshift64).
    private struct Randomness: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state &* 0x2545_F491_4F6C_DD1D
        }
    }
}
