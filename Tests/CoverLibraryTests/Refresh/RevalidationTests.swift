import CoverCache
import Foundation
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary
@testable import HTTPCaching

/// Many entries at a time: `RevalidationLane`, against one by one.
@Suite(.timeLimit(.minutes(10))) struct RevalidationTests {
    /// What servers may say, by the query that has the origin say so. The conditions hold where it says `match`.
    private static let cases = [
        "match", "match&cache-control=max-age%3D60", "match&field=Vary:Accept", "match&field=Age:5", "match&field=X:y",
        "match&field=RateLimit:r%3D5", "match&field=Retry-After:0", "match&field=Connection:close", "", "chunked=1",
        "same=7", "status=404", "status=410", "status=500&times=1", "status=503&times=1&retry-after=0", "redirect=1",
        "redirect=1&redirect-status=301", "fault=reset&times=1", "fault=close&times=1", "fault=truncate&times=1",
        "fault=html", "fault=empty", "cache-control=no-store", "type=text/html",
    ]

    private struct Told: Equatable {
        var kind: CoverOutcome.Kind
        var digest: String?
        var failure: CoverFailure.Kind?
        var fields: [String] = []
        var isFresh = false
    }

    /// What became of each case, by its query.
    private func refreshed(byOne: Bool) async throws -> (told: [String: Told], summary: PrefetchSummary) {
        var result: (told: [String: Told], summary: PrefetchSummary)?
        try await withStage {
            // A rate is what only jobs can keep.
            if byOne { $0.rate = 10_000 }
            $0.retries = 2
        } _: { stage in
            let plain = (0..<4).map { stage.url($0) }
            _ = try await stage.library.prefetch(plain)
            let tags = try stage.entries().sorted { $0.metadata.key < $1.metadata.key }.map { $0.metadata.fields }
            // All of them among others, again and again, so that they stand in every place of a pipeline.
            var urls: [String] = []
            for round in 0..<12 {
                for (index, query) in (Self.cases + Self.cases.reversed()).enumerated() {
                    let number = (round + index) % 4
                    let url = stage.url(number, "\(query)&n=\(round)-\(index)")
                    urls.append(url)
                    let fields = query.hasPrefix("match") ? tags[number] : "etag: \"old\"\n"
                    try await stage.store(url, CoverImage.jpeg(number: number), fields: fields)
                }
            }
            let outcomes = Mutex<[String: Told]>([:])
            let progress = PrefetchProgress { outcome in
                let told = Told(kind: outcome.kind, digest: outcome.digest, failure: outcome.failure?.kind)
                outcomes.withLock { $0[String(outcome.url.dropFirst(stage.origin.url.count))] = told }
            }
            var request = RefreshRequest()
            request.scope = .all
            request.pattern = "*n=*"
            let summary = try await stage.library.refresh(request, progress: progress)
            var told = outcomes.withLock { $0 }
            for entry in try stage.entries() {
                let query = String(entry.metadata.key.dropFirst(stage.origin.url.count))
                // The hour is another in each run.
                told[query]?.fields = entry.metadata.fields.split(separator: "\n").map(String.init)
                    .filter { !$0.hasPrefix("date: ") && !$0.hasPrefix("tried at: ") }.sorted()
                told[query]?.isFresh = entry.metadata.freshUntil.map { $0 > entry.validatedAt } ?? false
            }
            result = (told, summary)
        }
        return try #require(result)
    }

    @Test("it comes to what asking one by one comes to, whatever servers say")
    func equality() async throws {
        let many = try await refreshed(byOne: false), one = try await refreshed(byOne: true)
        #expect(many.told.count == one.told.count && one.told.count == 12 * 2 * Self.cases.count)
        for (query, told) in one.told { #expect(many.told[query] == told, "\(query)") }
        var summaries = [many.summary, one.summary]
        for index in summaries.indices { summaries[index].seconds = 0 }
        #expect(summaries[0] == summaries[1])
        #expect(
            one.summary.revalidated >= 12 * 2 * 7 && one.summary.downloaded > 0 && one.summary.failed > 0,
            "\(one.summary)")
    }

    @Test("of thousands that stand, many go over few connections, and each has its outcome once")
    func many() async throws {
        try await withStage {
            $0.perHost = 64
        } _: { stage in
            let urls = (0..<5_000).map { stage.url(1, "n=\($0)") }
            let first = try await stage.library.prefetch(urls)
            #expect(first.downloaded == 5_000)
            let before = (stage.origin.connectionCount, stage.origin.requestCount)
            let outcomes = Mutex<[String: Int]>([:])
            let progress = PrefetchProgress { outcome in outcomes.withLock { $0[outcome.url, default: 0] += 1 } }
            var request = RefreshRequest()
            request.scope = .all
            let summary = try await stage.library.refresh(request, progress: progress)
            #expect(summary.revalidated == 5_000 && summary.requested == 5_000, "\(summary)")
            #expect(outcomes.withLock { $0.count == 5_000 && $0.values.allSatisfy { $0 == 1 } })
            // One more for a connection that is lost meanwhile, as happens where a machine has much else to do.
            #expect((5_000...5_064).contains(stage.origin.requestCount - before.1))
            #expect(stage.origin.connectionCount - before.0 <= 65)
        }
    }

    @Test("stopped in the middle, what was not answered is left, and the next run asks for it")
    func stopped() async throws {
        try await withStage { stage in
            let held = (0..<200).map { stage.url(1, "hold=1&n=\($0)") },
                plain = (0..<200).map { stage.url(1, "n=\($0)") }
            for url in plain + held { try await stage.store(url, CoverImage.jpeg(number: 1), fields: "etag: \"x\"\n") }
            var request = RefreshRequest()
            request.scope = .all
            let before = stage.origin.requestCount
            let run = Task { [request] in try await stage.library.refresh(request) }
            while stage.origin.requestCount - before < 201 { await Task.yield() }
            run.cancel()
            let summary = try await run.value
            #expect(summary.isCancelled && summary.failed == 0, "\(summary)")
            #expect(summary.remaining + summary.requested == 400 && summary.remaining >= 200, "\(summary)")
            stage.origin.release()
            request.pattern = "*hold*"
            let next = try await stage.library.refresh(request)
            #expect(next.downloaded + next.revalidated == 200, "\(next)")
        }
    }

    @Test("a server that goes away in the middle fails what it has not answered, and nothing waits for ever")
    func goneAway() async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            try await withListener(answer: "HTTP/1.1 304 Same\r\nETag: \"a\"\r\n\r\n") { listener in
                for number in 0..<300 {
                    let url = listener.url + "/\(number).jpg"
                    try await stage.store(url, CoverImage.jpeg(number: 1), fields: "etag: \"a\"\n")
                }
                let asked = Task {
                    var count = 0
                    for await _ in listener.requests {
                        count += 1
                        if count == 20 { listener.stop() }
                    }
                }
                let summary = try await stage.library.refresh()
                #expect(summary.requested == 300 && summary.revalidated + summary.failed == 300, "\(summary)")
                #expect(summary.revalidated >= 10 && summary.failed > 0)
                await asked.value
            }
        }
    }
}
