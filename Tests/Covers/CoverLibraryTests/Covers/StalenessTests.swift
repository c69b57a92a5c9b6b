import CoverCache
import CoverFetch
import OriginServer
import Platform
import Testing

@testable import CoverLibrary

/// Stale covers, with and without a network (RFC 9111 §4.2.4).
@Suite(.timeLimit(.minutes(10))) struct StalenessTests {
    private static let stale = "cache-control=max-age%3D0"

    @Test func `a stale cover is returned without a request and marked; new and fresh ones are not marked`()
        async throws
    {
        try await withStage { stage in
            let url = stage.url(1, Self.stale)
            let first = try await stage.library.cover(at: url)
            let second = try await stage.library.cover(at: url)
            #expect(!first.isStale && second.isStale && second.bytes == first.bytes)
            let peeked = try #require(try stage.library.cached(url))
            #expect(peeked.isStale)
            _ = try await stage.library.cover(at: stage.url(2))
            let fresh = try await stage.library.cover(at: stage.url(2))
            #expect(!fresh.isStale)
            #expect(stage.origin.requestCount == 2)
            await stage.origin.stop()
            let offline = try await stage.another { $0.isOffline = true }
            let served = try await offline.cover(at: url)
            #expect(served.isStale && served.bytes == first.bytes)
            await offline.close()
        }
    }

    @Test(arguments: ["cache-control: max-age=60\n", "cache-control: max-age=60, must-revalidate\n"])
    func `a cover that was stored with a clock ahead is stale now, and must be asked about if its server says so`(
        fields: String
    ) async throws {
        try await withStage { stage in
            let (library, url) = (stage.library, stage.url(1))
            let ahead = WallClock.milliseconds() + 9 * 365 * 86_400_000
            try await library.maintain { writer in
                let metadata = EntryMetadata(
                    key: url, mediaType: "image/jpeg", storedAt: ahead, freshUntil: ahead + 60_000, fields: fields)
                _ = try writer.store([ImportedCover(metadata, CoverImage.jpeg(number: 1))])
            }
            let status = try #require(try await library.statuses(of: [CoverRequest(location: url)])[0])
            #expect(status.isStale)
            var isListedStale = false
            for try await cover in library.listings() { isListedStale = cover.isStale() }
            #expect(isListedStale)
            let cover = try await library.cover(at: url)
            let mustAsk = fields.contains("must-revalidate")
            #expect(cover.isStale == !mustAsk && stage.origin.requestCount == (mustAsk ? 1 : 0))
            let refresh = try await library.refresh().summary()
            #expect(refresh.requested == (mustAsk ? 0 : 1))
            let validated = try #require(try stage.entries().first?.validatedAt)
            #expect(validated < ahead)
        }
    }

    @Test(arguments: ["cache-control=max-age%3D0,must-revalidate", "cache-control=no-cache"])
    func `§5.2.2.2, §5.2.2.4: a cover that must not be used stale is revalidated first, or not returned`(
        query: String
    ) async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let url = stage.url(1, query)
            let first = try await stage.library.cover(at: url)
            let second = try await stage.library.cover(at: url)
            #expect(!second.isStale && second.bytes == first.bytes && stage.origin.requestCount == 2)
            let statistics = try await stage.library.statistics()
            #expect(statistics.entries == 1 && statistics.blobs == 1, "a 304 suffices")
            await stage.origin.stop()
            let gone = try #require(await stage.library.failure(url))
            #expect([.connect, .broken].contains(gone.kind) && gone.detail.contains("must-revalidate"))
            let offline = try await stage.another { $0.isOffline = true }
            let refused = try #require(await offline.failure(url))
            #expect(refused.kind == .offline && refused.detail.contains("must-revalidate"))
            // It stays cached until its server can be reached again.
            #expect(try offline.cached(url)?.bytes == first.bytes)
            await offline.close()
        }
    }

    @Test func `RFC 5861 §4: a stale cover is revalidated beyond its stale-if-error, not within`() async throws {
        try await withStage { stage in
            let within = stage.url(1, "cache-control=max-age%3D0,stale-if-error%3D3600")
            let beyond = stage.url(2, "cache-control=max-age%3D0,stale-if-error%3D0")
            for url in [within, beyond, within, beyond] { _ = try await stage.library.cover(at: url) }
            #expect(stage.origin.requestCount(path: "/covers/1.jpg") == 1)
            #expect(stage.origin.requestCount(path: "/covers/2.jpg") == 2)
        }
    }
}
