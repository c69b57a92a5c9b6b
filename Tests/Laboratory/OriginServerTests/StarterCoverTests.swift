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
            #expect(reply.status == 200 && reply.fields["content-type"] == "image/jpeg")
            #expect(reply.body == CoverImage.starter(slug))
        }
    }

    @Test func `another slug, or a size, gives a generated cover, always the same`() async throws {
        try await withOrigin { origin in
            let cover = try await origin.fetch("/starter/blue-train.jpg")
            #expect(try await origin.fetch("/starter/blue-train.jpg").body == cover.body)
            let other = try await origin.fetch("/starter/blue-trains.jpg")
            #expect(other.body != cover.body && other.fields["etag"] != cover.fields["etag"])
            let sized = try await origin.fetch("/starter/low-tide.jpg?size=5000")
            #expect((4_997...5_000).contains(sized.body.count))
        }
    }
}
