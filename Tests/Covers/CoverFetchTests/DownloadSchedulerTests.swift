import CurlHTTP
import Foundation
import OriginServer
import Testing
import Wire

@testable import CoverFetch

@Suite(.timeLimit(.minutes(5))) struct DownloadSchedulerTests {
    @Test func `asks for one URL share a transfer; later ones join until the cover is stored`() async throws {
        try await withScheduler { origin, scheduler, store in
            let url = try HTTPURL(origin.coverURL(1) + "?hold=1")
            let (first, second, third) = (Caller(), Caller(), Caller())
            store.pause()
            await scheduler.submit([first.ask(url), second.ask(url)])
            try await eventually { origin.requestCount == 1 }
            origin.release()
            try await eventually { store.downloads.count == 1 }
            #expect(store.downloads[0].key == url.string)
            await scheduler.submit([third.ask(url)])
            store.resume()
            try await eventually { third.result != nil }
            #expect(
                third.result?.isJoined == true && first.result?.isJoined == false && second.result?.isJoined == true)
            #expect(origin.requestCount == 1)
            // The cover is stored: another ask starts a transfer.
            await scheduler.submit([Caller().ask(url)])
            try await eventually { origin.requestCount == 2 }
        }
    }

    @Test func `the next address of a cover is requested without waiting for the store`() async throws {
        try await withScheduler { origin, scheduler, store in
            let caller = Caller()
            let ask = try Ask(origin.coverURL(1) + "?status=404", alternatives: [origin.coverURL(2)], sink: caller)
            store.pause()
            await scheduler.submit([ask])
            try await eventually { origin.requestCount == 2 }
            store.resume()
            try await eventually { caller.result?.kind == .downloaded }
            #expect(caller.results.map(\.url) == [origin.coverURL(2)])
        }
    }

    @Test func `a failure that a run remembers ends an ask that repeats another, and no first one`() async throws {
        try await withScheduler { origin, scheduler, _ in
            let caller = Caller(remembering: CoverFailure(.status, url: "", detail: "remembered", status: 404))
            let (first, repeated) = (try HTTPURL(origin.coverURL(1)), try HTTPURL(origin.coverURL(2)))
            await scheduler.submit([caller.ask(first), caller.ask(repeated) { $0.mayHaveFailed = true }])
            try await eventually { caller.results.count == 2 }
            #expect(origin.requestCount == 1 && caller.results.map { $0.failure?.detail } == ["remembered", nil])
        }
    }

    @Test func `an ask that may not connect to private addresses joins a transfer that may`() async throws {
        try await withScheduler { origin, scheduler, _ in
            let url = try HTTPURL(origin.coverURL(1) + "?hold=1")
            let (first, second, alone) = (Caller(), Caller(), Caller())
            func denying(_ caller: Caller, _ url: HTTPURL) -> Ask {
                caller.ask(url) { $0.deniesPrivateAddresses = true }
            }
            await scheduler.submit([first.ask(url)])
            try await eventually { origin.requestCount == 1 }
            await scheduler.submit([denying(second, url), denying(alone, try HTTPURL(origin.coverURL(2)))])
            try await eventually { alone.result != nil }
            origin.release()
            try await eventually { first.result != nil && second.result != nil }
            #expect(alone.result?.failure?.kind == .refusedAddress)
            #expect(first.result?.kind == .downloaded && second.result?.isJoined == true && origin.requestCount == 1)
        }
    }

    @Test func `a cover that the store lost is downloaded again for the same asks`() async throws {
        try await withScheduler { origin, scheduler, store in
            let caller = Caller()
            store.loseNext()
            await scheduler.submit([caller.ask(try HTTPURL(origin.coverURL(1)))])
            try await eventually { caller.result != nil }
            #expect(origin.requestCount == 2 && store.downloads.count == 2)
            #expect(caller.result?.kind == .downloaded)
        }
    }

    @Test func `a cover that is being stored is not cancelled, and holds up no other cover of its host`() async throws {
        try await withScheduler(FetchLimits(parallel: 1, perHost: 1)) { origin, scheduler, store in
            let (first, second) = (Caller(), Caller())
            store.pause()
            await scheduler.submit([
                first.ask(try HTTPURL(origin.coverURL(1))), second.ask(try HTTPURL(origin.coverURL(2))),
            ])
            try await eventually { origin.requestCount == 2 }
            await scheduler.cancelAsks(of: first)
            #expect(first.result == nil)
            store.resume()
            try await eventually { first.result != nil && second.result != nil }
            #expect(first.result?.kind == .downloaded && second.result?.kind == .downloaded)
        }
    }

    @Test(arguments: ["", "&chunked=1"])
    func `no transfer starts while the bodies that arrive take all memory`(query: String) async throws {
        let limits = FetchLimits(parallel: 16, perHost: 8)
        try await withScheduler(limits, RetryPolicy(retries: 0), bodyMemory: 100_000) { origin, scheduler, _ in
            let caller = Caller()
            let large = origin.coverURL(1) + "?size=400000&rate=800000" + query
            await scheduler.submit([caller.ask(try HTTPURL(large))])
            try await eventually { await !scheduler.hasRoom }
            await scheduler.submit(try (2...9).map { caller.ask(try HTTPURL(origin.coverURL($0))) })
            try await eventually { caller.results.count == 9 }
            #expect(caller.results.allSatisfy { $0.kind == .downloaded })
            #expect(caller.result?.url == large, "the small ones would have ended before it")
        }
    }

    @Test func `all covers of an unreachable host fail, however many are waiting`() async throws {
        try await withScheduler { _, scheduler, _ in
            let caller = Caller()
            let asks = try (0..<25_000).map { caller.ask(try HTTPURL("http://127.0.0.1:1/\($0).jpg")) }
            await scheduler.submit(asks)
            try await eventually { caller.results.count == 25_000 }
            #expect(caller.results.allSatisfy { $0.failure != nil })
        }
    }

    @Test
    func
        `covers that are redirected to one URL share its transfer, and a later one takes its response while it is fresh`()
        async throws
    {
        try await withScheduler { origin, scheduler, store in
            func urls(_ numbers: ClosedRange<Int>, _ lifetime: String) throws -> [HTTPURL] {
                let target = "/covers/0.jpg?hold=1%26cache-control=\(lifetime)"
                return try numbers.map { try HTTPURL(origin.coverURL($0) + "?to=" + target) }
            }
            let caller = Caller()
            await scheduler.submit(try urls(1...8, "max-age=600").map { caller.ask($0) })
            try await eventually { await scheduler.inFlight == 1 && origin.requestCount == 9 }
            origin.release()
            try await eventually { caller.results.count == 8 }
            #expect(caller.results.allSatisfy { $0.kind == .downloaded })
            #expect(caller.results.count { $0.isJoined } == 7 && origin.requestCount == 9)
            #expect(store.downloads.allSatisfy { $0.target.string == store.downloads[0].target.string })
            await scheduler.submit([caller.ask(try urls(9...9, "max-age=600")[0])])
            await scheduler.submit([caller.ask(try urls(10...10, "max-age=600")[0]) { $0.cacheUse = .reload }])
            try await eventually { caller.results.count == 10 }
            #expect(origin.requestCount == 12, "two redirects, and the target for the one that reloads")
        }
    }

    @Test(arguments: [("404", 5), ("500", 8)])
    func `a final answer of a shared target is that of all covers, and after another failure each asks for itself`(
        status: String, requests: Int
    ) async throws {
        try await withScheduler { origin, scheduler, _ in
            let caller = Caller()
            await scheduler.submit(
                try (1...4).map { number in
                    caller.ask(try HTTPURL(origin.coverURL(number) + "?to=/covers/0.jpg?hold=1%26status=\(status)"))
                })
            // The others have their redirects, and follow the one in flight.
            try await eventually { await scheduler.inFlight == 1 && origin.requestCount == 5 }
            origin.release()
            try await eventually { caller.results.count == 4 }
            #expect(caller.results.allSatisfy { $0.failure?.status == Int(status) })
            #expect(origin.requestCount == requests)
        }
    }

    @Test func `the covers of a host that restarts arrive after it, and those that someone waits for fail meanwhile`()
        async throws
    {
        try await withScheduler(.init(parallel: 16, perHost: 8), RetryPolicy(retries: 1)) { _, scheduler, _ in
            let before = try await Origin.start()
            let (run, hurried) = (Caller(), Caller())
            await scheduler.submit([run.ask(try HTTPURL(before.coverURL(0)))])
            try await eventually { run.results.count == 1 }
            await before.stop()
            await scheduler.submit(try (1...20).map { run.ask(try HTTPURL(before.coverURL($0))) })
            try await eventually { await scheduler.postponed == 20 }
            let shared = try HTTPURL(before.coverURL(20))
            await scheduler.submit([hurried.ask(shared) { $0.isForUse = true }])
            try await eventually { hurried.result?.failure?.isHostUnreachable == true }
            #expect(run.results.count == 1)
            var options = OriginOptions()
            options.port = before.port
            let after = try await Origin.start(options)
            try await eventually { run.results.count == 21 }
            #expect(run.results.allSatisfy { $0.kind == .downloaded })
            await after.stop()
        }
    }

    @Test func `cancelling a sink's asks cancels its transfers, and no other sink's`() async throws {
        try await withScheduler { origin, scheduler, store in
            let (leaving, staying) = (Caller(), Caller())
            let shared = try HTTPURL(origin.coverURL(1) + "?hold=1")
            let own = try HTTPURL(origin.coverURL(2) + "?fault=never")
            await scheduler.submit([leaving.ask(shared), leaving.ask(own), staying.ask(shared)])
            try await eventually { origin.requestCount == 2 }
            await scheduler.cancelAsks(of: leaving)
            #expect(leaving.results.compactMap(\.failure?.kind) == [.cancelled, .cancelled])
            origin.release()
            try await eventually { staying.result != nil }
            #expect(staying.result?.failure == nil)
            try await eventually { origin.openConnectionCount <= 1 }
        }
    }

    @Test func `closing ends every ask, and later ones at once`() async throws {
        try await withScheduler { origin, scheduler, _ in
            let (before, after) = (Caller(), Caller())
            let url = try HTTPURL(origin.coverURL(1) + "?fault=never")
            await scheduler.submit([before.ask(url)])
            try await eventually { origin.requestCount == 1 }
            await scheduler.close()
            #expect(before.result?.failure?.kind == .closed)
            await scheduler.submit([after.ask(url)])
            #expect(after.result?.failure?.kind == .closed)
        }
    }

    @Test func `a 404 is handed to the store as a hint with its status and the end of its lifetime`() async throws {
        try await withScheduler { origin, scheduler, store in
            let caller = Caller()
            await scheduler.submit([caller.ask(try HTTPURL(origin.coverURL(1) + "?status=404"))])
            try await eventually { caller.result != nil }
            let absence = try #require(store.downloads.first?.absence)
            #expect(absence.status == 404 && absence.until > Int64(Date.now.timeIntervalSince1970 * 1_000))
            #expect(caller.result?.failure?.status == 404)
        }
    }
}

extension DownloadScheduler {
    /// There is memory for another transfer's body.
    fileprivate var hasRoom: Bool { client.loop.multi?.hasRoom(beside: 0) ?? true }
    fileprivate var postponed: Int { queue.postponed }
}

extension DownloadScheduler {
    fileprivate var inFlight: Int { queue.inFlight }
}
