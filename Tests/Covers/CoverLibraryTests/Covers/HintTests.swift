import CoverCache
import CoverFetch
import CurlHTTP
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverLibrary

/// Cached 404 responses and remembered redirects.
@Suite(.timeLimit(.minutes(10))) struct HintTests {
    // MARK: Absence

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
            let far = [
                HintChange.set(Hint(.redirect, stage.url(3), stage.url(4), until: now + 9 * 365 * day)),
                .set(Hint(.host, "http://a.example", "http2 1", until: now + 9 * 365 * day)),
            ]
            try await library.maintain { writer in
                writer.add(hints: absences + far, now: now)
                try writer.writeDeferred()
            }
            let urls = [url, stage.url(2), stage.url(3)]
            let hints = try await library.covers.hints(urls.map { try HTTPURL($0) })
            #expect(hints.allSatisfy { $0.absence == nil && $0.redirect == nil })
            #expect(library.covers.learntHosts().isEmpty)
            #expect(try await library.prefetch(urls).summary().downloaded == 3)
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

    // MARK: Relocation

    @Test(arguments: [301, 308])
    func `RFC 9110 §15.4.2, §15.4.9: a permanent redirect is remembered, and its target is requested`(status: Int)
        async throws
    {
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

    @Test(
        arguments: [302, 303, 307].map { "redirect-status=\($0)&to=/covers/2.jpg" } + [
            "redirect-status=301&to=/covers/2.jpg?redirect-status=302%26to=/covers/3.jpg"
        ])
    func `a temporary redirect is not remembered, nor a chain with one`(query: String) async throws {
        try await withStage { stage in
            let url = stage.url(1, query)
            _ = try await stage.library.cover(at: url)
            try await stage.library.evict(to: 0)
            _ = try await stage.library.cover(at: url)
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 2)
        }
    }

    @Test(arguments: ["gone", "away"])
    func `a remembered redirect whose target fails is forgotten, and the URL itself is requested`(how: String)
        async throws
    {
        try await withStage { stage in
            let target =
                how == "gone"
                ? stage.url(2, "status=404") : "http://127.0.0.1:\(try closedPort())/2.jpg"
            let url = stage.url(1)
            try await stage.store(.redirect, url, target)
            #expect(try await stage.library.cover(at: url).bytes == CoverImage.jpeg(number: 1))
            let now = WallClock.milliseconds()
            #expect(try stage.library.covers.reader.hints(.redirect, for: [url], now: now) == [nil])
        }
    }
}
