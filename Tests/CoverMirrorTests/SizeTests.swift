import CoverCache
import Foundation
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// Covers in smaller sizes, as a mirror serves them.
@Suite(.timeLimit(.minutes(10))) struct SizeTests {
    @Test func `a cached cover has sizes under its digest, without a request to the origin`() async throws {
        try await withMirror { stage in
            let path = "/covers/0.jpg?size=120000"
            let cover = try await stage.get(path).body
            let digest = try #require(try stage.entry(path)).digest.description
            let before = stage.origin.requestCount
            let reply = try await stage.get("/covers/\(digest)?w=300")
            #expect(reply.status == 200 && reply.fields["content-type"] == "image/jpeg")
            #expect(reply.fields["etag"] == "\"\(digest)-300\"" && reply.outcome == "sleeve; hit")
            #expect(reply.fields["cache-control"] == "private, max-age=31536000, immutable")
            let small = try await stage.library.cachedCover(digest: digest, longestSide: 300)
            #expect(reply.body == small.map { Array($0.data) } && small?.width == 300 && reply.body.count < cover.count)
            let head = try await stage.send("HEAD", "/covers/\(digest)?w=300")
            #expect(
                head.status == 200 && head.fields["content-length"] == String(reply.body.count) && head.body.isEmpty)
            let known = try await stage.get("/covers/\(digest)?w=300", ["If-None-Match": "\"\(digest)-300\""])
            #expect(known.status == 304)
            let part = try await stage.get("/covers/\(digest)?w=300", ["Range": "bytes=0-9"])
            #expect(part.status == 206 && part.body == Array(reply.body.prefix(10)))
            #expect(try await stage.get("/covers/\(digest)?w=301").status == 400)
            #expect(stage.origin.requestCount == before)
        }
    }

    @Test func `other paths and digests are the origin's`() async throws {
        try await withMirror { stage in
            let digest = String(repeating: "ab", count: 32)
            for path in ["/covers/\(digest)?w=300", "/covers/1.jpg?w=300", "/covers/\(digest)"] {
                let before = stage.origin.requestCount
                _ = try await stage.get(path)
                #expect(stage.origin.requestCount == before + 1, "\(path)")
            }
        }
    }
}
