import CoverCache
import Foundation
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct RefreshTests {
    private static let stale = "cache-control=max-age%3D0"

    @Test("RFC 9111 §4.3: what is stale is asked for with its validators, and a 304 keeps the bytes and costs no space")
    func revalidation() async throws {
        try await withStage { stage in
            let urls = (1...5).map { stage.url($0, Self.stale) }
            #expect(try await stage.library.prefetch(urls).downloaded == 5)
            let before = try #require(try FileManager.default.attributesOfItem(atPath: stage.segment)[.size] as? Int)
            let old = try stage.entries()

            let outcomes = Mutex<[CoverOutcome]>([])
            let progress = PrefetchProgress { outcome in outcomes.withLock { $0.append(outcome) } }
            let summary = try await stage.library.refresh(progress: progress)
            #expect(summary.revalidated == 5 && summary.requested == 5 && summary.bytes == 0, "\(summary)")
            #expect(summary.downloaded == 0 && summary.failed == 0 && summary.remaining == 0)
            #expect(outcomes.withLock { $0.allSatisfy { $0.kind == .revalidated && $0.digest?.count == 64 } })
            let now = try stage.entries()
            #expect(now.map(\.digest) == old.map(\.digest))
            #expect(zip(old, now).allSatisfy { $0.validatedAt < $1.validatedAt })
            #expect(now.allSatisfy { $0.metadata.fields.contains("etag: ") })
            #expect(try FileManager.default.attributesOfItem(atPath: stage.segment)[.size] as? Int == before)
            #expect(try stage.library.cachedCover(for: urls[0])?.bytes == CoverImage.jpeg(number: 1))
        }
    }

    @Test("what is fresh is not asked about, unless everything is")
    func fresh() async throws {
        try await withStage { stage in
            _ = try await stage.library.prefetch([
                stage.url(1, "cache-control=max-age%3D1000"), stage.url(2, Self.stale),
                stage.url(3, "cache-control=max-age%3D1000%2Cimmutable"),
            ])
            let stale = try await stage.library.refresh()
            #expect(stale.requested == 1)
            var request = RefreshRequest()
            request.scope = .all
            let all = try await stage.library.refresh(request)
            #expect(all.revalidated == 2, "immutable ones are left alone")
            request.pattern = "*/2.jpg*"
            let one = try await stage.library.refresh(request)
            #expect(one.requested == 1)
        }
    }

    @Test("§4.3.3: a cover that has changed comes again, and takes the old one's place")
    func changed() async throws {
        try await withStage { stage in
            let url = stage.url(7, Self.stale)
            try await stage.store(url, CoverImage.jpeg(number: 8), fields: "etag: \"old\"\n")
            let summary = try await stage.library.refresh()
            #expect(summary.downloaded == 1 && summary.revalidated == 0)
            #expect(try stage.library.cachedCover(for: url)?.bytes == CoverImage.jpeg(number: 7))
            #expect(try await stage.library.statistics().blobs == 1)
        }
    }

    @Test("a 200 with the same bytes keeps the blob and renews what is known of it")
    func same() async throws {
        try await withStage { stage in
            let url = stage.url(7, "cache-control=max-age%3D1000")
            try await stage.store(url, CoverImage.jpeg(number: 7), fields: "etag: \"old\"\n")
            let summary = try await stage.library.refresh()
            #expect(summary.downloaded == 1 && summary.deduplicated == 1)
            let entry = try #require(try stage.entries().first)
            #expect((entry.metadata.freshUntil ?? 0) > entry.validatedAt)
            #expect(try await stage.library.statistics().blobs == 1)
        }
    }

    @Test("a cover that cannot be had stays as it is, and comes after others next time")
    func failing() async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let gone = stage.url(1, "status=404&" + Self.stale), good = stage.url(2, Self.stale)
            try await stage.store(good, CoverImage.jpeg(number: 2), fields: "etag: \"b\"\n")
            // Used last, so it is asked for first.
            try await stage.store(gone, CoverImage.jpeg(number: 1), fields: "etag: \"a\"\n")
            let first = try await stage.library.refresh(.most(1))
            #expect(first.failed == 1 && first.remaining == 1, "\(first)")
            #expect(try stage.library.cachedCover(for: gone)?.bytes == CoverImage.jpeg(number: 1))
            let entry = try #require(try stage.entries().first { $0.metadata.key.contains("status") })
            #expect(entry.validatedAt == 1_000, "nobody has spoken for it")
            #expect(entry.metadata.fields.contains("tried at: ") && entry.metadata.fields.contains("etag: \"a\""))
            let second = try await stage.library.refresh(.most(1))
            #expect(second.downloaded == 1 && second.remaining == 1)
        }
    }

    @Test("a budget is kept, and the next run goes on from there")
    func budget() async throws {
        try await withStage { stage in
            let urls = (1...10).map { stage.url($0, "cache-control=max-age%3D1000") }
            for url in urls { try await stage.store(url, CoverImage.jpeg(number: 30), fields: "etag: \"old\"\n") }
            let requests = stage.origin.requestCount
            #expect(try await stage.library.refresh(.most(4)).remaining == 6)
            #expect(stage.origin.requestCount - requests == 4)
            #expect(try await stage.library.refresh(.most(4)).remaining == 2)
            #expect(try await stage.library.refresh(.most(4)).requested == 2)
            #expect(try await stage.library.refresh(.most(4)).requested == 0)
        }
    }

    @Test("no time and no bytes to spend: what was not begun is left")
    func spent() async throws {
        try await withStage {
            $0.perHost = 1
        } _: { stage in
            // The second and all that wait behind it are never answered.
            let urls = (1...10).map { stage.url($0, $0 == 1 ? "" : "hold=1") }
            for url in urls { try await stage.store(url, CoverImage.jpeg(number: 30), fields: "etag: \"old\"\n") }
            var request = RefreshRequest()
            request.maximumBytes = 1
            let first = try await stage.library.refresh(request)
            #expect(first.downloaded == 1 && first.requested == 1 && first.failed == 0, "\(first)")
            #expect(first.remaining == 9)

            request.maximumBytes = nil
            request.maximumTime = .milliseconds(50)
            let second = try await stage.library.refresh(request)
            #expect(second.remaining == 9 && second.requested == 0 && !second.isCancelled, "\(second)")
        }
    }

    @Test("cancelled, it ends at once and says so; what had been answered is kept")
    func cancelling() async throws {
        try await withStage { stage in
            try await stage.store(stage.url(1, "hold=1"), CoverImage.jpeg(number: 1), fields: "etag: \"old\"\n")
            let requests = stage.origin.requestCount
            let run = Task { try await stage.library.refresh() }
            while stage.origin.requestCount == requests { await Task.yield() }
            run.cancel()
            let summary = try await run.value
            #expect(summary.isCancelled && summary.requested == 0 && summary.failed == 0 && summary.remaining == 1)
        }
    }

    @Test("§4.3.4: a 304 about another response is not believed; the cover is asked for whole")
    func otherTag() async throws {
        try await withStage { stage in
            try await withListener(answer: "HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\nConnection: close\r\n\r\n")
            {
                listener in
                let url = listener.url + "/1.jpg"
                try await stage.store(url, CoverImage.jpeg(number: 1), fields: "etag: \"mine\"\n")
                let summary = try await stage.library.refresh()
                #expect(summary.failed == 1)
                var heads: [String] = []
                for await head in listener.requests {
                    heads.append(head)
                    if heads.count == 2 { break }
                }
                #expect(heads[0].contains("If-None-Match: \"mine\"") && !heads[1].contains("If-None-Match"))
                #expect(try stage.library.cachedCover(for: url) != nil)
            }
        }
    }

    @Test("§5.2.2.5: what must not be kept is shown, and not kept")
    func noStore() async throws {
        try await withStage { stage in
            let url = stage.url(1, "cache-control=no-store")
            let summary = try await stage.library.prefetch([url])
            #expect(summary.failed == 1 && summary.downloaded == 0)
            let cover = try await stage.library.cover(for: url)
            #expect(cover.bytes == CoverImage.jpeg(number: 1) && cover.mediaType == "image/jpeg")
            #expect(try stage.library.cachedCover(for: url) == nil)
            #expect(try await stage.library.statistics().entries == 0)
        }
    }

    @Test("what a host's robots.txt forbids is not asked about, and nothing waits for it")
    func forbidden() async throws {
        let rules = "User-agent: *\nDisallow: /\n"
        let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(rules.utf8.count)\r\n\r\n\(rules)"
        try await withStage {
            $0.respectsRobots = true
        } _: { stage in
            try await withListener(answer: answer) { listener in
                for number in 0..<20 {
                    let url = listener.url + "/\(number).jpg"
                    try await stage.store(url, CoverImage.jpeg(number: 1), fields: "etag: \"a\"\n")
                }
                let summary = try await stage.library.refresh()
                #expect(summary.failed == 20 && summary.requested == 20, "\(summary)")
            }
        }
    }

    @Test("offline, there is nobody to ask")
    func offline() async throws {
        try await withStage {
            $0.isOffline = true
        } _: { stage in
            await #expect(throws: LibraryError.self) { try await stage.library.refresh() }
        }
    }
}

extension RefreshRequest {
    fileprivate static func most(_ requests: Int) -> RefreshRequest {
        var request = RefreshRequest()
        request.maximumRequests = requests
        return request
    }
}
