@testable import CoverSources
import Testing

/// What a person decides about doubtful covers.
@Suite(.timeLimit(.minutes(5))) struct SourceDecisionTests {
    private let clock = TestClock()
    /// Doubtful at Deezer, whose album has another number of tracks.
    private static let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10)

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
        _ memory: SourceMemory, _ service: TestService, retriesMissing: Bool = false
    ) async throws -> SourceFindings {
        try await SourceQueue(
            sources: CoverSource.table([.deezer]), userAgent: "Sleeve", memory: memory, retriesMissing: retriesMissing,
            clock: clock.source, transport: service.transport
        ).find(Self.album)
    }

    @Test func `an accepted cover is certain, without a request, and after the source was asked again`() async throws {
        try await withDoubtful { memory, service, candidate in
            try await memory.accept(candidate, of: Self.album.key)
            #expect(try await memory.doubtfulAlbums().isEmpty)
            #expect(try await find(memory, service).certain?.match.reason == "accepted by you")
            #expect(service.searches.count == 1)
            clock.advance(.seconds(8 * 86_400))
            #expect(try await find(memory, service).certain?.pictures == candidate.pictures)
            #expect(service.searches.count == 2)
        }
    }

    @Test func `an acceptance that is withdrawn leaves what was judged`() async throws {
        try await withDoubtful { memory, service, candidate in
            try await memory.accept(candidate, of: Self.album.key)
            // Asked again meanwhile.
            clock.advance(.seconds(8 * 86_400))
            #expect(try await find(memory, service).certain != nil)
            try await memory.withdrawAcceptance(of: Self.album.key)
            #expect(try await memory.doubtfulAlbums() == [Self.album.key])
            #expect(try await memory.record(of: Self.album.key).candidates.map(\.match) == [candidate.match])
            #expect(try await find(memory, service).certain == nil)
        }
    }

    @Test func `a refused cover is not proposed again, and costs no request`() async throws {
        try await withDoubtful { memory, service, candidate in
            try await memory.refuse([candidate], of: Self.album.key)
            #expect(try await memory.doubtfulAlbums().isEmpty)
            #expect(try await memory.record(of: Self.album.key).candidates.isEmpty)
            #expect(try await find(memory, service).candidates.isEmpty)
            #expect(service.searches.count == 1)
            clock.advance(.seconds(8 * 86_400))
            #expect(try await find(memory, service).candidates.isEmpty)
            #expect(try await memory.doubtfulAlbums().isEmpty)
        }
    }

    @Test func `what has shown of a cover since, and how good it is, is remembered`() async throws {
        try await withDoubtful { memory, _, candidate in
            let judged = candidate.judged(.repeated)
            try await memory.judge(judged, of: Self.album.key)
            #expect(try await memory.record(of: Self.album.key).candidates.map(\.match) == [judged.match])
        }
    }

    @Test func `asking again for what is missing proposes no refused cover`() async throws {
        try await withDoubtful { memory, service, candidate in
            try await memory.refuse([candidate], of: Self.album.key)
            #expect(try await find(memory, service, retriesMissing: true).candidates.isEmpty)
            #expect(try await memory.doubtfulAlbums().isEmpty && service.searches.count == 2)
        }
    }

    @Test func `a refusal is listed with what was found, and can be withdrawn`() async throws {
        try await withDoubtful { memory, service, candidate in
            try await memory.refuse([candidate], of: Self.album.key)
            let refused = try await memory.record(of: Self.album.key).rejected
            #expect(refused.map(\.album) == [candidate.album] && refused.map(\.match) == [.refused])
            try await memory.allow(refused, of: Self.album.key)
            #expect(try await find(memory, service).candidates.map(\.certainty) == [.doubtful])
            #expect(try await memory.doubtfulAlbums() == [Self.album.key])
        }
    }

    @Test func `a certain cover that was refused stays away, that of the album's id, too`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { _, _ in .json(Answers.deezer("A", "B", tracks: 10)) }
            let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10, releaseID: Answers.release)
            let queue = SourceQueue(
                sources: CoverSource.table([.caa, .deezer]), userAgent: "Sleeve", memory: memory, clock: clock.source,
                transport: service.transport)
            for source in [SourceName.caa, .deezer] {
                let certain = try #require(try await queue.find(album).certain)
                #expect(certain.source == source)
                let url = try #require(certain.pictures.first)
                #expect(await queue.cover(at: url, for: album)?.match?.certainty == .certain)
                try await memory.refuse([certain], of: album.key)
                #expect(await queue.cover(at: url, for: album)?.match?.certainty == Match.Certainty.none)
            }
            #expect(try await queue.find(album).candidates.isEmpty)
        }
    }

    @Test func `after a certain cover was refused, that of another source is doubtful, and listed`() async throws {
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
            try await memory.refuse([first], of: Self.album.key)
            let found = try await queue.find(Self.album).candidates
            #expect(found.map(\.source) == [.itunes] && found.map(\.certainty) == [.doubtful])
            #expect(try await memory.doubtfulAlbums() == [Self.album.key])
            try await memory.accept(found[0], of: Self.album.key)
            #expect(try await queue.find(Self.album).certain?.source == .itunes)
        }
    }
}
