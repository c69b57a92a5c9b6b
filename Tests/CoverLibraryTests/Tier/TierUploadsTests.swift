import CoverCache
import CoverTier
import Foundation
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
        func cover(for key: TierKey) async throws(TierError) -> TierCover? { nil }
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
        uploads = TierUploads(tier) { key throws(TierError) in
            TierCover(EntryMetadata(key: key, mediaType: "image/jpeg", storedAt: 1), Digest(of: [1]), body: [1])
        }
    }

    /// Adds outcomes, and returns what each was completed with.
    private func add(_ outcomes: [CoverOutcome], then body: () async -> Void = {}) async throws -> [CoverOutcome] {
        let completed = Mutex<[CoverOutcome]>([])
        uploads.add(outcomes) { ended in completed.withLock { $0 += ended } }
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

    @Test func `puts that wait for a tier fail when the run is stopped`() async throws {
        storage.state.withLock { $0.failure = .unreachable("gone") }
        let outcomes = try await add(downloads(100)) { tier.isStopped = true }
        #expect(outcomes.allSatisfy { $0.tier == .failed } && tier.statistics.failed == 100)
        storage.state.withLock { $0.failure = nil }
        tier.isStopped = false
        #expect(try await add(downloads(1)).allSatisfy { $0.kind == .downloaded })
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
                let found = Mutex<[String: String]>([:])
                await second.library.fetch(
                    urls.map { CoverDemand(urls: [$0], isUrgent: false) }, order: urls, withdrawing: []
                ) { key, result in
                    found.withLock { $0[key] = try? result.get() }
                }
                try await eventually { found.withLock { $0.count } == 3 }
                for url in urls {
                    #expect(try second.library.cached(url)?.digest == found.withLock { $0[url] })
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
