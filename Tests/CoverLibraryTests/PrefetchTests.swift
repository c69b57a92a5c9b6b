import CoverCache
import OriginServer
import Synchronization
import Testing

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct PrefetchTests {
    /// Every outcome of a run.
    private final class Outcomes: Sendable {
        private let all = Mutex<[CoverOutcome]>([])
        var value: [CoverOutcome] { all.withLock { $0 } }
        var progress: PrefetchProgress {
            PrefetchProgress { outcome in self.all.withLock { $0.append(outcome) } }
        }
    }

    @Test("the summary counts what was downloaded, joined, deduplicated, skipped and failed, and adds up")
    func summary() async throws {
        try await withStage { stage in
            let outcomes = Outcomes()
            let list =
                (1...5).map { stage.url($0) } + [
                    stage.url(2), "HTTP://127.0.0.1:\(stage.origin.port)/covers/x/../3.jpg", stage.url(9, "same=1"),
                    "covers/1.jpg", "ftp://127.0.0.1/1.jpg", "http://user:secret@127.0.0.1/1.jpg",
                    stage.url(7, "status=404"),
                ]
            let summary = try await stage.library.prefetch(list, progress: outcomes.progress)
            #expect(summary.requested == 12 && summary.settled == 12)
            #expect(summary.downloaded == 6 && summary.deduplicated == 1)
            #expect(summary.joined == 2 && summary.skipped == 3 && summary.failed == 1)
            #expect(summary.fresh == 0 && summary.revalidated == 0)
            #expect(summary.bytes == ([1, 2, 3, 4, 5, 1].map { CoverImage.jpeg(number: $0).count }.reduce(0, +)))
            #expect(!summary.isCancelled && summary.stopReason == nil)
            #expect(summary.seconds > 0 && summary.coversPerSecond > 0 && summary.bytesPerSecond > 0)
            #expect(stage.origin.requestCount == 7)
            let told = list.map { $0.contains("secret") ? "(a URL with credentials)" : $0 }
            #expect(outcomes.value.map(\.url).sorted() == told.sorted())
        }
    }

    @Test("each cover has one outcome, told after the commit that makes it true")
    func outcomes() async throws {
        try await withStage { stage in
            let other = try await stage.another { $0.isOffline = true }
            let told = Mutex<[String: Bool]>([:])
            let progress = PrefetchProgress { outcome in
                let cover = try? other.cachedCover(for: outcome.url)
                let isTrue = cover?.digest == outcome.digest && cover?.bytes.count == outcome.bytes
                told.withLock { $0[outcome.url] = isTrue }
            }
            let urls = (1...30).map { stage.url($0) }
            _ = try await stage.library.prefetch(urls, progress: progress)
            #expect(told.withLock { $0 } == Dictionary(uniqueKeysWithValues: urls.map { ($0, true) }))
            await other.close()
        }
    }

    @Test("a second run finds everything fresh and makes no connection")
    func fresh() async throws {
        try await withStage { stage in
            let urls = (1...40).map { stage.url($0) }
            #expect(try await stage.library.prefetch(urls).downloaded == 40)
            await stage.library.close()
            let (requests, connections) = (stage.origin.requestCount, stage.origin.connectionCount)
            let next = try await stage.another()
            let outcomes = Outcomes()
            let summary = try await next.prefetch(urls, progress: outcomes.progress)
            #expect(summary.fresh == 40 && summary.downloaded == 0 && summary.bytes == 0)
            #expect(stage.origin.requestCount == requests && stage.origin.connectionCount == connections)
            #expect(outcomes.value.allSatisfy { $0.kind == .fresh && $0.digest?.count == 64 && $0.bytes > 0 })
            await next.close()
        }
    }

    @Test("a URL ten thousand times in a list is one transfer")
    func repeats() async throws {
        try await withStage { stage in
            let summary = try await stage.library.prefetch(Array(repeating: stage.url(1, "delay=100"), count: 10_000))
            #expect(summary.downloaded == 1 && summary.joined + summary.fresh == 9_999)
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test("a URL that fails is not asked again in the same run, and counts every time")
    func repeatedFailure() async throws {
        try await withStage { stage in
            let bad = stage.url(1, "status=404")
            let list = AsyncStream<CoverRequest> { continuation in
                for number in 0..<2_000 {
                    continuation.yield(CoverRequest(url: number.isMultiple(of: 4) ? bad : stage.url(number % 50 + 2)))
                }
                continuation.finish()
            }
            let summary = try await stage.library.prefetch(list)
            #expect(summary.failed == 500)
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 1)
        }
    }

    @Test("an empty list is an empty summary")
    func empty() async throws {
        try await withStage { stage in
            let summary = try await stage.library.prefetch([String]())
            #expect(summary.requested == 0 && summary.settled == 0)
            #expect(stage.origin.connectionCount == 0)
        }
    }

    @Test("albums without a cover URL are skipped, the others fetched")
    func albums() async throws {
        try await withStage { stage in
            let albums = [
                Album(title: "A", coverUrl: stage.url(1)), Album(title: "B"), Album(title: "C", coverUrl: ""),
            ]
            let summary = try await stage.library.prefetch(albums)
            #expect(summary.downloaded == 1 && summary.skipped == 2)
        }
    }

    @Test("offline, what is missing fails and nothing connects")
    func offline() async throws {
        try await withStage {
            $0.isOffline = true
        } _: { stage in
            let outcomes = Outcomes()
            let summary = try await stage.library.prefetch((1...5).map { stage.url($0) }, progress: outcomes.progress)
            #expect(summary.failed == 5)
            #expect(outcomes.value.allSatisfy { $0.failure?.kind == .offline })
            #expect(stage.origin.connectionCount == 0)
        }
    }

    @Test("a list that breaks off is fetched as far as it goes, and the summary says why it ended")
    func brokenList() async throws {
        struct Broken: Error, CustomStringConvertible { let description = "the cable is cut" }
        try await withStage { stage in
            let list = AsyncThrowingStream { continuation in
                for number in 1...5 { continuation.yield(CoverRequest(url: stage.url(number))) }
                continuation.finish(throwing: Broken())
            }
            let summary = try await stage.library.prefetch(list)
            #expect(summary.stopReason?.contains("the cable is cut") == true)
            #expect(summary.settled == summary.requested)
        }
    }

    @Test("the total is known once the list is read, not before")
    func total() async throws {
        try await withStage { stage in
            let progress = PrefetchProgress()
            let (list, feed) = AsyncStream.makeStream(of: CoverRequest.self)
            let run = Task { try await stage.library.prefetch(list, progress: progress) }
            feed.yield(CoverRequest(url: stage.url(1)))
            while progress.summary.downloaded == 0 { await Task.yield() }
            #expect(progress.total == nil)
            feed.yield(CoverRequest(url: stage.url(2)))
            feed.finish()
            let summary = try await run.value
            #expect(summary.downloaded == 2)
            #expect(progress.total == 2)
        }
    }

    @Test("a cover too large for the cache fails alone, the run goes on")
    func tooLarge() async throws {
        try await withStage {
            $0.capacity = 400_000
        } _: { stage in
            let outcomes = Outcomes()
            let list = [stage.url(1), stage.url(2, "size=500000"), stage.url(3)]
            let summary = try await stage.library.prefetch(list, progress: outcomes.progress)
            #expect(summary.downloaded == 2 && summary.failed == 1 && summary.stopReason == nil)
            #expect(outcomes.value.first { $0.kind == .failed }?.failure?.kind == .tooLarge)
        }
    }

    @Test("the cache stays within its capacity during a run that brings more than it holds")
    func capacity() async throws {
        try await withStage {
            $0.capacity = 1 << 20
        } _: { stage in
            let summary = try await stage.library.prefetch((1...150).map { stage.url($0) })
            #expect(summary.downloaded == 150)
            let statistics = try await stage.library.statistics()
            #expect(statistics.chargedBytes <= 1 << 20 && statistics.chargedBytes > 1 << 19)
            #expect(try await stage.library.maintain { try $0.verify().defects.isEmpty })
        }
    }

    @Test("a list that is not read to its end is let go, even an endless one")
    func letGo() async {
        final class Witness: Sendable {
            let end: @Sendable () -> Void
            init(_ end: @escaping @Sendable () -> Void) { self.end = end }
            deinit { end() }
        }
        let (gone, signal) = AsyncStream.makeStream(of: Void.self)
        do {
            let witness = Witness { signal.finish() }
            let endless = AsyncStream { withExtendedLifetime(witness) { CoverRequest(url: "http://127.0.0.1/1.jpg") } }
            for await batch in Batches(endless, failed: { _ in }) {
                #expect(!batch.isEmpty)
                break
            }
        }
        for await _ in gone {}
    }

    @Test("no more transfers than allowed are in flight, in all or to one host")
    func limits() async throws {
        try await withStage {
            $0.perHost = 3
        } _: { stage in
            _ = try await stage.library.prefetch((1...20).map { stage.url($0, "delay=10") })
            let run = Task { try await stage.library.prefetch((21...40).map { stage.url($0, "fault=never") }) }
            while stage.origin.requestCount < 23 { await Task.yield() }
            run.cancel()
            _ = try await run.value
            #expect(stage.origin.peakInFlight == 3)
        }
    }
}
