import CoverCache
import CoverPack
import Foundation
import OriginServer
import Platform
import Testing

@testable import CoverLibrary

/// Covers in smaller sizes. The origin's covers of 120,000 bytes are JPEGs of 600 pixels, those of 4,000 are smaller.
@Suite(.timeLimit(.minutes(10))) struct SizeTests {
    private func size(_ stage: Stage, _ number: Int, _ longestSide: Int, bytes: Int = 120_000) async throws -> Cover {
        try await stage.library.cover(
            for: CoverRequest(location: stage.url(number, "size=\(bytes)")), longestSide: longestSide)
    }

    @Test(arguments: [0, -1, 1, 299, 1_499, Int.max, Int.min])
    func `a size that is not kept is refused, and no server is asked`(longestSide: Int) async throws {
        try await withStage { stage in
            let failure = await #expect(throws: CoverFailure.self) { try await size(stage, 1, longestSide) }
            #expect(failure?.kind == .badSize && failure?.detail.contains("150, 300, 600, 1200") == true)
            #expect(stage.origin.requestCount == 0)
            let request = CoverRequest(digest: String(repeating: "ab", count: 32))
            await #expect(throws: CoverFailure.self) {
                try await stage.library.cachedCover(for: request, longestSide: longestSide)
            }
        }
    }

    @Test func `a size is made from the cover, kept, and read from then on`() async throws {
        try await withStage { stage in
            let made = try await size(stage, 1, 300)
            #expect(made.mediaType == "image/jpeg" && (made.width, made.height) == (300, 300))
            #expect(made.location == stage.url(1, "size=120000"))
            let cover = try await stage.library.cover(at: stage.url(1, "size=120000"))
            #expect(cover.width == 600 && cover.digest != made.digest)
            let path = try #require(try await stage.library.coverFile(for: cover.location, longestSide: 300))
            #expect(path.hasSuffix("/sizes/300/\(cover.digest.prefix(2))/\(cover.digest)"))
            #expect(FileManager.default.contents(atPath: path) == made.data)
            #expect(try await stage.library.statistics().sizeBytes > 0)
            // A damaged one is made again, and has the same bytes.
            try Data(made.data.prefix(1_000)).write(to: URL(filePath: path))
            #expect(try await size(stage, 1, 300) == made)
            _ = try await stage.library.coverFile(for: cover.location, longestSide: 300)
            #expect(FileManager.default.contents(atPath: path) == made.data)
            #expect(stage.origin.requestCount == 1)
        }
    }

    @Test func `the file of a size has its bytes, and that of a cover that is small enough is the cover's own`()
        async throws
    {
        try await withStage { stage in
            let library = stage.library
            let made = try await size(stage, 1, 300)
            let request = CoverRequest(location: stage.url(1, "size=120000"))
            let file = try #require(try await library.cachedFile(for: request, longestSide: 300))
            #expect(file.digest == made.digest && file.mediaType == "image/jpeg")
            #expect(try file.read(0..<file.bytes) == made.data)
            let own = try #require(try await library.cachedFile(for: request))
            #expect(own.digest != file.digest)
            let named = try await library.cachedFile(for: CoverRequest(digest: own.digest), longestSide: 300)
            #expect(named?.url == file.url)
            let small = CoverRequest(location: stage.url(2, "size=4000"))
            _ = try await library.cover(for: small)
            let same = try await library.cachedFile(for: small, longestSide: 300)
            #expect(try await library.cachedFile(for: small)?.url == same?.url && same != nil)
            await #expect(throws: CoverFailure.self) { try await library.cachedFile(for: request, longestSide: 299) }
        }
    }

    @Test func `a command makes a size that is not kept for each call, and writes nothing`() async throws {
        try await withStage { stage in
            let request = CoverRequest(location: stage.url(1, "size=120000"))
            let made = try await stage.library.cover(for: request, within: 222)
            #expect(made.width == 222)
            #expect(try await stage.library.cover(for: request, within: 222) == made)
            await stage.library.covers.persistency.keepSizes()
            #expect(!FileManager.default.fileExists(atPath: stage.folder + "/cache/sizes"))
        }
    }

    @Test func `a cover that is small enough, or of another format, is returned as it is`() async throws {
        try await withStage { stage in
            let small = try await size(stage, 1, 300, bytes: 4_000)
            #expect(
                try small == stage.library.cached(stage.url(1, "size=4000"))
                    && small.digest == Digest(of: small.bytes).description)
            let gif = Data("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3B]
            let url = URL(string: "https://covers.invalid/1.gif")!
            try await stage.library.store(gif, for: url)
            #expect(try await stage.library.cover(for: url, longestSide: 300).data == gif)
            #expect(
                try await stage.library.coverFile(for: url.absoluteString, longestSide: 300)
                    == stage.file(of: Array(gif)))
        }
    }

    @Test func `a cover that must not be stored is made smaller, too`() async throws {
        try await withStage { stage in
            let url = stage.url(1, "size=120000&cache-control=no-store")
            let small = try await stage.library.cover(for: CoverRequest(location: url), longestSide: 300)
            #expect(small.width == 300)
            #expect(try stage.library.cached(url) == nil)
        }
    }

    @Test func `callers of one size share its making, and the cache learns its colour`() async throws {
        try await withStage { stage in
            let cover = try await stage.library.cover(at: stage.url(1, "size=120000"))
            #expect(try await stage.library.statuses(of: [CoverRequest(location: cover.location)])[0]?.color == nil)
            let request = CoverRequest(digest: cover.digest)
            let sizes = try await withThrowingTaskGroup(of: Cover?.self) { group in
                for _ in 0..<40 {
                    group.addTask { try await stage.library.cachedCover(for: request, longestSide: 600 / 4) }
                }
                return try await group.reduce(into: Set<Cover?>()) { $0.insert($1) }
            }
            #expect(sizes.count == 1 && sizes.first??.width == 150)
            await stage.library.covers.persistency.keepSizes()
            let status = try await stage.library.statuses(of: [CoverRequest(location: cover.location)])[0]
            #expect(status?.color?.wholeMatch(of: #/#[0-9a-f]{6}/#) != nil)
        }
    }

    @Test func `a size is the same on the thread of the caller, made or kept, of a URL, an album and a digest`()
        async throws
    {
        try await withStage { stage in
            let library = stage.library
            let cover = try await library.cover(at: stage.url(1, "size=120000"))
            func blocking(_ request: CoverRequest, _ longestSide: Int?) throws -> Cover? {
                try library.cachedCover(for: request, longestSide: longestSide)
            }
            let requests = [
                CoverRequest(location: cover.location), CoverRequest(digest: cover.digest),
                CoverRequest(album: Album(title: "A", coverURL: cover.location)),
            ]
            for request in requests {
                #expect(try blocking(request, nil)?.data == cover.data)
                let made = try #require(try blocking(request, 150))
                await library.covers.persistency.keepSizes()
                let kept = try await library.cachedCover(for: request, longestSide: 150)
                #expect(made.width == 150 && made.data == kept?.data)
                #expect(try blocking(request, 150)?.data == made.data)
                #expect(try blocking(request, 1_200)?.data == cover.data, "it has no more pixels")
            }
            let failure = #expect(throws: CoverFailure.self) { try blocking(requests[0], 299) }
            #expect(failure?.kind == .badSize)
        }
    }

    @Test func `sizes are kept when the library closes, and go with their cover`() async throws {
        try await withStage { stage in
            let library = try await stage.another()
            let cover = try await library.cover(at: stage.url(1, "size=120000"))
            try await library.makeSizes([150, 300], of: cover.digest)
            await library.close()
            let paths = [150, 300].map { "\(stage.folder)/cache/sizes/\($0)/\(cover.digest.prefix(2))/\(cover.digest)" }
            #expect(paths.allSatisfy { FileManager.default.fileExists(atPath: $0) })
            try await stage.library.evict(to: 0)
            #expect(!paths.contains { FileManager.default.fileExists(atPath: $0) })
            let request = CoverRequest(digest: cover.digest)
            #expect(try await stage.library.cachedCover(for: request, longestSide: 300) == nil)
        }
    }

    @Test func `a pack has covers and no sizes, and a rebuilt index counts the sizes that are there`() async throws {
        try await withStage { stage in
            _ = try await size(stage, 1, 300)
            await stage.library.covers.persistency.keepSizes()
            let bytes = try await stage.library.statistics().sizeBytes
            let pack = URL(filePath: stage.folder + "/covers.tar")
            let summary = try await stage.library.pack(to: pack)
            let text = String(decoding: try Data(contentsOf: pack), as: Unicode.ASCII.self)
            #expect(summary.covers == 1 && !text.contains("sizes/"))
            await stage.library.close()
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: stage.folder + "/cache/index.sqlite3" + suffix)
            }
            let again = try await stage.another()
            #expect(try await again.statistics().sizeBytes == bytes)
            await again.close()
        }
    }
}
