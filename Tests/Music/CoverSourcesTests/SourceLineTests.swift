@testable import CoverSources
import Synchronization
import Testing
import Wire

/// Albums that wait in line for a source.
@Suite(.timeLimit(.minutes(5))) struct SourceLineTests {
    private let clock = TestClock()

    private func album(_ number: Int) -> AlbumQuery {
        AlbumQuery(artist: "A", title: "Harbour \(number)", year: 1994, trackCount: 10)
    }

    /// A queue with 25 albums in line for iTunes, which does not answer before `isOpen`. At 20 requests a minute they take over a minute.
    private func withLine(
        deezer: String,
        _ body: (_ queue: SourceQueue, _ service: TestService, _ open: () -> Void) async throws -> Void
    ) async throws {
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let service = TestService(
            clock, details: { _ in .json(#"{"title": "Harbour 99", "release_date": "1994-05-10"}"#) }
        ) { url, number in
            if url.contains("deezer") { return .json(deezer) }
            if number == 1 { for await _ in gate {} }
            return .json(Answers.iTunes("A", "Harbour 99", year: 1994, tracks: 10))
        }
        let queue = SourceQueue(
            sources: CoverSource.table([.itunes, .deezer]), userAgent: "Sleeve", clock: clock.source,
            transport: service.transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<25 { group.addTask { _ = try await queue.find(album(number), skipping: [.deezer]) } }
            try await eventually { await queue.slowest(more: 0)?.time ?? .zero >= .seconds(70) }
            try await body(queue, service) { opening.finish() }
            opening.finish()
            try await group.waitForAll()
        }
    }

    @Test func `no album passes a source because others wait for it`() async throws {
        try await withLine(deezer: Answers.deezer("A", "Harbour 99", tracks: 10)) { queue, service, open in
            async let findings = queue.find(album(99))
            // It is in line, with 24 before it.
            try await eventually { await queue.slowest(more: 0)?.time ?? .zero >= .seconds(75) }
            open()
            let found = try await findings
            #expect(found.certain?.source == .itunes && found.answers.map(\.source) == [.itunes])
            #expect(service.urls.allSatisfy { !$0.contains("deezer") })
        }
    }

    @Test func `the time that is left is that of the slowest source`() async throws {
        try await withLine(deezer: Answers.deezerNothing) { queue, _, _ in
            let slowest = try #require(await queue.slowest(more: 0))
            #expect(slowest.source == .itunes)
            #expect(slowest.time == .seconds(72), "24 albums wait, 20 a minute")
            let longer = try #require(await queue.slowest(more: 25)).time
            #expect((.seconds(146)...(.seconds(148))).contains(longer), "as many are to come")
        }
    }

    @Test func `albums that will come to a slow source count, as many as of those that came past it`() async throws {
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let isClosed = Mutex(false)
        let service = TestService(clock) { url, _ in
            if url.contains("musicbrainz"), isClosed.withLock({ $0 }) { for await _ in gate {} }
            return .json(#"{"releases": [], "results": []}"#)
        }
        let queue = SourceQueue(
            sources: CoverSource.table([.musicbrainz, .itunes]), userAgent: "Sleeve (me@example.org)",
            clock: clock.source, transport: service.transport)
        for number in 0..<2 { _ = try await queue.find(album(number)) }
        isClosed.withLock { $0 = true }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 2..<12 { group.addTask { _ = try await queue.find(album(number)) } }
            // All are at MusicBrainz, which had none of the first two.
            try await eventually { await queue.slowest(more: 0)?.source == .itunes }
            opening.finish()
            try await group.waitForAll()
        }
    }
}
