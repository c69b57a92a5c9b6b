import CoverCache
import CoverFetch
import Foundation
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct PrefetchTests {
    @Test func `the summary counts downloaded, joined, deduplicated, skipped and failed covers, and adds up`()
        async throws
    {
        try await withStage { stage in
            let list =
                (1...5).map { stage.url($0) } + [
                    stage.url(2), "HTTP://127.0.0.1:\(stage.origin.port)/covers/x/../3.jpg", stage.url(9, "same=1"),
                    "covers/1.jpg", "ftp://127.0.0.1/1.jpg", "http://user:secret@127.0.0.1/1.jpg",
                    stage.url(7, "status=404"),
                ]
            let (outcomes, summary) = try await stage.library.prefetch(list).collect()
            #expect(summary.requested == 12 && summary.settled == 12)
            #expect(summary.downloaded == 6 && summary.deduplicated == 1)
            #expect(summary.joined == 2 && summary.skipped == 3 && summary.failed == 1)
            #expect(summary.fresh == 0 && summary.revalidated == 0)
            #expect(summary.bytes == ([1, 2, 3, 4, 5, 1].map { CoverImage.jpeg(number: $0).count }.reduce(0, +)))
            #expect(!summary.isCancelled && summary.stopReason == nil)
            #expect(summary.seconds > 0 && summary.coversPerSecond > 0 && summary.bytesPerSecond > 0)
            #expect(stage.origin.requestCount == 7)
            let redacted = list.map { $0.contains("secret") ? "(a URL with credentials)" : $0 }
            #expect(outcomes.map(\.url).sorted() == redacted.sorted())
        }
    }

    @Test func `each cover has one outcome, published after the commit that makes it true`() async throws {
        try await withStage { stage in
            let other = try await stage.another { $0.isOffline = true }
            let urls = (1...30).map { stage.url($0) }
            var published: [String] = []
            for try await outcome in stage.library.prefetch(urls) {
                let cover = try #require(try other.cached(outcome.url))
                #expect(cover.digest == outcome.digest && cover.data.count == outcome.bytes)
                published.append(outcome.url)
            }
            #expect(published.sorted() == urls.sorted())
            await other.close()
        }
    }

    @Test func `a second run finds every cover fresh and makes no connection`() async throws {
        try await withStage { stage in
            let urls = (1...40).map { stage.url($0) }
            #expect(try await stage.library.prefetch(urls).summary().downloaded == 40)
            await stage.library.close()
            let (requests, connections) = (stage.origin.requestCount, stage.origin.connectionCount)
            let next = try await stage.another()
            let (outcomes, summary) = try await next.prefetch(urls).collect()
            #expect(summary.fresh == 40 && summary.downloaded == 0 && summary.bytes == 0)
            #expect(stage.origin.requestCount == requests && stage.origin.connectionCount == connections)
            #expect(outcomes.count == 40)
            #expect(outcomes.allSatisfy { $0.kind == .fresh && $0.digest?.count == 64 && $0.bytes > 0 })
            await next.close()
        }
    }

    @Test(.enabled(if: Nginx.isInstalled), arguments: [(8, 100, 1), (400, 100, 2), (400, 20, 2)])
    func
        `over HTTP/2 a run of few covers opens one connection to their host, a run of many two, however few streams they take`(
            covers: Int, streams: Int, connections: Int
        ) async throws
    {
        try await withStage { stage in
            let server = "http2_max_concurrent_streams \(streams); " + Nginx.proxy(to: stage.origin.port)
            try await Nginx.with(.http2, server: server) { nginx in
                let library = try await stage.another {
                    $0.certificateAuthorities = URL(filePath: nginx.certificate)
                }
                let relay = try Relay(to: nginx.port)
                defer { relay.stop() }
                let urls = (1...covers).map { "https://127.0.0.1:\(relay.port)/covers/\($0).jpg" }
                let summary = try await library.prefetch(urls).summary()
                #expect(summary.downloaded == covers)
                #expect(relay.connectionCount == connections)
                await library.close()
            }
        }
    }

    @Test(.enabled(if: Nginx.isInstalled))
    func `an HTTP/2 connection that falls silent costs no cover: retries after a time-out use another one`()
        async throws
    {
        try await withStage { stage in
            try await Nginx.with(.http2, server: Nginx.proxy(to: stage.origin.port)) { nginx in
                let library = try await stage.another {
                    $0.certificateAuthorities = URL(filePath: nginx.certificate)
                    $0.timeout = .seconds(3)
                }
                let relay = try Relay(to: nginx.port)
                defer { relay.stop() }
                let urls = (0...20).map { "https://127.0.0.1:\(relay.port)/covers/\($0).jpg" }
                _ = try await library.cover(at: urls[0])
                relay.losePath()
                let summary = try await library.prefetch(urls).summary()
                #expect(summary.fresh == 1 && summary.downloaded == 20)
                #expect(relay.connectionCount > 1)
                await library.close()
            }
        }
    }

    @Test func `a URL that a list repeats ten thousand times is one transfer`() async throws {
        try await withStage { stage in
            let list = Array(repeating: stage.url(1, "delay=100"), count: 10_000)
            let summary = try await stage.library.prefetch(list).summary()
            #expect(summary.downloaded == 1 && summary.joined + summary.fresh == 9_999)
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test func `a URL that fails is requested once in a run, and counts as often as the list repeats it`() async throws
    {
        try await withStage { stage in
            let bad = stage.url(1, "status=404")
            let list = (0..<2_000).map { $0.isMultiple(of: 4) ? bad : stage.url($0 % 50 + 2) }
            let summary = try await stage.library.prefetch(list).summary()
            #expect(summary.failed == 500)
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 1)
        }
    }

    @Test func `an empty list has an empty summary`() async throws {
        try await withStage { stage in
            let summary = try await stage.library.prefetch([String]()).summary()
            #expect(summary.requested == 0 && summary.settled == 0)
            #expect(stage.origin.connectionCount == 0)
        }
    }

    @Test func `albums without a cover URL are skipped, the others are downloaded`() async throws {
        try await withStage { stage in
            let albums = [
                Album(title: "A", coverURL: stage.url(1)), Album(title: "B"), Album(title: "C", coverURL: ""),
            ]
            let summary = try await stage.library.prefetch(albums).summary()
            #expect(summary.downloaded == 1 && summary.skipped == 2)
        }
    }

    @Test func `the total is nil until the list is read`() async throws {
        try await withStage { stage in
            let (list, feed) = AsyncStream.makeStream(of: CoverRequest.self)
            let run = stage.library.prefetch(list)
            var outcomes = run.makeAsyncIterator()
            feed.yield(CoverRequest(location: stage.url(1)))
            let first = try await outcomes.next()
            #expect(first?.kind == .downloaded)
            #expect(run.progress.downloaded == 1 && run.total == nil)
            feed.yield(CoverRequest(location: stage.url(2)))
            feed.finish()
            #expect(try await outcomes.next()?.kind == .downloaded)
            #expect(try await outcomes.next() == nil)
            #expect(run.progress.downloaded == 2 && run.total == 2)
        }
    }

    @Test func `the total of an array is known before its first cover`() async throws {
        try await withStage { stage in
            let run = stage.library.prefetch([1, 2].map { CoverRequest(location: stage.url($0, "status=404")) })
            #expect(run.total == 2 && run.fractionCompleted == 0)
            let summary = try await run.summary()
            #expect(summary.failed == 2 && run.total == 2 && run.fractionCompleted == 1)
        }
    }

    @Test func `the total of a long list is known while its covers are on their way, and what is left of it`()
        async throws
    {
        try await withStage {
            $0.perHost = 1
        } _: { stage in
            let list = URL(filePath: "\(stage.folder)/list.txt")
            // Longer than what is read ahead.
            let lines = (1...20_000).map { stage.url($0, "hold=1") } + ["nonsense", "# no cover", ""]
            try lines.joined(separator: "\n").write(to: list, atomically: true, encoding: .utf8)
            let run = stage.library.prefetch(list: list)
            let work = Task { try await run.summary() }
            try await eventually { run.total == 20_001 }
            #expect(run.fractionCompleted == 0 && run.progress.requested < 20_000, "\(run.progress)")
            work.cancel()
            let summary = try await work.value
            #expect(summary.isCancelled && run.total == 20_001, "\(summary)")
        }
    }

    @Test func `a cover that is too large for the cache fails alone, and the run continues`() async throws {
        try await withStage {
            $0.capacity = 400_000
        } _: { stage in
            let list = [stage.url(1), stage.url(2, "size=500000"), stage.url(3)]
            let (outcomes, summary) = try await stage.library.prefetch(list).collect()
            #expect(summary.downloaded == 2 && summary.failed == 1 && summary.stopReason == nil)
            #expect(outcomes.first { $0.kind == .failed }?.failure?.kind == .tooLarge)
        }
    }

    @Test func `a run whose covers exceed the capacity stops when they fill the cache, and evicts none of them`()
        async throws
    {
        try await withStage {
            $0.capacity = 1 << 20
        } _: { stage in
            let (library, old) = (stage.library, (1_001...1_010).map { stage.url($0) })
            #expect(try await library.prefetch(old).summary().downloaded == 10)
            let list = (1...150).map { stage.url($0) }
            let (outcomes, first) = try await library.prefetch(list).collect()
            #expect(
                first.stopReason?.contains("1 MiB") == true && first.stopReason?.contains("raise the capacity") == true)
            #expect(first.downloaded > 5 && first.downloaded < 100, "\(first)")
            #expect(first.failed == 0 && first.requested == first.downloaded, "\(first)")
            #expect(first.requested + first.remaining == 150 && outcomes.count == first.requested, "\(first)")
            for outcome in outcomes { #expect(try library.cached(outcome.url) != nil) }
            #expect(try old.allSatisfy { try library.cached($0) == nil }, "older covers make room")
            #expect(try await library.evictedNewCovers() == 10, "those of the first run")

            // The next run finds them, downloads at most what still fits, and stops again.
            let second = try await library.prefetch(list).summary()
            #expect(second.stopReason != nil && second.fresh == first.downloaded, "\(second)")
            #expect(second.downloaded < first.downloaded)
            let statistics = try await library.statistics()
            #expect(statistics.chargedBytes <= 1 << 20 && statistics.chargedBytes > 1 << 19)
            #expect(try await library.verify().defects.isEmpty)
            // Covers of a finished run make room for another's.
            #expect(try await library.prefetch([stage.url(2_000)]).summary().downloaded == 1)
        }
    }

    @Test func `a run whose cache is full ends, and does not wait for the rest of its list`() async throws {
        try await withStage {
            $0.capacity = 1 << 20
        } _: { stage in
            let (list, feed) = AsyncStream.makeStream(of: CoverRequest.self)
            for number in 1...150 { feed.yield(CoverRequest(location: stage.url(number))) }
            let run = stage.library.prefetch(list)
            let summary = try await run.summary()
            #expect(summary.stopReason?.contains("1 MiB") == true && !summary.isCancelled, "\(summary)")
            #expect(summary.requested + summary.remaining == 150 && run.total == nil, "\(summary)")
            feed.finish()
        }
    }

    @Test func `a list that is not read to its end is released, even an endless one`() async throws {
        final class Witness: Sendable {
            let end: @Sendable () -> Void
            init(_ end: @escaping @Sendable () -> Void) { self.end = end }
            deinit { end() }
        }
        let isReleased = Mutex(false)
        do {
            let witness = Witness { isReleased.withLock { $0 = true } }
            let endless = AsyncStream {
                withExtendedLifetime(witness) { CoverRequest(location: "http://127.0.0.1/1.jpg") }
            }
            for await batch in RequestBatches(endless, failed: { _ in }, left: { _ in }) {
                #expect(!batch.isEmpty)
                break
            }
        }
        try await eventually { isReleased.withLock { $0 } }
    }

    @Test func `the transfers in flight to one host do not exceed the limit`() async throws {
        try await withStage {
            $0.perHost = 3
        } _: { stage in
            _ = try await stage.library.prefetch((1...20).map { stage.url($0, "delay=10") }).summary()
            let list = (21...40).map { stage.url($0, "fault=never") }
            let run = Task { try await stage.library.prefetch(list).summary() }
            try await eventually { stage.origin.requestCount == 23 }
            run.cancel()
            _ = try await run.value
            #expect(stage.origin.peakInFlight == 3)
        }
    }

    @Test
    func `a list's file is read: each URL is downloaded, what is none is skipped, and a missing file is an error`()
        async throws
    {
        try await withStage { stage in
            let list = URL(filePath: stage.folder + "/list.txt")
            try Data("\(stage.url(1))\nnonsense\n\(stage.url(2))\n".utf8).write(to: list)
            let (outcomes, summary) = try await stage.library.prefetch(list: list).collect()
            #expect(summary.downloaded == 2 && summary.skipped == 1 && outcomes.count == 3)
            #expect(Set(outcomes.map(\.line)) == [1, 2, 3])
            let missing = URL(filePath: stage.folder + "/none.txt")
            let error = await #expect(throws: LibraryError.self) {
                try await stage.library.prefetch(list: missing).summary()
            }
            #expect(error?.message.contains("none.txt") == true)
            let urls = Set([stage.url(1), stage.url(3)].compactMap { URL(string: $0) })
            let again = try await stage.library.prefetch(urls).summary()
            #expect(again.fresh == 1 && again.downloaded == 1)
        }
    }
}
