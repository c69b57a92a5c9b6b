import CoverFetch
import Foundation
import OriginServer
import Testing

@testable import CoverLibrary

/// Covers that the caller gives as bytes.
@Suite(.timeLimit(.minutes(10))) struct StoringTests {
    private let given = "https://covers.invalid/1.jpg"

    @Test func `stored bytes are the cover of their URL, without a request, pinned and announced`() async throws {
        try await withStage { stage in
            let (library, url, body) = (stage.library, stage.url(1), CoverImage.jpeg(number: 7))
            var events = library.events().makeAsyncIterator()
            let stored = try await library.store(Data(body), for: #require(URL(string: url)), pinned: true)
            guard case .arrived(let arrived) = await events.next() else {
                Issue.record("no cover arrived")
                return
            }
            #expect(arrived.url == url && arrived.digest == stored.digest && arrived.bytes == body.count)
            let cover = try await library.cover(at: url)
            #expect(cover == stored && cover.bytes == body && !cover.isStale)
            #expect(try await library.evict(to: 0).covers == 0)
            #expect(try await library.refresh().summary().requested == 0)
            #expect(stage.origin.requestCount == 0)
            // Another library finds only what is on the disk.
            let next = try await stage.another { $0.isOffline = true }
            #expect(try next.cached(url) == stored)
            await next.close()
        }
    }

    @Test func `bytes replace the cover that was downloaded`() async throws {
        try await withStage { stage in
            let url = stage.url(1)
            let former = try await stage.library.cover(at: url)
            _ = try await stage.library.store(Data(CoverImage.jpeg(number: 2)), for: former.url)
            #expect(try await stage.library.cover(at: url).bytes == CoverImage.jpeg(number: 2))
            #expect(try await stage.library.statistics().entries == 1)
        }
    }

    @Test func `what is no image, too large, or for no http URL is refused and not stored`() async throws {
        try await withStage {
            $0.maximumSize = 40_000
        } _: { stage in
            func kind(_ body: Data, _ url: String = "https://covers.invalid/1.jpg") async throws -> CoverFailure.Kind? {
                let url = try #require(URL(string: url))
                do throws(CoverFailure) {
                    _ = try await stage.library.store(body, for: url)
                    return nil
                } catch {
                    return error.kind
                }
            }
            let image = CoverImage.jpeg(number: 1)
            let padding = [UInt8](repeating: 0, count: 40_001 - image.count)
            let kinds = [
                try await kind(Data("<html></html>".utf8)), try await kind(Data()),
                try await kind(Data(image + padding)), try await kind(Data(image + padding.dropLast())),
                try await kind(Data(image), "ftp://a.example/1.jpg"),
            ]
            #expect(kinds == [.notAnImage, .notAnImage, .tooLarge, nil, .badURL])
            let entries = try await stage.library.statistics().entries
            #expect(entries == 1)
            await stage.library.close()
            let afterClose = try await kind(Data(image))
            #expect(afterClose == .closed)
        }
    }

    @Test(arguments: ["https://covers.invalid/1.jpg", "http://INVALID/1.jpg", "http://a.b.Invalid.:8080/1.jpg"])
    func `a cover under an invalid host is never requested`(url: String) async throws {
        try await withStage { stage in
            let library = stage.library
            let missing = try #require(await library.failure(url))
            #expect(missing.kind == .notCached && missing.detail.contains("choose its file again"))
            #expect(try await library.prefetch([url, url]).summary().failed == 2)
            _ = try await library.store(Data(CoverImage.jpeg(number: 1)), for: #require(URL(string: url)))
            // Long after it was stored, and with an order to ask first.
            try await stage.store(
                library.covers.keys(of: CoverRequest(location: url))[0], CoverImage.jpeg(number: 2),
                fields: "cache-control: no-cache\n")
            let cover = try await library.cover(at: url)
            #expect(!cover.isStale && cover.bytes == CoverImage.jpeg(number: 2))
            for scope in [RefreshRequest.Scope.stale, .olderThan(.zero), .all] {
                var request = RefreshRequest()
                request.scope = scope
                #expect(try await library.refresh(request).summary().requested == 0)
            }
        }
    }

    @Test func `a cover is placed beside music once, and never over a picture that is there`() async throws {
        try await withStage { stage in
            let folder = URL(filePath: stage.folder + "/music")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let cover = try await stage.library.cover(at: stage.url(1))
            let placed = try await stage.library.place(cover, in: folder)
            #expect(placed.isNew && placed.file.lastPathComponent == "cover.jpg")
            #expect(try Data(contentsOf: placed.file) == cover.data)
            try Data("a person's".utf8).write(to: folder.appending(path: "Folder.PNG"))
            for name in ["cover", "folder"] {
                let kept = try await stage.library.place(
                    try await stage.library.cover(at: stage.url(2)), in: folder, as: name)
                #expect(!kept.isNew)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
            #expect(names.sorted() == ["Folder.PNG", "cover.jpg"], "\(names)")
            #expect(try Data(contentsOf: placed.file) == cover.data)
            for name in ["", "a/b", "/", "a\0b"] {
                await #expect(throws: LibraryError.self) { try await stage.library.place(cover, in: folder, as: name) }
            }
            await #expect(throws: LibraryError.self) {
                try await stage.library.place(cover, in: folder.appending(path: "none"))
            }
        }
    }

    @Test func `whatever takes a URL takes an album, by the first of its URLs that is cached`() async throws {
        try await withStage { stage in
            let (library, url) = (stage.library, try #require(URL(string: stage.url(2))))
            var album = Album(title: "A", coverURL: stage.url(1))
            album.alternateCoverURLs = [url.absoluteString]
            #expect(try await library.cachedCover(for: album) == nil)
            let cover = try await library.cover(for: url)
            #expect(try await library.cachedCover(for: album) == cover)
            let file = try await library.cachedFile(for: album)
            #expect(file?.digest == cover.digest)
            let side = LibraryAPI.keptSizes[0]
            for small in [
                try await library.cover(for: album, longestSide: side),
                try await library.cachedCover(for: CoverRequest(album: album), longestSide: side),
            ] {
                #expect(small?.url == cover.url && max(small?.width ?? 0, small?.height ?? 0) == side)
            }
            #expect(try await library.statuses(of: [album]).first??.digest == cover.digest)
            #expect(try library.keys(of: album) == [stage.url(1), stage.url(2)])
            #expect(try await library.prefetch([album]).summary().fresh == 1)
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test func `whatever takes a URL takes a digest, which is served from the cache, and no server is asked for it`()
        async throws
    {
        try await withStage { stage in
            // The second URL has the same bytes.
            let (library, urls) = (stage.library, [stage.url(1), stage.url(2, "same=1")])
            let cover = try await library.cover(at: urls[0])
            #expect(try await library.cover(at: urls[1]).digest == cover.digest)
            let known = CoverRequest(digest: cover.digest)
            let unknown = CoverRequest(digest: String(cover.digest.reversed()))
            func blocking() throws -> Cover? { try library.cachedCover(for: known) }
            #expect(try await library.cover(for: known).data == cover.data)
            #expect(try await library.cachedCover(for: known)?.data == cover.data)
            #expect(try blocking()?.data == cover.data)
            let side = LibraryAPI.keptSizes[0]
            #expect(
                try await library.cover(for: known, longestSide: side)
                    == library.cachedCover(for: known, longestSide: side))
            #expect(try await library.cachedFile(for: known)?.digest == cover.digest)
            #expect(try await library.statuses(of: [unknown, known]).map { $0?.digest } == [nil, cover.digest])
            #expect(try library.keys(of: known) == urls)
            #expect(try await library.history(of: [known]).map(\.url.absoluteString) == urls)
            let run = try await library.prefetch([known, unknown]).summary()
            #expect((run.fresh, run.failed) == (1, 1))
            #expect(try await library.pin(.requests([known])) == PinSummary(covers: 2, changed: 2, failed: 0))
            let unpinned = try await library.unpin(.requests([known, unknown]))
            #expect(unpinned == PinSummary(covers: 1, changed: 2, failed: 1))
            let removed = try await library.remove(.requests([known, unknown]))
            #expect((removed.entries, removed.failed) == (2, 1))
            #expect(stage.origin.requestCount == 2)
        }
    }

    @Test func `a digest that is not cached, or is to be downloaded, is a failure that names it`() async throws {
        try await withStage { stage in
            let library = stage.library
            let digest = try await library.cover(at: stage.url(1)).digest
            func failure(_ request: CoverRequest) async -> CoverFailure? {
                await #expect(throws: CoverFailure.self) { try await library.cover(for: request) }
            }
            for policy in [CoverRequest.CachePolicy.revalidate, .reload] {
                var request = CoverRequest(digest: digest)
                request.cachePolicy = policy
                let failed = await failure(request)
                #expect(failed?.kind == .notCached && failed?.detail.contains("no server") == true)
                #expect(try await library.prefetch([request]).summary().failed == 1)
            }
            #expect(try await library.cover(for: CoverRequest(digest: digest.uppercased())).digest == digest)
            for unknown in [String(digest.reversed()), "", "../../albums.json"] {
                let request = CoverRequest(digest: unknown)
                let failed = await failure(request)
                #expect(failed?.kind == (unknown.count == 64 ? .notCached : .badURL) && failed?.url == unknown)
                #expect(try await library.cachedCover(for: request, longestSide: 150) == nil)
                #expect(try await library.cachedFile(for: request) == nil)
                #expect(try library.keys(of: request).isEmpty)
            }
            let window = library.window(of: Int.self)
            window.show([(1, CoverRequest(digest: digest)), (2, CoverRequest(digest: ""))])
            var arrived: [Int: CoverOutcome] = [:]
            for await arrival in window.arrivals {
                arrived[arrival.id] = arrival.outcome
                if arrived.count == 2 { window.close() }
            }
            #expect(arrived[1]?.digest == digest && arrived[2]?.failure?.kind == .badURL)
            #expect(stage.origin.requestCount == 1)
            await library.close()
            #expect(await failure(CoverRequest(digest: digest))?.kind == .closed)
        }
    }

    @Test func `an album goes on to its next URL if the file that was given is lost`() async throws {
        try await withStage { stage in
            var album = Album(title: "A", coverURL: given)
            album.alternateCoverURLs = [stage.url(3)]
            let cover = try await stage.library.cover(for: CoverRequest(album: album))
            #expect(cover.bytes == CoverImage.jpeg(number: 3))
        }
    }
}
