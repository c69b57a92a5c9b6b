@testable import CoverSources
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

    @Test func `an album passes a source with a long line if a later one has its cover`() async throws {
        try await withLine(deezer: Answers.deezer("A", "Harbour 99", tracks: 10)) { queue, service, _ in
            let findings = try await queue.find(album(99))
            #expect(findings.certain?.source == .deezer)
            #expect(findings.askedSources == [.deezer], "iTunes may still be asked if the picture is gone")
            #expect(service.searches.count == 2)
        }
    }

    @Test func `an album that no other source has waits in line`() async throws {
        try await withLine(deezer: Answers.deezerNothing) { queue, service, open in
            async let findings = queue.find(album(99))
            // iTunes has one, and no other source is left.
            try await eventually { service.urls.count >= 2 }
            open()
            let found = try await findings
            #expect(found.certain?.source == .itunes)
            #expect(found.answers.map(\.source) == [.deezer, .itunes])
        }
    }

    @Test func `an album does not pass a source for evidence that the source's namesakes would weaken`() async throws {
        let deezer = Answers.deezer("A", "Harbour 99", tracks: 10).replacing(#""id": 1, "#, with: "")
        try await withLine(deezer: deezer) { queue, service, open in
            // Deezer tells no year: iTunes may know of another album of this name.
            async let findings = queue.find(album(99))
            try await eventually { service.urls.count >= 2 }
            open()
            let found = try await findings
            #expect(found.answers.map(\.source) == [.deezer, .itunes])
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
}
