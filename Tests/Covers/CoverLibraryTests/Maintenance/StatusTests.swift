import Foundation
import OriginServer
import Testing

@testable import CoverLibrary

/// What is asked of the cache alone: statuses, files, and what becomes of them.
@Suite(.timeLimit(.minutes(5))) struct StatusTests {
    @Test func `statuses say of many requests which are cached, by the first URL that has a cover`() async throws {
        try await withStage { stage in
            let digest = try await stage.library.cover(at: stage.url(1)).digest
            var album = Album(title: "Low Tide", coverURL: stage.url(9))
            album.alternateCoverURLs = [stage.url(1)]
            let requests = [
                CoverRequest(location: stage.url(1)), CoverRequest(location: stage.url(2)),
                CoverRequest(location: "nonsense"), CoverRequest(album: album), CoverRequest(album: Album()),
            ]
            let statuses = try await stage.library.statuses(of: requests)
            #expect(statuses.map { $0?.digest } == [digest, nil, nil, digest, nil])
            #expect(statuses[0]?.isStale == false && statuses[0]?.freshUntil.map { $0 > Date() } == true)
            let url = try #require(URL(string: stage.url(1)))
            #expect(try await stage.library.statuses(of: [url])[0]?.digest == digest)
            #expect(try await stage.library.statuses(of: [URL]()).isEmpty)
            #expect(try stage.library.keys(of: requests[3]) == [stage.url(9), stage.url(1)])
            #expect(throws: CoverFailure.self) { try stage.library.keys(of: requests[4]) }
            #expect(stage.origin.requestCount == 1)
            await stage.library.close()
            await #expect(throws: CoverFailure.self) { try await stage.library.statuses(of: requests) }
        }
    }

    @Test func `a cached file has the cover's bytes, by URL and by digest, also after the cover is evicted`()
        async throws
    {
        try await withStage { stage in
            let (cover, url) = (
                try await stage.library.cover(at: stage.url(1)), try #require(URL(string: stage.url(1)))
            )
            let file = try #require(try await stage.library.cachedFile(for: url))
            #expect(file.digest == cover.digest && file.mediaType == "image/jpeg" && file.bytes == cover.data.count)
            #expect(try Data(contentsOf: file.url) == cover.data)
            let byDigest = try await stage.library.cachedFile(for: CoverRequest(digest: cover.digest))
            #expect(byDigest?.url == file.url)
            try await stage.library.evict(to: 0)
            #expect(try file.read(0..<file.bytes) == cover.data)
            #expect(try file.read(file.bytes - 10..<file.bytes + 90) == cover.data.suffix(10))
            #expect(try await stage.library.cachedFile(for: url) == nil)
            #expect(try await stage.library.cachedFile(for: CoverRequest(digest: "../../albums.json")) == nil)
        }
    }

    @Test func `a file with other bytes is a miss, and is not returned`() async throws {
        try await withStage { stage in
            let cover = try await stage.library.cover(at: stage.url(1))
            try stage.flip(at: 100, of: cover.bytes)
            #expect(try await stage.library.cachedFile(for: CoverRequest(digest: cover.digest)) == nil)
            #expect(try stage.library.cached(stage.url(1)) == nil, "its entry is dropped")
        }
    }

    @Test func `observers hear of covers that are evicted and removed, and not of bytes that another URL still has`()
        async throws
    {
        try await withStage { stage in
            let shared = [stage.url(1), stage.url(2, "same=1")]
            for url in shared { _ = try await stage.library.cover(at: url) }
            let (other, third) = (
                try await stage.library.cover(at: stage.url(3)), try await stage.library.cover(at: stage.url(4))
            )
            try await stage.library.pin(.requests([CoverRequest(location: stage.url(4))]))
            var events = stage.library.events().makeAsyncIterator()
            try await stage.library.remove(.requests([CoverRequest(location: shared[0])]))
            try await stage.library.remove(.requests([CoverRequest(location: stage.url(3))]))
            #expect(await events.next() == .removed(digest: other.digest))
            try await stage.library.evict(to: 0)
            guard case .removed(let digest)? = await events.next() else { throw CancellationError() }
            #expect(digest != third.digest && digest != other.digest, "a pinned cover stays")
        }
    }

    @Test func `listings, statuses and histories can be encoded, and are the same when they are decoded`() async throws
    {
        try await withStage { stage in
            _ = try await stage.library.cover(at: stage.url(1))
            _ = await stage.library.failure(stage.url(2, "status=404"))
            let history = try await stage.library.history(of: [stage.url(1), stage.url(2, "status=404")])
            #expect(history[0].cached != nil && history[1].absence?.status == 404)
            let data = try JSONEncoder().encode(history)
            #expect(try JSONDecoder().decode([CoverHistory].self, from: data) == history)
            var album = Album(title: "Low Tide", artist: "The Harbour Lights", coverURL: stage.url(1), year: "1971")
            album.musicBrainzReleaseID = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
            album.alternateCoverURLs = [stage.url(2)]
            for album in [album, Album(title: "Low Tide"), Album(id: "1", title: "Low Tide", coverURL: stage.url(1))] {
                let decoded = try JSONDecoder().decode(Album.self, from: JSONEncoder().encode(album))
                #expect(decoded == album && decoded.hashValue == album.hashValue)
            }
        }
    }
}
