import CoverSources
import Foundation
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct FilterRoutesTests {
    private struct Filtered: Decodable { var albums: [String: Bool] }

    private func albums(_ name: String, _ stage: GalleryStage) async throws -> [String] {
        let answer = try await stage.ask("GET", "/api/filters/\(name)")
        return try JSONDecoder().decode(Filtered.self, from: Data(answer.body)).albums.keys.sorted()
    }

    @Test func `filters name the albums without a cover, with a failed one and with a small one`() async throws {
        try await withGallery(albums: { origin in
            [
                Album(id: "cached", title: "T", coverURL: origin.coverURL(1)),
                Album(id: "unasked", title: "T", coverURL: origin.coverURL(2)),
                Album(id: "gone", title: "T", coverURL: origin.coverURL(3) + "?status=410"),
                Album(id: "without", title: "T"),
            ]
        }) { stage in
            _ = try await stage.library.prefetch([stage.library.albums.all()[0], stage.library.albums.all()[2]])
                .summary()
            #expect(try await albums("uncovered", stage) == ["gone", "unasked", "without"])
            // Without an address nothing has failed.
            #expect(try await albums("failed", stage) == ["gone"])
            // The origin's covers have 400 pixels.
            #expect(try await albums("small", stage) == ["cached"])
            #expect(try await albums("doubtful", stage) == [])
            let counts = #"{"uncovered":3,"failed":1,"small":1,"doubtful":0}"#
            #expect(try await stage.ask("GET", "/api/filters").text == counts)
            #expect(try await stage.ask("GET", "/api/filters/pretty").status == 404)
        }
    }

    /// One doubtful cover for every album called “Low Tide” that has not its URL.
    private final class Review: CoverReview {
        let picture: String
        let refused = Mutex<[String]>([])

        init(picture: String) { self.picture = picture }

        func albums(among albums: [Album]) async throws -> [Album.ID] {
            albums.filter { $0.title == "Low Tide" && $0.coverURL != picture }.map(\.id)
        }
        func candidates(of album: Album) async throws -> [ProposedCover] {
            [
                ProposedCover(
                    pictures: ["\(picture)?status=404", picture], source: "Deezer", artist: "A", title: "Low Tides",
                    year: "1971",
                    evidence: [.init(.contradicts, "title differs: “A, B”"), .init(.agrees, "year agrees")])
            ]
        }
        func answers(of album: Album) async throws -> [String] {
            album.id == "low" ? ["Deezer: found", "iTunes: failed"] : []
        }
        func trackCount(of album: Album) -> Int? { 9 }
        func refuse(_ pictures: [String]?, of album: Album) async throws -> [String] {
            refused.withLock { $0 += pictures ?? [album.id] }
            return pictures ?? [picture]
        }
        func allow(_ pictures: [String], of album: Album) async throws {
            refused.withLock { $0.removeAll(where: pictures.contains) }
        }
    }

    @Test func `a doubtful cover comes from the cache, and is accepted as an edit that can be undone, or refused`()
        async throws
    {
        let reviews = Mutex<Review?>(nil)
        try await withGallery(
            review: { origin in
                let review = Review(picture: origin.coverURL(7))
                reviews.withLock { $0 = review }
                return review
            },
            albums: { _ in [Album(id: "low", title: "Low Tide"), Album(id: "other", title: "Other")] }
        ) { stage in
            let review = try #require(reviews.withLock { $0 })
            #expect(try await albums("doubtful", stage) == ["low"])
            let proposed = try await stage.ask("GET", "/api/doubtful/low").text
            let digest = try await stage.cover(at: review.picture).digest
            #expect(proposed.contains("\"digest\":\"\(digest)\"") && proposed.contains("Low Tides"))
            #expect(proposed.contains(#""tracks":9"#))
            #expect(
                proposed.contains(
                    #"{"text":"title differs: “A, B”","agreement":"contradicts"},{"text":"year agrees","agreement":"agrees"}"#
                ))
            #expect(
                try await stage.ask("GET", "/api/sources/low").text
                    == #"{"doubtful":1,"answers":"Deezer: found\u000aiTunes: failed"}"#)
            #expect(try await stage.ask("GET", "/api/sources/other").text == "{}")
            #expect(
                try await stage.ask("POST", "/api/doubtful/low", json: #"{"picture":"https://a.example/"}"#).status
                    == 409)
            // As a scan does.
            let former = try await stage.library.albums.all()[0]
            var found = former
            found.coverFilePath = Array("/music/Low Tide/front.jpg".utf8)
            try await stage.library.albums.edit([(former, found)])
            let answer = try await stage.ask("POST", "/api/doubtful/low", json: "{\"picture\":\"\(review.picture)\"}")
            #expect(answer.status == 200 && answer.text.contains("“Low Tide”; front.jpg beside the music stays"))
            #expect(try await stage.library.albums.all()[0].coverURL == review.picture)
            #expect(try await stage.ask("POST", "/api/undo", json: "{}").status == 200)
            #expect(try await stage.library.albums.all()[0].coverURL == nil)
            #expect(try await albums("doubtful", stage) == ["low"])
            #expect(try await stage.ask("POST", "/api/doubtful/low", json: #"{"picture":null}"#).status == 200)
            #expect(review.refused.withLock { $0 } == ["low"])
            let refused = try await stage.ask("POST", "/api/doubtful/low", json: #"{"picture":null,"shown":["a","b"]}"#)
            #expect(refused.text.contains(#""refused":{"a":true,"b":true}"#))
            #expect(review.refused.withLock { $0 } == ["low", "a", "b"])
            #expect(try await stage.ask("POST", "/api/doubtful/low", json: #"{"allow":["a","b"]}"#).status == 200)
            #expect(review.refused.withLock { $0 } == ["low"])
            #expect(try await stage.ask("POST", "/api/doubtful/low", json: "{}").status == 400)
        }
    }

    @Test func `without sources there are no doubtful covers to decide on`() async throws {
        try await withGallery { stage in
            let id = try await stage.ids[0]
            #expect(try await stage.ask("GET", "/api/doubtful/\(id)").status == 404)
            #expect(try await stage.ask("POST", "/api/doubtful/\(id)", json: #"{"picture":null}"#).status == 404)
        }
    }

    /// Runs until it is stopped.
    private struct Endless: GalleryRun {
        let name = "refresh"
        var isPossible: Bool { true }

        func run(_ wishes: RunWishes, _ report: @escaping @Sendable (String) async -> Void) async -> RunOutcome {
            await report("half of it for \(wishes.contact ?? "nobody")")
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
            let failure = RunOutcome.Failure(album: nil, title: nil, url: wishes.folder, reason: "gone")
            return RunOutcome(result: #"{"cancelled":true}"#, problem: nil, failures: [failure])
        }
    }

    @Test func `a page starts a run, one at a time, is told its progress, and stops it`() async throws {
        try await withGallery(runs: [Endless()]) { stage in
            let events = try await stage.events("page-0001")
            #expect(try await stage.ask("POST", "/api/runs/other", json: "{}").status == 404)
            #expect(try await stage.ask("POST", "/api/lists", json: "[]").status == 415)
            let list = ["Content-Type": "application/octet-stream"]
            #expect(try await stage.ask("POST", "/api/lists", list).status == 404, "no such run is provided here")
            _ = try await stage.ask("GET", "/api/library")
            let wishes = "{\"contact\": \"me@example.org\", \"folder\": \"\(stage.origin.coverURL(2))\"}"
            #expect(try await stage.ask("POST", "/api/runs/refresh", json: wishes).status == 202)
            #expect(try await stage.ask("POST", "/api/runs/refresh", json: "{}").status == 409)
            let progress = try await onThread { try events.receive(until: "half of it for me@example.org") }
            #expect(progress.contains("\"running\":\"refresh\""))
            #expect(try await stage.ask("DELETE", "/api/runs").status == 204)
            let end = try await onThread { try events.receive(until: "\"reason\":\"gone\"") }
            let failure = "\"failures\":[{\"album\":\"\(try await stage.ids[2])\",\"title\":\"T2\""
            #expect(end.contains("\"running\":null") && end.contains(#""result":{"cancelled":true}"#), "\(end)")
            #expect(end.contains(failure), "a failure at a URL is that of the album that has it: \(end)")
        }
    }
}
