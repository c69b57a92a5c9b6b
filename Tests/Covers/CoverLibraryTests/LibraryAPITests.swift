import Foundation
import CoverCache
import CoverFetch
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct LibraryAPITests {
    @Test func `a cover is downloaded once, and then returned from the cache without its origin`() async throws {
        try await withStage { stage in
            let expected = CoverImage.jpeg(number: 5)
            let first = try await stage.library.cover(at: stage.url(5))
            #expect(first.bytes == expected)
            #expect(first.location == stage.url(5))
            #expect(first.mediaType == "image/jpeg")
            #expect((first.width ?? 0) > 0 && (first.height ?? 0) > 0)
            #expect(first.digest.count == 64)
            await stage.origin.stop()
            #expect(try await stage.library.cover(at: stage.url(5)) == first)
            #expect(try stage.library.cached(stage.url(5)) == first)
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test func `concurrent calls for one URL share a request, and all return the cover`() async throws {
        try await withStage { stage in
            let url = stage.url(3, "delay=100")
            let count = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 {
                    group.addTask { try await stage.library.cover(at: url).bytes == CoverImage.jpeg(number: 3) }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(count == 50)
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test(arguments: ["fault=html", "fault=json", "fault=empty"])
    func `a response that is no image is a failure and is not stored`(query: String) async throws {
        try await withStage { stage in
            let failure = await stage.library.failure(stage.url(1, query))
            #expect(failure?.kind == .notAnImage)
            #expect(failure?.url == stage.url(1, query))
            #expect(stage.origin.requestCount == 1, "not retried")
            let cached = try stage.library.cached(stage.url(1, query))
            #expect(cached == nil)
        }
    }

    @Test(
        arguments: [
            ("status=503&times=2&retry-after=0", nil, 3), ("fault=truncate&times=1", nil, 2),
            ("fault=truncate&times=1", 20_000, 2), ("fault=truncate&times=1", 600_000, 2),
            ("fault=reset&times=1", nil, 2),
        ] as [(String, Int?, Int)])
    func `a temporary failure is retried, and a body that broke off is transferred again whole`(
        query: String, size: Int?, requests: Int
    ) async throws {
        try await withStage { stage in
            let cover = try await stage.library.cover(at: stage.url(1, query + (size.map { "&size=\($0)" } ?? "")))
            let expected = size.map { CoverImage.jpeg(number: 1, aboutBytes: $0) } ?? CoverImage.jpeg(number: 1)
            #expect(cover.bytes == expected && stage.origin.requestCount == requests)
        }
    }

    @Test(arguments: [("status=503", 0, "503"), ("status=503&retry-after=3600", 3, "3600 s"), ("status=404", 3, "404")])
    func `a failure is final without retries, after a long Retry-After, and if it is not temporary`(
        query: String, retries: Int, detail: String
    ) async throws {
        try await withStage {
            $0.retries = retries
        } _: { stage in
            let failure = try #require(await stage.library.failure(stage.url(1, query)))
            #expect(failure.kind == .status && failure.status == (query.contains("404") ? 404 : 503))
            #expect(failure.detail.contains(detail) && failure.message.hasPrefix(stage.url(1)))
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test(arguments: ["", "ftp://a/1.jpg", "1.jpg", "http://user:secret@127.0.0.1/covers/1.jpg"])
    func `an unusable URL is a failure before a connection is made, and its credentials are not repeated`(
        url: String
    ) async throws {
        try await withStage { stage in
            let failure = try #require(await stage.library.failure(url))
            #expect(failure.kind == .badURL && !"\(failure)\(failure.url)".contains("secret"))
            #expect(throws: CoverFailure.self) { try stage.library.cached(url) }
            #expect(stage.origin.connectionCount == 0)
        }
    }

    @Test func `a failure does not repeat the credentials of a redirect's target`() async throws {
        try await withStage { stage in
            let target = "http://user:secret@127.0.0.1:\(stage.origin.port)/nothing"
            let failure = try #require(await stage.library.failure(stage.url(1, "to=\(target)")))
            #expect(!failure.detail.contains("secret"))
        }
    }

    @Test func `offline, the next library in a folder has its covers, and a miss is a failure without a connection`()
        async throws
    {
        try await withStage { stage in
            let cover = try await stage.library.cover(at: stage.url(1))
            await stage.library.close()
            let connections = stage.origin.connectionCount
            let offline = try await stage.another { $0.isOffline = true }
            #expect(try await offline.cover(at: stage.url(1)) == cover)
            #expect(await offline.failure(stage.url(2))?.kind == .offline)
            await offline.close()
            #expect(stage.origin.connectionCount == connections)
        }
    }

    @Test func `damaged bytes are never returned: a look-up misses, and the cover is downloaded again`() async throws {
        try await withStage { stage in
            let expected = CoverImage.jpeg(number: 1)
            for (offset, requests) in [(expected.count / 2, 2), (0, 3)] {
                _ = try await stage.library.cover(at: stage.url(1))
                try stage.flip(at: offset, of: expected)
                if offset == 0 { #expect(try stage.library.cached(stage.url(1)) == nil) }
                #expect(try await stage.library.cover(at: stage.url(1)).bytes == expected)
                #expect(stage.origin.requestCount == requests)
                #expect(try stage.library.cached(stage.url(1))?.bytes == expected)
            }
        }
    }

    @Test func `when an arrival is published, every library in the folder has the cover`() async throws {
        try await withStage { stage in
            let events = stage.library.events()
            let other = try await stage.another { $0.isOffline = true }
            async let summary = stage.library.prefetch((1...20).map { stage.url($0) }).summary()
            var arrived: Set<String> = []
            for await event in events {
                guard case .arrived(let arrival) = event else { continue }
                let cover = try #require(try other.cached(arrival.url))
                #expect(cover.digest == arrival.digest && cover.bytes.count == arrival.bytes)
                arrived.insert(arrival.url)
                if arrived.count == 20 { break }
            }
            #expect(try await summary.downloaded == 20)
            await other.close()
        }
    }

    @Test func `observers receive failures, and their streams end when the library closes`() async throws {
        try await withStage { stage in
            let events = stage.library.events()
            _ = await stage.library.failure(stage.url(1, "status=404"))
            await stage.library.close()
            var kinds: [CoverFailure.Kind] = []
            for await event in events { if case .failed(let failure) = event { kinds.append(failure.kind) } }
            #expect(kinds == [.status])
        }
    }

    @Test func `a cover that exceeds the maximum size or the cache is too large`() async throws {
        try await withStage {
            $0.capacity = 100_000
            $0.maximumSize = 300_000
        } _: { stage in
            let overMaximum = await stage.library.failure(stage.url(1, "size=400000"))
            #expect(overMaximum?.kind == .tooLarge)
            let failure = await stage.library.failure(stage.url(1, "size=200000"))
            #expect(failure?.kind == .tooLarge)
            #expect(failure?.detail.contains("raise the capacity") == true)
            let cover = try await stage.library.cover(at: stage.url(1, "size=50000"))
            #expect(cover.data.count > 49_000)
        }
    }

    @Test func `cancelling one of two calls for a cover does not affect the other`() async throws {
        try await withStage { stage in
            let url = stage.url(1, "hold=1")
            let first = Task { await stage.library.failure(url) }
            try await eventually { stage.origin.requestCount == 1 }
            async let second = stage.library.cover(at: url)
            first.cancel()
            #expect(await first.value?.kind == .cancelled)
            stage.origin.release()
            let bytes = try await second.bytes
            #expect(bytes == CoverImage.jpeg(number: 1))
        }
    }

    @Test func `cancelling the only call for a cover ends it at once, and the library works on`() async throws {
        try await withStage { stage in
            let task = Task { await stage.library.failure(stage.url(1, "fault=never")) }
            try await eventually { stage.origin.requestCount == 1 }
            task.cancel()
            let failure = await task.value
            #expect(failure?.kind == .cancelled)
            #expect(try await stage.library.cover(at: stage.url(2)).bytes == CoverImage.jpeg(number: 2))
        }
    }

    @Test func `the statistics count covers, bytes and uses`() async throws {
        try await withStage {
            $0.capacity = 50 << 20
        } _: { stage in
            let bytes = CoverImage.jpeg(number: 1).count
            _ = try await stage.library.cover(at: stage.url(1))
            _ = try await stage.library.cover(at: stage.url(2, "same=1"))
            _ = try await stage.library.cover(at: stage.url(1))
            let statistics = try await stage.library.statistics()
            #expect(statistics.entries == 2 && statistics.blobs == 1)
            #expect(statistics.liveBytes == bytes && statistics.deduplicatedBytes == bytes)
            #expect(statistics.capacity == 50 << 20)
            #expect(statistics.chargedBytes >= bytes && statistics.diskBytes >= bytes)
            #expect(statistics.hits >= 1 && statistics.misses >= 2)
            #expect(try await stage.library.evict(to: 0).covers == 1)
            #expect(try stage.library.cached(stage.url(1)) == nil)
        }
    }

    @Test func `a library whose cache directory is a file does not open, and the error says what to do`() async throws {
        try await withStage { stage in
            let path = stage.folder + "/cache/CACHEDIR.TAG"
            let error = await #expect(throws: LibraryError.self) {
                try await stage.another { $0.cacheDirectory = URL(filePath: path) }
            }
            #expect(error?.message.contains(path) == true)
            #expect(error?.message.contains("choose another directory") == true)
        }
    }

    @Test func `two libraries in one folder store each cover once, and both have all`() async throws {
        try await withStage { stage in
            let other = try await stage.another()
            let urls = (1...60).map { stage.url($0) }
            async let first = stage.library.prefetch(urls).summary()
            async let second = other.prefetch(urls.reversed()).summary()
            #expect(try await first.failed == 0)
            #expect(try await second.failed == 0)
            let statistics = try await other.statistics()
            #expect(statistics.entries == 60 && statistics.blobs == 60)
            for number in 1...60 {
                let cover = try stage.library.cached(stage.url(number))
                #expect(cover?.bytes == CoverImage.jpeg(number: number))
            }
            #expect(try await other.verify().defects.isEmpty)
            await other.close()
        }
    }
}
