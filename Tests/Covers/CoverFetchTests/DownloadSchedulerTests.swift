import CurlHTTP
import Foundation
import Logging
import OriginServer
import Synchronization
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

    @Test func `all covers of an unreachable host fail, however many are waiting`() async throws {
        try await withScheduler { _, scheduler, _ in
            let caller = Caller()
            let asks = try (0..<25_000).map { caller.ask(try HTTPURL("http://127.0.0.1:1/\($0).jpg")) }
            await scheduler.submit(asks)
            try await eventually { caller.results.count == 25_000 }
            #expect(caller.results.allSatisfy { $0.failure != nil })
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

    @Test func `closing cancels every ask, and later ones at once`() async throws {
        try await withScheduler { origin, scheduler, _ in
            let (before, after) = (Caller(), Caller())
            let url = try HTTPURL(origin.coverURL(1) + "?fault=never")
            await scheduler.submit([before.ask(url)])
            try await eventually { origin.requestCount == 1 }
            await scheduler.close()
            #expect(before.result?.failure?.kind == .cancelled)
            await scheduler.submit([after.ask(url)])
            #expect(after.result?.failure?.kind == .cancelled)
        }
    }

    @Test(arguments: [301, 302, 307, 308])
    func `only permanent redirects are handed to the store as a hint`(status: Int) async throws {
        try await withScheduler { origin, scheduler, store in
            let url = try HTTPURL(origin.coverURL(1) + "?redirect-status=\(status)&to=/covers/2.jpg")
            let caller = Caller()
            await scheduler.submit([caller.ask(url)])
            try await eventually { caller.result != nil }
            let target = store.downloads.first?.hints.redirect?.target.string
            #expect(target == ([301, 308].contains(status) ? origin.coverURL(2) : nil))
        }
    }

    @Test func `a 404 is handed to the store as a hint with its status and the end of its lifetime`() async throws {
        try await withScheduler { origin, scheduler, store in
            let caller = Caller()
            await scheduler.submit([caller.ask(try HTTPURL(origin.coverURL(1) + "?status=404"))])
            try await eventually { caller.result != nil }
            let absence = try #require(store.downloads.first?.hints.absence)
            #expect(absence.status == 404 && absence.until > Int64(Date.now.timeIntervalSince1970 * 1_000))
            #expect(caller.result?.failure?.status == 404)
        }
    }

    // MARK: Support

    private func withScheduler(
        _ limits: FetchLimits = FetchLimits(parallel: 16, perHost: 8),
        _ body: (Origin, DownloadScheduler, MemoryStore) async throws -> Void
    ) async throws {
        let origin = try await Origin.start()
        let store = MemoryStore()
        var configuration = HTTPClientConfiguration(userAgent: "Sleeve/test")
        configuration.timeout = .seconds(20)
        let scheduler = DownloadScheduler(
            client: try HTTPClient(configuration: configuration), store: store,
            policy: FetchPolicy(
                limits: limits, retry: RetryPolicy(retries: 0),
                redirect: RedirectPolicy()),
            hosts: [:], logger: Logger(label: "test"))
        store.scheduler = scheduler
        await scheduler.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(origin, scheduler, store))
        } catch {
            result = .failure(error)
        }
        store.resume()
        await scheduler.close()
        await origin.stop()
        try result.get()
    }
}

/// A store that keeps finished jobs in memory.
private final class MemoryStore: DownloadStore {
    private struct State {
        weak var scheduler: DownloadScheduler?
        var downloads: [Download] = []
        var isPaused = false
        var losesNext = false
    }
    private let state = Mutex(State())

    var scheduler: DownloadScheduler? {
        get { state.withLock { $0.scheduler } }
        set { state.withLock { $0.scheduler = newValue } }
    }
    var downloads: [Download] { state.withLock { $0.downloads } }

    /// Ends no job until `resume`.
    func pause() { state.withLock { $0.isPaused = true } }
    func resume() { state.withLock { $0.isPaused = false } }
    /// Reports the next download as lost.
    func loseNext() { state.withLock { $0.losesNext = true } }

    func store(_ batch: WriteBatch) async {
        let losesFirst = state.withLock { state in
            state.downloads += batch.downloads
            defer { state.losesNext = false }
            return state.losesNext
        }
        try? await eventually { self.state.withLock { !$0.isPaused } }
        let kept = batch.downloads.dropFirst(losesFirst ? 1 : 0)
        _ = scheduler?.pending.complete(kept.map(\.outcome))
        if losesFirst { await scheduler?.resubmit([batch.downloads[0].key]) }
    }
}

extension Download {
    fileprivate var outcome: CoverOutcome {
        switch content {
        case .cover: return CoverOutcome(.downloaded, of: self)
        case .notModified: return CoverOutcome(.revalidated, of: self)
        case .unstorable, .failure:
            var outcome = CoverOutcome(.failed, of: self)
            outcome.fail(failure ?? .notStorable(key))
            return outcome
        }
    }

    private var failure: CoverFailure? { if case .failure(let failure, _) = content { failure } else { nil } }
}
