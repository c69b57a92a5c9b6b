import Foundation
import OriginServer
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

/// `/covers/DIGEST?w=300`.
@Suite(.timeLimit(.minutes(10))) struct SizeRouteTests {
    private func cached(_ stage: GalleryStage, bytes: Int = 120_000) async throws -> Cover {
        try await stage.cover(at: stage.origin.coverURL(0) + "?size=\(bytes)")
    }

    @Test func `a size is a JPEG that no browser asks for twice`() async throws {
        try await withGallery { stage in
            let cover = try await cached(stage)
            let reply = try await stage.ask("GET", "/covers/\(cover.digest)?w=300")
            #expect(reply.status == 200 && reply.fields["content-type"] == "image/jpeg")
            let small = try await stage.library.cachedCover(for: CoverRequest(digest: cover.digest), longestSide: 300)
            #expect(reply.body == small.map { Array($0.data) } && small?.width == 300)
            let tag = "\"\(cover.digest)-300\""
            #expect(reply.fields["etag"] == tag)
            #expect(reply.fields["cache-control"] == "private, max-age=31536000, immutable")
            let again = try await stage.ask("GET", "/covers/\(cover.digest)?w=300", ["If-None-Match": tag])
            #expect(again.status == 304)
            #expect(try await stage.ask("GET", "/covers/\(cover.digest)").fields["etag"] == "\"\(cover.digest)\"")
        }
    }

    @Test func `a cover that is small enough is the response, under its own tag`() async throws {
        try await withGallery { stage in
            let cover = try await cached(stage, bytes: 4_000)
            let reply = try await stage.ask("GET", "/covers/\(cover.digest)?w=600")
            #expect(reply.body == Array(cover.data) && reply.fields["etag"] == "\"\(cover.digest)\"")
        }
    }

    @Test func `other sizes, and covers that are not cached, are refused`() async throws {
        try await withGallery { stage in
            let cover = try await cached(stage)
            for size in ["299", "0", "", "x", "-300", "300000000000000000000"] {
                let reply = try await stage.ask("GET", "/covers/\(cover.digest)?w=\(size)")
                #expect(reply.status == 400 && reply.text.contains("150, 300, 600, 1200"), "\(size)")
            }
            let absent = String(cover.digest.reversed())
            #expect(try await stage.ask("GET", "/covers/\(absent)?w=300").status == 404)
        }
    }

    @Test func `states have a colour once a size was made`() async throws {
        try await withGallery(albums: { [Album(title: "A", coverURL: $0.coverURL(0) + "?size=120000")] }) { stage in
            let (cover, id) = (try await cached(stage), try await stage.ids[0])
            let show = #"{"page": "page-0001", "view": ["\#(id)"]}"#
            func states() async throws -> [String] {
                [
                    try await stage.ask("POST", "/api/covers", json: show).text,
                    try await stage.ask("GET", "/api/state").text,
                ]
            }
            for state in try await states() { #expect(state.contains(cover.digest) && !state.contains("color")) }
            _ = try await stage.ask("GET", "/covers/\(cover.digest)?w=150")
            await stage.library.covers.persistency.keepSizes()
            for state in try await states() {
                #expect(state.contains(#/"color":"#[0-9a-f]{6}"/#), "\(state)")
            }
        }
    }
}
