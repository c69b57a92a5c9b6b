import CoverCache
import CoverTier
import Foundation
import HTTPTypes
import Logging
import OriginServer
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(5))) struct TierUploadsTests {
    /// Counts puts, and fails as it is told to.
    private final class TestStorage: TierStorage {
        let state = Mutex((running: 0, most: 0, puts: 0, failure: TierError?.none))

        func check(isReadOnly: Bool) async throws(TierError) {}
        let found = Mutex<TierCover?>(nil)
        func cover(for key: TierKey) async throws(TierError) -> TierCover? { found.withLock { $0 } }
        func put(_ cover: TierCover) async throws(TierError) {
            let failure = state.withLock { state in
                state.running += 1
                (state.most, state.puts) = (max(state.most, state.running), state.puts + 1)
                return state.failure
            }
            await Task.yield()
            state.withLock { $0.running -= 1 }
            if let failure { throw failure }
        }
    }

    private let storage = TestStorage()
    private let tier: Tier
    private let uploads: TierUploads

    init() {
        tier = Tier(
            storage, name: "/tier", isReadOnly: false, logger: Logger(label: "tier") { _ in SwiftLogNoOpLogHandler() })
        uploads = TierUploads(tier) { key throws(TierError) in Self.cover(key, storedAt: 10) }
    }

    private static func cover(_ key: String, storedAt: Int64) -> TierCover {
        TierCover(EntryMetadata(key: key, mediaType: "image/jpeg", storedAt: storedAt), Digest(of: [1]), body: [1])
    }

    /// Adds outcomes, and returns what each was completed with.
    private func add(
        _ outcomes: [CoverOutcome], isAwaited: @escaping @Sendable (String) -> Bool? = { _ in true },
        then body: () async -> Void = {}
    ) async throws -> [CoverOutcome] {
        let completed = Mutex<[CoverOutcome]>([])
        uploads.add(outcomes, isAwaited: isAwaited) { ended in completed.withLock { $0 += ended } }
        await body()
        try await eventually { completed.withLock { $0.count } == outcomes.count }
        return completed.withLock { $0 }
    }

    private func downloads(_ count: Int) -> [CoverOutcome] {
        (0..<count).map { CoverOutcome(.downloaded, url: "https://a.example/\($0).jpg") }
    }

    @Test func `each download is completed once, after its put, and at most 32 are put together`() async throws {
        let failed = CoverOutcome(failed: CoverFailure(.status, url: "https://a.example/x.jpg", detail: "404"))
        let outcomes = try await add(
            downloads(1_000) + [failed, CoverOutcome(.revalidated, url: "https://a.example/y")])
        #expect(Set(outcomes.map(\.url)).count == 1_002)
        #expect(outcomes.count { $0.tier == .stored } == 1_000 && outcomes.count { $0.tier == nil } == 2)
        let (most, puts) = storage.state.withLock { ($0.most, $0.puts) }
        #expect(puts == 1_000 && most <= 32)
        #expect(tier.statistics.stored == 1_000)
    }

    @Test func `puts of a run that is stopped fail, and those of another one go on`() async throws {
        storage.state.withLock { $0.failure = .unreachable("gone") }
        let isRunning = Atomic(true)
        let outcomes = try await add(downloads(100), isAwaited: { _ in isRunning.load(ordering: .acquiring) }) {
            isRunning.store(false, ordering: .releasing)
        }
        #expect(outcomes.allSatisfy { $0.tier == .failed } && tier.statistics.failed == 100)
        storage.state.withLock { $0.failure = nil }
        #expect(try await add(downloads(10)).allSatisfy { $0.tier == .stored })
        #expect(await uploads.push(["https://a.example/x.jpg"]) == [.stored])
        tier.stop()
        #expect(try await add(downloads(1)).allSatisfy { $0.tier == .failed })
    }

    @Test func `push replaces what is older, or of a clock that is ahead`() async {
        let key = "https://a.example/1.jpg"
        for (storedAt, use) in [
            (9, .stored), (10, .hit), (11, .hit), (Int64.max, .stored),
        ] as [(Int64, CoverOutcome.TierUse)] {
            storage.found.withLock { $0 = Self.cover(key, storedAt: storedAt) }
            #expect(await uploads.push([key]) == [use], "\(storedAt)")
        }
    }

    @Test func `what no run waits for is complete before its put`() async throws {
        let outcomes = try await add(downloads(10), isAwaited: { _ in nil })
        #expect(outcomes.count == 10 && outcomes.allSatisfy { $0.tier == nil })
        #expect(await uploads.ended(within: .seconds(60)) == 0)
        #expect(tier.statistics.stored == 10)
        storage.state.withLock { $0.failure = .unreachable("gone") }
        _ = try await add(downloads(1), isAwaited: { _ in nil })
        #expect(await uploads.ended(within: .zero) > 0)
        tier.stop()
    }

    @Test func `a cover that was got with credentials is not shared, by the run or by a later push`() async throws {
        let path = FileManager.default.temporaryDirectory.path() + "sleeve-tier-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withStage({ $0.tier = path }) { stage in
            var requests = (0..<4).map { CoverRequest(location: stage.url($0)) }
            requests[1].headerFields = [.authorization: "Bearer a"]
            requests[2].headerFields = [.cookie: "a=1"]
            requests[3].headerFields = [.referer: "https://a.example/"]
            let summary = try await stage.library.prefetch(requests).collect().summary
            let statistics = try #require(stage.library.tierStatistics)
            #expect(summary.downloaded == 4 && statistics.stored == 2 && statistics.unsuitable == 2)
            // A 304 to a request without them does not make it anyone's.
            var all = RefreshRequest()
            all.scope = .all
            #expect(try await stage.library.refresh(all).collect().summary.revalidated == 4)
            let pushed = try await stage.library.push()
            #expect(pushed.unsuitable == 2 && pushed.failed == 0 && pushed.put + pushed.kept == 2)
        }
    }

    @Test func `a viewer gets the covers of a tier, and observers hear of them`() async throws {
        let path = FileManager.default.temporaryDirectory.path() + "sleeve-tier-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withStage({ $0.tier = path }) { first in
            let urls = (0..<3).map { first.url($0) }
            let summary = try await first.library.prefetch(urls).collect().summary
            #expect(summary.downloaded == 3 && first.library.tierStatistics?.stored == 3)
            try await withStage({ $0.tier = path }) { second in
                let events = second.library.events()
                let window = second.library.window(of: String.self)
                window.show(urls.map { ($0, CoverRequest(location: $0)) })
                var found: [String: String] = [:]
                for await arrival in window.arrivals {
                    found[arrival.id] = arrival.outcome.digest
                    if found.count == 3 { break }
                }
                for url in urls {
                    let digest = try second.library.cached(url)?.digest
                    #expect(digest == found[url])
                }
                var arrived = 0
                for await event in events {
                    if case .arrived = event { arrived += 1 }
                    if arrived == 3 { break }
                }
                #expect(first.origin.requestCount == 3)
            }
        }
    }
}
