import Foundation
import CoverFetch
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

/// Covers with several URLs, and an origin with the Cover Art Archive's API.
@Suite(.timeLimit(.minutes(10))) struct AlternativeURLTests {
    private static let id = "76df3287-6cda-33eb-8e9a-044b5e15f00d"
    private static let none = "76df3287-6cda-33eb-8e9a-044b5e15f404"

    private func withArchive(
        _ configure: (inout LibraryConfiguration) -> Void = { _ in }, _ body: (Stage, LibraryAPI) async throws -> Void
    ) async throws {
        try await withStage { stage in
            let library = try await stage.another {
                $0.coverArtArchive = URL(string: "http://127.0.0.1:\(stage.origin.port)")!
                configure(&$0)
            }
            let result: Result<Void, any Error>
            do { result = .success(try await body(stage, library)) } catch { result = .failure(error) }
            await library.close()
            try result.get()
        }
    }

    private func album(_ urls: [String] = [], release: String? = nil, group: String? = nil) -> Album {
        var album = Album(title: "T", coverURL: urls.first)
        album.alternateCoverURLs = Array(urls.dropFirst())
        album.musicBrainzReleaseID = release
        album.musicBrainzReleaseGroupID = group
        return album
    }

    /// The outcome of each album.
    private func prefetch(_ library: LibraryAPI, _ albums: [Album]) async throws -> [CoverOutcome] {
        let (outcomes, summary) = try await library.prefetch(albums).collect()
        #expect(summary.requested == albums.count && outcomes.count == albums.count, "one outcome per album")
        return outcomes
    }

    @Test func `an album without a URL gets its cover from the archive in the configured size, once`() async throws {
        try await withArchive {
            $0.coverSize = .pixels250
        } _: { stage, library in
            let album = album(release: Self.id)
            let url = "http://127.0.0.1:\(stage.origin.port)/release/\(Self.id)/front-250"
            let first = try await prefetch(library, [album])
            #expect(first.map(\.kind) == [.downloaded] && first[0].url == url)
            #expect(try await prefetch(library, [album]).map(\.kind) == [.fresh])
            let cover = try await library.cover(for: CoverRequest(album: album))
            #expect(cover.location == url && cover.mediaType == "image/jpeg")
            let byID = CoverRequest(musicBrainzRelease: try #require(UUID(uuidString: Self.id)))
            #expect(try await library.cover(for: byID).digest == cover.digest)
            #expect(stage.origin.requestCount == 2, "the archive, and its redirect's target")
        }
    }

    @Test func `if the archive has no cover of a release its group's is requested, and the 404 is cached`() async throws
    {
        try await withArchive { stage, library in
            let outcomes = try await prefetch(library, [album(release: Self.none, group: Self.id)])
            #expect(outcomes.map(\.kind) == [.downloaded])
            #expect(outcomes[0].url.hasSuffix("/release-group/\(Self.id)/front-500"))
            let failed = try await prefetch(library, [album(release: Self.none)])
            let until = try #require(failed[0].failure?.rememberedUntil)
            #expect(until > Date(timeIntervalSinceNow: 6 * 86_400), "for a week")
            for name in ["front-500", "front-1200", "front-250", "front"] {
                #expect(stage.origin.requestCount(path: "/release/\(Self.none)/\(name)") == 1)
            }
        }
    }

    /// Paths of covers in an archive, and what it answers.
    private func withSizes(
        _ answers: [String: [UInt8]], size: CoverSize = .pixels500,
        _ body: (LibraryAPI, Archive) async throws -> Void
    ) async throws {
        let archive = try Archive(answers)
        defer { archive.stop() }
        try await withStage {
            $0.coverArtArchive = URL(string: archive.url)!
            $0.coverSize = size
            $0.retries = 0
        } _: { stage in
            try await body(stage.library, archive)
        }
    }

    @Test(arguments: CoverSize.allCases)
    func `a size that is missing, or no image, is replaced by another one`(size: CoverSize) async throws {
        let names = ["front-250", "front-500", "front-1200", "front"]
        for found in names {
            for other in [Archive.missing, Archive.pdf, Archive.html] {
                var answers = Dictionary(uniqueKeysWithValues: names.map { ("/release/\(Self.id)/\($0)", other) })
                answers["/release/\(Self.id)/\(found)"] = Archive.image
                try await withSizes(answers, size: size) { library, _ in
                    let outcomes = try await prefetch(library, [album(release: Self.id)])
                    #expect(outcomes.map(\.kind) == [.downloaded] && outcomes[0].url.hasSuffix("/" + found))
                    #expect(try await prefetch(library, [album(release: Self.id)]).map(\.kind) == [.fresh])
                    let cover = try await library.cover(for: CoverRequest(album: album(release: Self.id)))
                    #expect(cover.location == outcomes[0].url)
                }
            }
        }
    }

    @Test func `a cover is absent for a week only if all its sizes are, and each is requested once`() async throws {
        try await withSizes([:]) { library, archive in
            for _ in 0..<2 {
                let failed = try await prefetch(library, [album(release: Self.id)])
                #expect(failed[0].failure?.status == 404)
            }
            #expect(archive.count == 4)
            for name in ["front-500", "front-250", "front"] {
                let url = "\(archive.url)/release/\(Self.id)/\(name)"
                let until = try #require(await library.history(of: [url])[0].absence?.until)
                #expect(until > Date(timeIntervalSinceNow: 6 * 86_400), "\(name)")
            }
        }
        // A thumbnail that is no image may be repaired tomorrow.
        try await withSizes(["/release/\(Self.id)/front-1200": Archive.html]) { library, archive in
            _ = try await prefetch(library, [album(release: Self.id)])
            let other = "\(archive.url)/release/\(Self.id)/front"
            let until = try #require(await library.history(of: [other])[0].absence?.until)
            #expect(until < Date(timeIntervalSinceNow: 86_400))
        }
    }

    @Test func `a temporary failure of one size is no reason to take another, nor an absence`() async throws {
        let answers = [
            "/release/\(Self.id)/front-500": Archive.unavailable, "/release/\(Self.id)/front-1200": Archive.image,
        ]
        try await withSizes(answers) { library, archive in
            for _ in 0..<2 {
                let failure = try await prefetch(library, [album(release: Self.id)])[0].failure
                #expect(failure?.status == 500 && failure?.isRetryable == true && failure?.rememberedUntil == nil)
                #expect(failure?.detail.contains("then") == false)
            }
            #expect(archive.count == 2)
        }
    }

    @Test func `URLs are requested in order until one succeeds, and the outcome names that one`() async throws {
        try await withArchive {
            $0.retries = 0
        } _: { stage, library in
            let urls = [
                stage.url(1, "status=404"), "not a url", stage.url(2, "fault=html"), stage.url(3), stage.url(4),
            ]
            let outcomes = try await prefetch(library, [album(urls), album([stage.url(5), stage.url(6)])])
            #expect(Set(outcomes.map(\.url)) == [stage.url(3), stage.url(5)])
            #expect(outcomes.allSatisfy { $0.kind == .downloaded })
            for (number, count) in [1: 1, 2: 1, 3: 1, 4: 0, 5: 1, 6: 0] {
                #expect(stage.origin.requestCount(path: "/covers/\(number).jpg") == count)
            }
            // A cached alternative is used, whatever stands before it.
            let again = try await prefetch(library, [album(urls), album([stage.url(7), stage.url(5)])])
            #expect(again.allSatisfy { $0.kind == .fresh })
            #expect(Set(again.map(\.url)) == [stage.url(3), stage.url(5)])
            #expect(stage.origin.requestCount == 4)
        }
    }

    @Test func `if all URLs fail there is one failure, which names each`() async throws {
        try await withArchive {
            $0.retries = 0
        } _: { stage, library in
            let urls = [stage.url(1, "status=404"), stage.url(2, "status=503")]
            let failed = try await prefetch(library, [album(urls, release: Self.none)])
            #expect(failed.map(\.kind) == [.failed] && failed[0].url == urls[0])
            let failure = try #require(failed[0].failure)
            #expect(failure.isRetryable, "the second failure is temporary")
            for part in ["404", urls[1], "503", "/release/\(Self.none)/front-500"] {
                #expect(failure.detail.contains(part), "\(failure.detail)")
            }
            let thrown = await #expect(throws: CoverFailure.self) {
                try await library.cover(for: CoverRequest(album: album(urls, release: Self.none)))
            }
            #expect(thrown?.detail.contains(urls[1]) == true)
        }
    }

    @Test func `invalid URLs are passed over and named, and an album with no valid one is skipped`() async throws {
        try await withArchive {
            $0.retries = 0
        } _: { stage, library in
            let outcomes = try await prefetch(
                library, [album([stage.url(1, "status=404"), "ftp://a/1"]), album(["ftp://a/1", "ftp://a/2"])])
            let failed = outcomes.first { $0.kind == .failed }?.failure
            #expect(failed?.status == 404 && failed?.detail.contains("ftp://a/1") == true)
            let skipped = outcomes.first { $0.kind == .skipped }?.failure
            #expect(skipped?.kind == .badURL && skipped?.detail.contains("ftp://a/2") == true)
        }
    }

    @Test func `albums that share URLs share transfers, and each has its outcome`() async throws {
        try await withArchive {
            $0.retries = 0
        } _: { stage, library in
            let urls = [stage.url(1, "status=404"), stage.url(2)]
            let outcomes = try await prefetch(library, (0..<20).map { _ in album(urls) })
            #expect(outcomes.filter { $0.kind == .downloaded }.count == 1)
            #expect(outcomes.filter { $0.kind == .joined }.count == 19)
            #expect(stage.origin.requestCount == 2)
        }
    }

    @Test(arguments: [false, true])
    func `a cover that another caller stores after a run has looked it up is not downloaded again`(
        isSecond: Bool
    ) async throws {
        try await withArchive {
            $0.retries = 0
        } _: { stage, library in
            let shared = stage.url(2)
            let album = album(isSecond ? [stage.url(1, "status=404"), shared] : [shared])
            let outcomes: CoverOutcomes<LibraryError> = CoverOutcomes {
                run async throws(LibraryError) in
                let prefetcher = Prefetcher(library.covers, run)
                let batch = await library.covers.lookUp([CoverRequest(album: album)], for: prefetcher)
                #expect(batch.asks.count == 1 && batch.answers == [nil])
                _ = await library.failure(shared)
                let batches = AsyncStream { continuation in
                    continuation.yield(batch)
                    continuation.finish()
                }
                try await prefetcher.prefetch(batches)
            }
            let (all, summary) = try await outcomes.collect()
            #expect(summary.joined == 1 && all.map(\.url) == [shared], "\(all)")
            #expect(stage.origin.requestCount(path: "/covers/2.jpg") == 1)
        }
    }

    @Test func `a cancelled run does not go on to the next URL`() async throws {
        try await withArchive { stage, library in
            let urls = [stage.url(1, "hold=1&status=404"), stage.url(2)]
            let albums = [album(urls)]
            let run = Task { try await library.prefetch(albums).collect() }
            try await eventually { stage.origin.requestCount == 1 }
            run.cancel()
            let (outcomes, summary) = try await run.value
            stage.origin.release()
            #expect(summary.isCancelled && summary.failed == 0 && summary.remaining == 1)
            #expect(outcomes.isEmpty)
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test func `offline, there is one failure per album, and no connection`() async throws {
        try await withArchive {
            $0.isOffline = true
        } _: { stage, library in
            let failed = try await prefetch(library, [album([stage.url(1), stage.url(2)], release: Self.id)])
            #expect(failed.map(\.failure?.kind) == [.offline] && stage.origin.connectionCount == 0)
        }
    }

    @Test(arguments: ["no-cache", "max-age%3D0,%20must-revalidate"], [false, true])
    func `RFC 9111 §5.2.2.2, §5.2.2.4: the stored cover of an album is revalidated before it is used`(
        directives: String, isSecond: Bool
    ) async throws {
        try await withArchive { stage, library in
            let (stored, missing) = (stage.url(1, "cache-control=\(directives)"), stage.url(2, "status=404"))
            let request = CoverRequest(album: album(isSecond ? [missing, stored] : [stored, missing]))
            for count in 1...2 {
                let cover = try await library.cover(for: request)
                #expect(cover.bytes == CoverImage.jpeg(number: 1))
                #expect(stage.origin.requestCount(path: "/covers/1.jpg") == count)
            }
            #expect(stage.origin.requestCount(path: "/covers/2.jpg") == (isSecond ? 1 : 0))
            let offline = try await stage.another { $0.isOffline = true }
            let failure = await #expect(throws: CoverFailure.self) { try await offline.cover(for: request) }
            #expect(failure?.kind == .offline)
            await offline.close()
        }
    }

    @Test func `a stored cover that cannot be revalidated gives way to another of its album that may be used`()
        async throws
    {
        try await withArchive {
            $0.retries = 0
        } _: { stage, library in
            let urls = [stage.url(1, "cache-control=no-cache"), stage.url(2, "cache-control=max-age%3D999")]
            _ = try await library.prefetch(urls).summary()
            await stage.origin.stop()
            let offline = try await stage.another { $0.isOffline = true }
            for library in [offline, library] {
                let cover = try await library.cover(for: CoverRequest(album: album(urls)))
                #expect(cover.bytes == CoverImage.jpeg(number: 2) && !cover.isStale)
            }
            await offline.close()
        }
    }
}
