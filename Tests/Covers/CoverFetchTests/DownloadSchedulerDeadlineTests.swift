import CurlHTTP
import OriginServer
import Testing
import Wire

@testable import CoverFetch

/// The time and the retries that callers give their asks.
@Suite(.timeLimit(.minutes(5))) struct DownloadSchedulerDeadlineTests {
    private let short = Duration.milliseconds(30)

    private func ask(_ caller: Caller, _ url: String, within time: Duration? = nil, retries: Int? = nil) throws -> Ask {
        caller.ask(try HTTPURL(url)) { ask in
            if let time { ask.wait(atMost: time) }
            ask.retries = retries
        }
    }

    @Test(arguments: ["fault=never", "redirect=1&to=/covers/2.jpg?fault=never"])
    func `an ask ends when its time is over: in flight, behind a redirect`(query: String)
        async throws
    {
        try await withScheduler(retries: 3) { origin, scheduler, _ in
            let caller = Caller()
            await scheduler.submit([try ask(caller, origin.coverURL(1) + "?" + query, within: .milliseconds(200))])
            try await eventually { caller.result != nil }
            #expect(caller.results.map(\.failure?.kind) == [.timeout])
            #expect(caller.result?.failure?.detail.contains("within") == true)
            #expect(caller.result?.failure?.isHostUnreachable == false, "only the caller's time was over")
            // Its transfer is cancelled.
            try await eventually { origin.openConnectionCount <= 1 }
        }
    }

    /// Far shorter than the pauses.
    private let long = Duration.seconds(15)

    @Test(arguments: ["status=503&retry-after=100", "status=429&retry-after=100"])
    func `a pause past an ask's time ends it immediately, with what the server said; others wait`(query: String)
        async throws
    {
        try await withScheduler(retries: 3) { origin, scheduler, _ in
            let (hasty, patient, late) = (Caller(), Caller(), Caller())
            let url = origin.coverURL(1) + "?" + query
            await scheduler.submit([try ask(patient, url), try ask(hasty, url, within: long)])
            try await eventually { hasty.result != nil }
            await scheduler.submit([try ask(late, url, within: long)])
            try await eventually { late.result != nil }
            #expect([hasty, late].map { $0.result?.failure?.kind } == [.status, .status])
            #expect(hasty.result?.failure?.retryAfter.map { $0 <= .seconds(100) && $0 > long } == true)
            #expect(patient.result == nil)
        }
    }

    @Test(arguments: ["status=500", "fault=reset"])
    func `a back-off past an ask's time ends it with its last failure`(query: String) async throws {
        var retry = RetryPolicy(retries: 3)
        (retry.base, retry.cap) = (.seconds(1_000_000_000), .seconds(1_000_000_000))
        try await withScheduler(FetchLimits(parallel: 16, perHost: 8), retry) { origin, scheduler, _ in
            let caller = Caller()
            await scheduler.submit([try ask(caller, origin.coverURL(1) + "?" + query, within: long)])
            try await eventually { caller.result != nil }
            #expect([.status, .broken].contains(caller.result?.failure?.kind))
            #expect(caller.result?.failure?.detail.contains("no other attempt") == true)
            #expect(caller.result?.failure?.retryAfter == nil)
        }
    }

    @Test func `a pause of its host ends an ask that was never sent, whether it waits already or comes later`()
        async throws
    {
        try await withScheduler(FetchLimits(parallel: 1, perHost: 1), retries: 3) { origin, scheduler, _ in
            let (others, hasty, late) = (Caller(), Caller(), Caller())
            let refused = try (1...8).map { try ask(others, origin.coverURL($0) + "?status=429&retry-after=100") }
            await scheduler.submit(refused + [try ask(hasty, origin.coverURL(9), within: long)])
            try await eventually { hasty.result != nil }
            await scheduler.submit([try ask(late, origin.coverURL(10), within: long)])
            try await eventually { late.result != nil }
            #expect([hasty, late].map { $0.result?.failure?.kind } == [.notTried, .notTried])
            #expect(hasty.result?.failure?.isRateLimit == true)
            #expect(hasty.result?.failure?.retryAfter.map { $0 <= .seconds(100) && $0 > long } == true)
            #expect(others.results.isEmpty && origin.requestCount == 8)
        }
    }

    @Test func `an ask that waits for its turn ends in time, and the one before it goes on`() async throws {
        try await withScheduler(FetchLimits(parallel: 1, perHost: 1)) { origin, scheduler, _ in
            let (first, second) = (Caller(), Caller())
            await scheduler.submit([try ask(first, origin.coverURL(1) + "?hold=1")])
            try await eventually { origin.requestCount == 1 }
            await scheduler.submit([try ask(second, origin.coverURL(2), within: short)])
            try await eventually { second.result != nil }
            #expect(second.result?.failure?.kind == .timeout && first.result == nil)
            origin.release()
            try await eventually { first.result != nil }
            #expect(first.result?.kind == .downloaded && origin.requestCount == 1)
        }
    }

    @Test(arguments: [true, false])
    func `an ask that shares a transfer keeps its own time, and the other gets the cover`(isFirst: Bool) async throws {
        try await withScheduler { origin, scheduler, _ in
            let (hasty, patient) = (Caller(), Caller())
            let url = origin.coverURL(1) + "?hold=1"
            let asks = [try ask(hasty, url, within: short), try ask(patient, url)]
            await scheduler.submit(isFirst ? asks : asks.reversed())
            try await eventually { hasty.result != nil && origin.requestCount == 1 }
            #expect(hasty.result?.failure?.kind == .timeout && patient.result == nil)
            origin.release()
            try await eventually { patient.result != nil }
            #expect(patient.result?.kind == .downloaded && origin.requestCount == 1)
        }
    }

    @Test func `a cover that has arrived in time is stored and given, however long that takes`() async throws {
        try await withScheduler { origin, scheduler, store in
            let (caller, other) = (Caller(), Caller())
            store.pause()
            // A year is never over.
            await scheduler.submit([try ask(caller, origin.coverURL(1), within: .seconds(31_536_000))])
            try await eventually { store.downloads.count == 1 }
            await scheduler.submit([try ask(other, origin.coverURL(2) + "?fault=never", within: .zero)])
            try await eventually { other.result != nil }
            #expect(other.result?.failure?.kind == .timeout && caller.result == nil)
            store.resume()
            try await eventually { caller.result != nil }
            #expect(caller.result?.kind == .downloaded)
        }
    }

    @Test(arguments: [([0], 1), ([2], 3), ([nil], 2), ([0, 2], 3), ([0, nil], 2)] as [([Int?], Int)])
    func `an ask has its own retries; those that share a transfer get as many as the most patient of them`(
        retries: [Int?], requests: Int
    ) async throws {
        try await withScheduler(retries: 1) { origin, scheduler, _ in
            let caller = Caller()
            let url = origin.coverURL(1) + "?status=500"
            await scheduler.submit(try retries.map { try ask(caller, url, retries: $0) })
            try await eventually { caller.results.count == retries.count }
            #expect(caller.results.allSatisfy { $0.failure?.status == 500 })
            #expect(origin.requestCount == requests)
        }
    }

    @Test func `while its caller shuts down, what waits ends as closed, and what is in flight may arrive, unretried`()
        async throws
    {
        try await withScheduler(FetchLimits(parallel: 8, perHost: 2), retries: 3) { origin, scheduler, _ in
            let (caller, other) = (Caller(), Caller())
            let (held, failing) = (origin.coverURL(1) + "?hold=1", origin.coverURL(2) + "?hold=1&status=503")
            await scheduler.submit([try ask(caller, held), try ask(caller, failing)])
            try await eventually { origin.requestCount == 2 }
            await scheduler.submit([try ask(caller, origin.coverURL(3)), try ask(other, origin.coverURL(4))])
            await scheduler.windDown(caller, within: .seconds(600))
            #expect(caller.results.map(\.failure?.kind) == [.closed] && caller.result?.url == origin.coverURL(3))
            origin.release()
            try await eventually { caller.results.count == 3 && other.result != nil }
            #expect(Set(caller.results.map(\.failure?.kind)) == [.closed, .status, nil])
            #expect(other.result?.kind == .downloaded && origin.requestCount == 3)
        }
    }

    @Test func `a transfer in flight that takes longer than its caller's shutdown may ends as closed`() async throws {
        try await withScheduler(retries: 3) { origin, scheduler, _ in
            let caller = Caller()
            await scheduler.submit([try ask(caller, origin.coverURL(1) + "?fault=never")])
            try await eventually { origin.requestCount == 1 }
            await scheduler.windDown(caller, within: short)
            try await eventually { caller.result != nil }
            #expect(caller.result?.failure?.kind == .closed)
        }
    }

    @Test func `closing ends an ask that waits for its retry`() async throws {
        try await withScheduler(retries: 3) { origin, scheduler, _ in
            let caller = Caller()
            await scheduler.submit([try ask(caller, origin.coverURL(1) + "?status=503&retry-after=100")])
            try await eventually { origin.requestCount == 1 }
            await scheduler.close()
            #expect(caller.results.map(\.failure?.kind) == [.closed])
        }
    }

    @Test func `covers of a host that was given up say when it is tried again`() async throws {
        try await withScheduler { _, scheduler, _ in
            let caller = Caller()
            await scheduler.submit(try (0..<50).map { try ask(caller, "http://127.0.0.1:1/\($0).jpg") })
            try await eventually { caller.results.count == 50 }
            let untried = caller.results.compactMap(\.failure).filter { $0.kind == .notTried }
            #expect(!untried.isEmpty && untried.allSatisfy(\.isRetryable))
            #expect(untried.allSatisfy { $0.retryAfter.map { $0 > .zero && $0 <= .seconds(60) } ?? false })
        }
    }
}
