import CoverFetch
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

/// What a request may get from the cache.
@Suite(.timeLimit(.minutes(5))) struct CachePolicyTests {
    @Test func `revalidating a fresh cover asks its server once, and a 304 keeps it`() async throws {
        try await withStage { stage in
            let url = stage.url(1)
            let first = try await stage.library.cover(at: url)
            let second = try await stage.library.cover(at: url, cachePolicy: .revalidate)
            #expect(second.bytes == first.bytes && !second.isStale)
            #expect(stage.origin.requestCount == 2)
            #expect(try await stage.library.prefetch([url], cachePolicy: .revalidate).summary().revalidated == 1)
            // Also what is not cached yet arrives.
            let other = try await stage.library.cover(at: stage.url(2), cachePolicy: .revalidate)
            #expect(other.bytes == CoverImage.jpeg(number: 2))
        }
    }

    @Test func `reloading a fresh cover downloads it, without validators, and asks caches on the way to validate`()
        async throws
    {
        let image = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>"
        let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nCache-Control: max-age=999\r\nConnection: close\r\n"
        try await withListener(answer: head + "Content-Length: \(image.utf8.count)\r\n\r\n" + image) { listener in
            try await withStage { stage in
                let url = listener.url + "/1.svg"
                for policy in [CoverRequest.CachePolicy.useCache, .useCache, .reload, .revalidate] {
                    _ = try await stage.library.cover(at: url, cachePolicy: policy)
                }
                #expect(try await stage.library.prefetch([url], cachePolicy: .reload).summary().downloaded == 1)
                listener.stop()
                let heads = await listener.requests.reduce(into: []) { $0.append($1) }
                let lines = heads.map { $0.lowercased() }
                #expect(lines.map { $0.contains("if-none-match: \"1\"") } == [false, false, true, false])
                #expect(lines.map { $0.contains("cache-control: no-cache") } == [false, true, false, true])
            }
        }
    }

    @Test func `each request of a prefetch has its own cache policy`() async throws {
        try await withStage { stage in
            _ = try await stage.library.prefetch((1...3).map { stage.url($0) }).summary()
            let requests = [
                CoverRequest(location: stage.url(1)), CoverRequest(location: stage.url(2), cachePolicy: .revalidate),
                CoverRequest(location: stage.url(3), cachePolicy: .reload),
            ]
            let outcomes = try await stage.library.prefetch(requests).collect().outcomes
            let kinds = outcomes.sorted { ($0.line ?? 0) < ($1.line ?? 0) }.map(\.kind)
            #expect(kinds == [.fresh, .revalidated, .downloaded])
            #expect(stage.origin.requestCount == 5)
        }
    }

    @Test func `a cover that cannot be revalidated or reloaded fails and stays cached`() async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let url = stage.url(1)
            _ = try await stage.library.cover(at: url)
            let offline = try await stage.another { $0.isOffline = true }
            await stage.origin.stop()
            for policy in [CoverRequest.CachePolicy.revalidate, .reload] {
                let failure = await #expect(throws: CoverFailure.self) {
                    try await stage.library.cover(at: url, cachePolicy: policy)
                }
                #expect(failure?.kind == .connect)
                let refused = await #expect(throws: CoverFailure.self) {
                    try await offline.cover(at: url, cachePolicy: policy)
                }
                #expect(refused?.kind == .offline)
                let outcomes = try await offline.prefetch([url], cachePolicy: policy).collect().outcomes
                #expect(outcomes.map(\.failure?.kind) == [.offline])
            }
            #expect(try stage.library.cached(url) != nil)
            await offline.close()
        }
    }
}
