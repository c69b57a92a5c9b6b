import CoverCache
import CoverFetch
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverLibrary

/// What is remembered between requests: that there is no cover, and that one has moved.
@Suite(.timeLimit(.minutes(10))) struct HintTests {
    // MARK: Absence

    @Test("a 404 is told again without a request, by a cover's call, a prefetch, and another program")
    func absence() async throws {
        try await withStage { stage in
            let gone = stage.url(1, "status=404")
            let first = await stage.library.failure(gone)
            #expect(first?.status == 404 && first?.rememberedUntil == nil)
            let second = try #require(await stage.library.failure(gone))
            #expect(second.kind == .status && second.status == 404 && second.rememberedUntil != nil)
            #expect(second.detail.contains("404") && second.detail.contains("remembered until 20"))
            let (outcomes, summary) = try await stage.library.prefetch([gone, gone, stage.url(2)]).collect()
            #expect(summary.failed == 2 && summary.downloaded == 1)
            #expect(outcomes.filter { $0.url == gone }.allSatisfy { $0.failure?.rememberedUntil != nil })
            let other = try await stage.another()
            #expect(await other.failure(gone)?.rememberedUntil != nil)
            await other.close()
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 1)
        }
    }

    @Test("who wants to, asks again, and a cover that comes then is there for everybody")
    func retryingAbsent() async throws {
        try await withStage { stage in
            let url = stage.url(1, "status=410&times=2")
            _ = await stage.library.failure(url)
            let asked = try await stage.library.prefetch([url], cachePolicy: .ignoreAbsence).summary()
            #expect(asked.failed == 1)
            let cover = try await stage.library.cover(at: url, cachePolicy: .ignoreAbsence)
            #expect(cover.bytes == CoverImage.jpeg(number: 1))
            #expect(stage.origin.requestCount == 3)
            // Evicted, it is no longer absent either.
            try await stage.library.evict(to: 0)
            _ = try await stage.library.cover(at: url)
            #expect(stage.origin.requestCount == 4)
        }
    }

    @Test("a 404 that must not be kept is asked for again, and so are failures that say nothing of what is there")
    func notRemembered() async throws {
        let answer = "HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n"
        try await withListener(answer: answer) { listener in
            try await withStage { stage in
                for url in [listener.url, listener.url, stage.url(1, "status=403"), stage.url(1, "status=403")] {
                    let failure = try #require(await stage.library.failure(url))
                    #expect(failure.rememberedUntil == nil)
                }
                #expect(stage.origin.requestCount == 2)
            }
        }
    }

    @Test("a thousand covers that are not there are remembered without a sync, and nothing is appended")
    func manyAbsent() async throws {
        try await withStage { stage in
            let urls = (0..<1_000).map { stage.url($0, "status=404") }
            #expect(try await stage.library.prefetch(urls).summary().failed == 1_000)
            #expect(try await stage.library.prefetch(urls).summary().failed == 1_000)
            #expect(stage.origin.requestCount == 1_000)
            let entries = try await stage.library.statistics().entries
            #expect(entries == 0)
        }
    }

    @Test("offline, what is not in the cache is offline, absent or not")
    func offline() async throws {
        try await withStage { stage in
            _ = await stage.library.failure(stage.url(1, "status=404"))
            let other = try await stage.another { $0.isOffline = true }
            #expect(await other.failure(stage.url(1, "status=404"))?.kind == .offline)
            await other.close()
        }
    }

    // MARK: Relocation

    @Test("RFC 9110 §15.4.2, §15.4.9: a cover that has moved for good is asked for where it is", arguments: [301, 308])
    func moved(status: Int) async throws {
        try await withStage { stage in
            let url = stage.url(1, "redirect-status=\(status)&to=/covers/2.jpg?cache-control=max-age%3D0")
            #expect(try await stage.library.cover(at: url).location == url, "its key stays")
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 1)
            #expect(try await stage.library.refresh().summary().revalidated == 1)
            try await stage.library.evict(to: 0)
            #expect(try await stage.library.cover(at: url).bytes == CoverImage.jpeg(number: 2))
            try await stage.library.evict(to: 0)
            #expect(try await stage.library.prefetch([url]).summary().downloaded == 1)
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 1)
            #expect(stage.origin.requestCount(path: "/covers/2.jpg") == 4)
        }
    }

    @Test("one that has moved for a while is asked for where it was", arguments: [302, 303, 307])
    func movedForNow(status: Int) async throws {
        try await withStage { stage in
            let url = stage.url(1, "redirect-status=\(status)&to=/covers/2.jpg")
            _ = try await stage.library.cover(at: url)
            try await stage.library.evict(to: 0)
            _ = try await stage.library.cover(at: url)
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 2)
        }
    }

    @Test("one temporary redirect on the way, and nothing is remembered")
    func mixed() async throws {
        try await withStage { stage in
            let second = "/covers/2.jpg?redirect-status=302%26to=/covers/3.jpg"
            let url = stage.url(1, "redirect-status=301&to=\(second)")
            _ = try await stage.library.cover(at: url)
            try await stage.library.evict(to: 0)
            _ = try await stage.library.cover(at: url)
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 2)
        }
    }

    @Test("a place that fails is forgotten, and the URL itself is asked", arguments: ["gone", "away"])
    func placeFails(how: String) async throws {
        try await withStage { stage in
            let place =
                how == "gone"
                ? stage.url(2, "status=404") : "http://127.0.0.1:\(try await closedPort())/2.jpg"
            let url = stage.url(1)
            try await stage.store(.moved, url, place)
            #expect(try await stage.library.cover(at: url).bytes == CoverImage.jpeg(number: 1))
            let now = WallClock.milliseconds()
            #expect(try stage.library.covers.reader.hints(.moved, for: [url], now: now) == [nil])
        }
    }
}
