import NIOCore
import Testing
import Wire

@testable import OriginServer

@Suite(.timeLimit(.minutes(2)))
struct StarterCoverTests {
    @Test(arguments: [
        "low-tide", "paper-suns", "night-bus-to-ostrava", "four-rooms", "gravel-and-silk", "understory",
        "brass-weather", "second-language", "concrete-choir", "the-long-way-up", "kitchen-songs",
        "winter-counterpoint",
    ])
    func `a starter album's cover is its embedded JPEG of 600×600 pixels`(slug: String) async throws {
        try await withOrigin { origin in
            let reply = try await origin.fetch("/starter/\(slug).jpg")
            #expect(reply.status == 200)
            #expect(reply.fields["content-type"] == "image/jpeg")
            let segments = try JPEGSegments(reply.body)
            #expect(segments.width == 600 && segments.height == 600 && segments.comments.isEmpty)
        }
    }

    @Test func `the embedded covers are all different and have the sizes their table names`() throws {
        let files = EmbeddedCover.all.flatMap(\.images).map { Array($0.readableBytesView) }
        #expect(files.count == 36 && Set(files).count == files.count)
        for cover in EmbeddedCover.all {
            let segments = try cover.images.map { try JPEGSegments(Array($0.readableBytesView)) }
            #expect(segments.map(\.width) == [600, 320, 200] && segments.map(\.height) == [600, 320, 200])
            #expect(cover.images[1].readableBytes <= 17_500 && cover.images[2].readableBytes <= 8_400)
        }
    }

    @Test func `another slug gives a generated cover, always the same`() async throws {
        try await withOrigin { origin in
            let cover = try await origin.fetch("/starter/blue-train.jpg")
            _ = try JPEGSegments(cover.body)
            #expect(try await origin.fetch("/starter/blue-train.jpg").body == cover.body)
            let other = try await origin.fetch("/starter/blue-trains.jpg")
            #expect(other.body != cover.body)
            #expect(other.fields["etag"] != cover.fields["etag"])
        }
    }

    @Test func `a starter cover with a size is generated in that size`() async throws {
        try await withOrigin { origin in
            let cover = try await origin.fetch("/starter/low-tide.jpg?size=5000")
            #expect((4997...5000).contains(cover.body.count))
            _ = try JPEGSegments(cover.body)
        }
    }
}
