import Testing
import Wire

@Suite("A starter album's cover", .timeLimit(.minutes(2)))
struct StarterCoverTests {
    @Test(
        "is a JPEG of 600×600 pixels with edges anywhere, not only where its blocks of eight pixels meet",
        arguments: [
            "low-tide", "paper-suns", "night-bus-to-ostrava", "four-rooms", "gravel-and-silk", "understory",
            "brass-weather", "second-language", "concrete-choir", "the-long-way-up", "kitchen-songs",
            "winter-counterpoint",
        ])
    func crisp(slug: String) async throws {
        try await withOrigin { origin in
            let reply = try await origin.fetch("/starter/\(slug).jpg")
            #expect(reply.status == 200)
            #expect(reply.fields["content-type"] == "image/jpeg")
            let reader = try JPEGReader(reply.body)
            #expect(reader.width == 600)
            #expect(reader.height == 600)
            var inside = 0, between = 0
            for row in reader.middleRows {
                for x in 1..<row.count where abs(row[x] - row[x - 1]) >= 16 {
                    if x % 8 == 0 { between += 1 } else { inside += 1 }
                }
            }
            // Seven of eight pairs of neighbours lie in one block.
            #expect(inside >= 200, "\(inside) edges inside blocks, \(between) between them")
            #expect(inside >= 4 * between, "\(inside) edges inside blocks, \(between) between them")
        }
    }

    @Test("is generated for a slug that no starter album has, the same each time")
    func unknown() async throws {
        try await withOrigin { origin in
            let cover = try await origin.fetch("/starter/blue-train.jpg")
            _ = try JPEGReader(cover.body)
            #expect(try await origin.fetch("/starter/blue-train.jpg").body == cover.body)
            let other = try await origin.fetch("/starter/blue-trains.jpg")
            #expect(other.body != cover.body)
            #expect(other.fields["etag"] != cover.fields["etag"])
        }
    }

    @Test("is generated in the size that was asked for")
    func sized() async throws {
        try await withOrigin { origin in
            let cover = try await origin.fetch("/starter/low-tide.jpg?size=5000")
            #expect((4997...5000).contains(cover.body.count))
            _ = try JPEGReader(cover.body)
        }
    }
}
