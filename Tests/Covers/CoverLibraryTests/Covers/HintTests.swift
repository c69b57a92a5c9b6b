import CoverCache
import CoverFetch
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverLibrary

/// Cached 404 responses.
@Suite(.timeLimit(.minutes(10))) struct HintTests {
    @Test func `a cached 404 answers a call, a prefetch and another process without a request`() async throws {
        try await withStage { stage in
            let gone = stage.url(1, "status=404")
            let first = await stage.library.failure(gone)
            #expect(first?.status == 404 && first?.rememberedUntil != nil && first?.isRemembered == false)
            let second = try #require(await stage.library.failure(gone))
            #expect(second.kind == .status && second.status == 404 && second.isRemembered)
            #expect(second.rememberedUntil == first?.rememberedUntil)
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

    @Test func `ignoring a cached 410 requests the URL again, and a stored cover removes the hint`() async throws {
        try await withStage { stage in
            let url = stage.url(1, "status=410&times=2")
            _ = await stage.library.failure(url)
            let again = try await stage.library.prefetch([url], cachePolicy: .ignoreAbsence).summary()
            #expect(again.failed == 1)
            let cover = try await stage.library.cover(at: url, cachePolicy: .ignoreAbsence)
            #expect(cover.bytes == CoverImage.jpeg(number: 1))
            #expect(stage.origin.requestCount == 3)
            // The hint does not come back with the eviction.
            try await stage.library.evict(to: 0)
            _ = try await stage.library.cover(at: url)
            #expect(stage.origin.requestCount == 4)
        }
    }

    @Test func `hints that were recorded with a clock ahead are not believed`() async throws {
        try await withStage { stage in
            let (library, url) = (stage.library, stage.url(1))
            let now = WallClock.milliseconds()
            let day: Int64 = 86_400_000
            // The second one is of a version that recorded no time.
            let absences = [
                Absence(status: 404, until: now + day, answeredAt: now + day / 2).change(of: url),
                .set(Hint(.absent, stage.url(2), "404", until: now + 9 * 365 * day)),
            ]
            let pauses = [
                HintChange.set(Hint(.closed, "http://a.example", "\(now + 1_000)", until: now + day)),
                .set(Hint(.closed, "http://b.example", "\(now)", until: now + 9 * 365 * day)),
                .set(Hint(.closed, "http://c.example", "\(now)", until: now + day)),
            ]
            try await library.maintain { writer in
                writer.add(hints: absences + pauses, now: now)
                try writer.writeDeferred()
            }
            let urls = [url, stage.url(2)]
            #expect(try await library.history(of: urls).allSatisfy { $0.absence == nil })
            #expect(Array(library.covers.earlierPauses().keys) == ["http://c.example"])
            #expect(try await library.prefetch(urls).summary().downloaded == 2)
        }
    }

    @Test func `a no-store 404 and other statuses are not cached`() async throws {
        let answer = "HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n"
        try await withListener(answer: answer) { listener in
            try await withStage { stage in
                let forbidden = stage.url(1, "status=403")
                for (url, status) in [(listener.url, 404), (listener.url, 404), (forbidden, 403), (forbidden, 403)] {
                    let failure = try #require(await stage.library.failure(url))
                    #expect(failure.status == status && failure.rememberedUntil == nil, "\(failure)")
                }
                #expect(stage.origin.requestCount == 2)
            }
        }
    }

    @Test func `a thousand 404s are cached without an entry`() async throws {
        try await withStage { stage in
            let urls = (0..<1_000).map { stage.url($0, "status=404") }
            #expect(try await stage.library.prefetch(urls).summary().failed == 1_000)
            #expect(try await stage.library.prefetch(urls).summary().failed == 1_000)
            #expect(stage.origin.requestCount == 1_000)
            let entries = try await stage.library.statistics().entries
            #expect(entries == 0)
        }
    }

    @Test func `offline, an absent cover fails as offline`() async throws {
        try await withStage { stage in
            _ = await stage.library.failure(stage.url(1, "status=404"))
            let other = try await stage.another { $0.isOffline = true }
            #expect(await other.failure(stage.url(1, "status=404"))?.kind == .offline)
            await other.close()
        }
    }
}
