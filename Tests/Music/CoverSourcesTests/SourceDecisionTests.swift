@testable import CoverSources
import Testing

/// What a person has decided about covers, by the album.
@Suite(.timeLimit(.minutes(5))) struct SourceDecisionTests {
    private let clock = TestClock()
    /// Doubtful at Deezer, whose album has another number of tracks.
    private static let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10)

    private func decisions(_ all: (Decision.Verdict, SourceCandidate)...) -> Decisions {
        Decisions(
            all.enumerated().map { number, one in
                var decision = Decision(one.0, one.1.name, of: "1", wasCertain: one.1.certainty == .certain)
                decision.number = Int64(number)
                return decision
            })
    }

    private func withDoubtful(
        _ body: (_ memory: SourceMemory, _ service: TestService, _ candidate: SourceCandidate) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { _, _ in .json(Answers.deezer("A", "B", tracks: 11)) }
            let found = try await find(memory, service)
            #expect(found.certain == nil)
            try await body(memory, service, try #require(found.candidates.first))
        }
    }

    private func find(
        _ memory: SourceMemory, _ service: TestService, _ decisions: Decisions = .init(), retriesMissing: Bool = false
    ) async throws -> SourceFindings {
        try await SourceQueue(
            sources: CoverSource.table([.deezer]), userAgent: "Sleeve", memory: memory, retriesMissing: retriesMissing,
            clock: clock.source, transport: service.transport
        ).find(Self.album, decisions)
    }

    @Test func `an accepted cover is certain, without a request, and after the source was asked again`() async throws {
        try await withDoubtful { memory, service, candidate in
            let accepted = decisions((.accepted, candidate))
            let found = try await find(memory, service, accepted)
            #expect(found.certain?.match.reason == "accepted by you")
            #expect(service.searches.count == 1)
            clock.advance(.seconds(8 * 86_400))
            #expect(try await find(memory, service, accepted).certain?.pictures == candidate.pictures)
            #expect(service.searches.count == 2)
            // Without the decision, what was judged counts.
            #expect(try await kept(memory, Self.album).covers.map(\.match) == [candidate.match])
        }
    }

    @Test func `a refused cover is not proposed again, and costs no request`() async throws {
        try await withDoubtful { memory, service, candidate in
            let refused = decisions((.refused, candidate))
            let covers = try await kept(memory, Self.album, refused).covers
            #expect(covers.map(\.match) == [.refused])
            #expect(try await find(memory, service, refused).candidates.isEmpty)
            #expect(service.searches.count == 1)
            clock.advance(.seconds(8 * 86_400))
            #expect(try await find(memory, service, refused).candidates.isEmpty)
            #expect(try await find(memory, service, refused, retriesMissing: true).candidates.isEmpty)
            let allowed = decisions((.refused, candidate), (.allowed, candidate))
            #expect(try await find(memory, service, allowed).candidates.map(\.certainty) == [.doubtful])
        }
    }

    @Test func `a certain cover that was refused stays away, that of the album's id, too`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(
                clock,
                details: { url in
                    url.contains("deezer")
                        ? nil : .json(Answers.musicBrainzRelease("A", "B", year: 1994, lengths: [1, 2]))
                }
            ) { _, _ in .json(Answers.deezer("A", "B", tracks: 10)) }
            let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10, releaseID: Answers.release)
            let queue = SourceQueue(
                sources: CoverSource.table([.caa, .deezer]), others: CoverSource.table([.musicbrainz]),
                userAgent: "Sleeve (me@example.org)", memory: memory, clock: clock.source,
                transport: service.transport)
            let first = try #require(try await queue.find(album).certain)
            let second = try #require(try await queue.find(album, skipping: [.caa]).certain)
            #expect([first, second].map(\.source) == [.caa, .deezer])
            let refused = decisions((.refused, first), (.refused, second))
            for cover in [first, second] {
                let url = try #require(cover.pictures.first)
                #expect(await queue.cover(at: url, for: album, .init())?.certainty == .certain)
                #expect(await queue.cover(at: url, for: album, refused)?.certainty == Match.Certainty.none)
            }
            #expect(try await queue.find(album, refused).candidates.isEmpty)
        }
    }

    @Test func `after a certain cover was refused, that of another source is doubtful, whatever the names are by now`()
        async throws
    {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { url, _ in
                .json(
                    url.contains("deezer")
                        ? Answers.deezer("A", "B", tracks: 10) : Answers.iTunes("A", "B", year: 1994, tracks: 10))
            }
            let queue = SourceQueue(
                sources: CoverSource.table([.deezer, .itunes]), userAgent: "Sleeve", memory: memory,
                clock: clock.source,
                transport: service.transport)
            let first = try #require(try await queue.find(Self.album).certain)
            // As if it had been doubtful for other names.
            var former = first
            former.match = Match(.doubtful, "why")
            for (first, year) in [(first, 1994), (former, 1994), (first, 1993)] {
                var album = Self.album
                album.year = year
                let found = try await queue.find(album, decisions((.refused, first))).candidates
                #expect(found.map(\.source) == [.itunes] && found.map(\.certainty) == [.doubtful])
                let accepted = decisions((.refused, first), (.accepted, found[0]))
                #expect(try await queue.find(album, accepted).certain?.source == .itunes)
            }
        }
    }

    @Test(arguments: [(1994, Match.Certainty.doubtful), (2001, .certain)])
    func `a refused cover that would be certain for today's facts makes another one doubtful`(
        year: Int, certainty: Match.Certainty
    ) {
        var refused = candidate(.itunes, "1", "https://a.example/1")
        refused.album.year = year
        var other = candidate(.deezer, "2", "https://a.example/2")
        other.match = Match(.certain, "why")
        let decided = [other].decided(by: decisions((.refused, refused)), for: Self.album, among: [])
        #expect(decided.map(\.certainty) == [certainty])
    }

    // MARK: Names

    private func candidate(_ source: SourceName, _ id: String?, _ url: String) -> SourceCandidate {
        SourceCandidate(source: source, album: Self.album, pictures: [url], id: id)
    }

    @Test(arguments: [
        ("https://a.example/x/100x100bb.jpg", "https://a.example/x/3000x3000bb.jpg", true),
        ("https://a.example/release/1/front-1200", "https://a.example/release/1/front", true),
        ("https://a.example/x/100x100bb.jpg", "https://a.example/y/100x100bb.jpg", false),
        ("https://a.example/1.jpg", "https://a.example/2.jpg", false),
    ]) func `a picture is known by its URL without the size`(first: String, second: String, areSame: Bool) {
        let decisions = decisions((.refused, candidate(.itunes, nil, first)))
        #expect((decisions.ruling(on: candidate(.deezer, nil, second).name) == .refused) == areSame)
    }

    @Test func `a picture is known by the source's own identity, wherever it is by now`() {
        let refused = decisions((.refused, candidate(.deezer, "123", "https://a.example/1")))
        #expect(refused.ruling(on: candidate(.deezer, "123", "https://b.example/2").name) == .refused)
        #expect(refused.ruling(on: candidate(.itunes, "123", "https://b.example/2").name) == nil)
    }

    @Test func `of a picture the newest decision counts, of acceptances the newest, and an undone one is none`() {
        let (one, other) = (
            candidate(.deezer, "1", "https://a.example/1"), candidate(.deezer, "2", "https://a.example/2")
        )
        #expect(decisions((.refused, one), (.accepted, one)).ruling(on: one.name) == .accepted)
        #expect(decisions((.accepted, one), (.refused, one)).ruling(on: one.name) == .refused)
        let allowed = decisions((.accepted, one), (.allowed, one))
        #expect(allowed.ruling(on: one.name) == .allowed && allowed.current.isEmpty)
        let both = decisions((.accepted, one), (.accepted, other))
        #expect(both.ruling(on: one.name) == nil && both.current.map(\.picture) == [other.name])
        let all = [Decision.Verdict.refused, .accepted].enumerated().map { number, verdict in
            var decision = Decision(verdict, one.name, of: "1", run: verdict == .accepted ? 7 : nil)
            (decision.number, decision.isUndone) = (Int64(number), verdict == .accepted)
            return decision
        }
        #expect(Decisions(all).ruling(on: one.name) == .refused)
    }

    @Test func `a picture is not refused by way of a third one`() {
        var (refused, third) = (
            candidate(.deezer, "1", "https://a.example/1"), candidate(.deezer, "1", "https://a.example/2")
        )
        let other = candidate(.itunes, "9", "https://a.example/2")
        #expect(decisions((.refused, refused)).ruling(on: third.name) == .refused)
        #expect(decisions((.refused, refused)).ruling(on: other.name) == nil)
        (refused.id, third.id) = (nil, nil)
        #expect(decisions((.refused, refused)).ruling(on: third.name) == nil)
    }
}
