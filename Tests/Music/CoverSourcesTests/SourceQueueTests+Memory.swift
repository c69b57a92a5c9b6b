@testable import CoverSources
import Testing

/// What is remembered of answers.
extension SourceQueueTests {
    @Test func `what was not found is asked again after 30 days, or when that is wanted`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { _, _ in .json(Answers.deezerNothing) }
            let queue = queue([.deezer], service, memory: memory)
            _ = try await queue.find(Self.album)
            clock.advance(.seconds(29 * 86_400))
            let again = try await queue.find(Self.album)
            #expect(service.searches.count == 1)
            #expect(again.answers.first?.kind == .notFound)
            #expect(again.answers.first?.time == TestClock.start)
            _ = try await self.queue([.deezer], service, memory: memory, retriesMissing: true).find(Self.album)
            #expect(service.searches.count == 2)
            clock.advance(.seconds(31 * 86_400))
            _ = try await queue.find(Self.album)
            #expect(service.searches.count == 3)
        }
    }

    @Test func `that a server has no picture of a cover counts as long as that a source has no album`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { url, _ in
                .json(
                    url.contains("itunes")
                        ? Answers.iTunes("A", "B", year: 1994, tracks: 10) : Answers.deezer("A", "B", tracks: 10))
            }
            func find(retriesMissing: Bool = false) async throws -> SourceCandidate? {
                try await queue([.itunes, .deezer], service, memory: memory, retriesMissing: retriesMissing)
                    .find(Self.album).certain
            }
            let found = try #require(try await find())
            #expect(found.source == .itunes)
            await queue([.itunes], service, memory: memory).note(.absent, of: found)
            #expect(try await find()?.source == .deezer)
            clock.advance(.seconds(29 * 86_400))
            #expect(try await find()?.source == .deezer)
            #expect(try await find(retriesMissing: true)?.source == .itunes)
            clock.advance(.seconds(2 * 86_400))
            #expect(try await find()?.source == .itunes)
        }
    }

    @Test func `throttles and failures are told of and not kept`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { url, _ in
                url.contains("deezer") ? .json(Answers.deezerThrottle) : SourceResponse(status: 500)
            }
            let found = try await queue([.deezer, .itunes], service, memory: memory).find(Self.album)
            #expect(found.answers.map(\.kind) == [.throttled, .failed])
            #expect(try await kept(memory, Self.album).answers.isEmpty)
            let working = TestService(clock) { url, _ in
                .json(url.contains("deezer") ? Answers.deezerNothing : Answers.iTunes("A", "B", year: 1994, tracks: 10))
            }
            #expect(try await queue([.deezer, .itunes], working, memory: memory).find(Self.album).certain != nil)
            #expect(working.urls.count == 2)
        }
    }

    @Test func `what was found is used again for a week, judged anew`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { _, _ in .json(Answers.deezer("A", "B", tracks: 10)) }
            let queue = queue([.deezer], service, memory: memory)
            let doubtful = AlbumQuery(artist: "A", title: "B", year: 1994)
            #expect(try await queue.find(doubtful).candidates.first?.certainty == .doubtful)
            #expect(try await kept(memory, doubtful).covers.map(\.certainty) == [.doubtful])
            #expect(try await queue.find(Self.album).certain?.pictures.count == 2, "its tracks are known now")
            #expect(service.searches.count == 1)
            clock.advance(.seconds(8 * 86_400))
            _ = try await queue.find(Self.album)
            #expect(service.searches.count == 2)
        }
    }

    @Test func `an album whose names another one has asked for is asked for what tells them apart`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let lengths = (1...10).map { 180_000 + $0 * 7_000 }
            let details = Answers.deezerAlbum("A", "B", year: 1994, lengths: lengths)
            let service = TestService(clock, details: { $0.contains("/album/1") ? .json(details) : nil }) { _, _ in
                .json(Answers.deezer("A", "B", tracks: 10))
            }
            let queue = queue([.deezer], service, memory: memory)
            let other = AlbumQuery(artist: "A", title: "B", year: 1969, trackCounts: [4], hasNamesake: true)
            #expect(try await queue.find(other).certain == nil)
            #expect(service.urls.count == 1, "no more would make it certain")
            let album = AlbumQuery(artist: "A", title: "B", trackCounts: [10], lengths: lengths, hasNamesake: true)
            #expect(try await kept(memory, album).complete.isEmpty)
            #expect(try await queue.find(album).certain?.source == .deezer)
            #expect(service.urls.count == 2)
            #expect(try await kept(memory, album).complete == [.deezer])
        }
    }
}
