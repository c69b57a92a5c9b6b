@testable import CoverSources
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct SourceQueueTests {
    private let clock = TestClock()
    private static let contact = "Sleeve/0.1.0 (me@example.org)"
    private static let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10)

    private func queue(
        _ names: [SourceName], _ service: TestService, userAgent: String = contact, memory: SourceMemory? = nil,
        retriesMissing: Bool = false, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) -> SourceQueue {
        SourceQueue(
            sources: CoverSource.table(names), userAgent: userAgent, memory: memory, retriesMissing: retriesMissing,
            clock: clock.source, notice: notice, transport: service.transport)
    }

    private func albums(_ count: Int) -> [AlbumQuery] {
        (0..<count).map { AlbumQuery(artist: "A", title: "Album \($0)", year: 1994) }
    }

    // MARK: Order

    @Test func `sources are asked in order until one is certain`() async throws {
        let service = TestService(clock) { url, _ in
            if url.contains("deezer") { return .json(Answers.deezerNothing) }
            return .json(Answers.iTunes("A", "B", year: 1994, tracks: 10))
        }
        let findings = try await queue([.deezer, .itunes, .musicbrainz], service).find(Self.album)
        #expect(findings.answers.map(\.source) == [.deezer, .itunes])
        #expect(findings.answers.map(\.kind) == [.notFound, .found])
        #expect(findings.certain?.source == .itunes)
        #expect(service.urls.count == 2)
    }

    @Test func `the sources that are left are asked after a picture could not be downloaded`() async throws {
        let service = TestService(clock) { url, _ in
            url.contains("deezer")
                ? .json(Answers.deezer("A", "B", tracks: 10)) : .json(Answers.iTunes("A", "B", year: 1994, tracks: 10))
        }
        let queue = queue([.itunes, .deezer], service)
        let first = try await queue.find(Self.album)
        #expect(first.certain?.source == .itunes)
        let second = try await queue.find(Self.album, skipping: first.askedSources)
        #expect(second.certain?.source == .deezer && service.urls.count == 2)
    }

    @Test func `an album with ids needs no request`() async throws {
        let service = TestService(clock) { _, _ in .json("") }
        let query = AlbumQuery(artist: "A", title: "B", releaseID: Answers.release)
        let findings = try await queue(SourceName.allCases, service).find(query)
        #expect(findings.certain?.pictures.count == 3 && service.urls.isEmpty)
    }

    @Test func `a wrong first result is no match`() async throws {
        let service = TestService(clock) { _, _ in .json(Answers.deezer("Z", "Something else", tracks: 10)) }
        let findings = try await queue([.deezer], service).find(Self.album)
        #expect(findings.candidates.isEmpty && findings.answers.first?.kind == .notFound)
    }

    @Test func `doubtful covers are listed after certain ones, and end no search`() async throws {
        let service = TestService(clock) { url, _ in
            url.contains("deezer")
                ? .json(Answers.deezer("A", "B", tracks: 11)) : .json(Answers.iTunes("A", "B", year: 1994, tracks: 10))
        }
        let findings = try await queue([.deezer, .itunes], service).find(Self.album)
        #expect(findings.candidates.map(\.certainty) == [.certain, .doubtful])
        #expect(findings.candidates.map(\.source) == [.itunes, .deezer])
    }

    // MARK: Manners

    @Test func `requests to MusicBrainz are sent one at a time, a second apart`() async throws {
        let service = TestService(clock) { _, _ in .json(#"{"releases": []}"#) }
        let queue = queue([.musicbrainz], service)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for album in albums(12) { group.addTask { _ = try await queue.find(album) } }
            try await group.waitForAll()
        }
        #expect(service.urls.count == 12 && service.peak == 1)
        for (first, second) in zip(service.times, service.times.dropFirst()) { #expect(second - first >= .seconds(1)) }
    }

    @Test(arguments: [(SourceName.itunes, 20, 60), (.deezer, 50, 5)])
    func `a rate holds in every interval`(_ name: SourceName, _ requests: Int, _ seconds: Int) async throws {
        let service = TestService(clock) { [clock] _, _ in
            clock.advance(.milliseconds(7))
            return .json(#"{"results": [], "data": []}"#)
        }
        let queue = queue([name], service)
        for album in albums(requests * 3) { _ = try await queue.find(album) }
        let times = service.times
        for (index, time) in times.enumerated() where index >= requests {
            #expect(time - times[index - requests] >= .seconds(seconds))
        }
        #expect(times[requests - 1] < .seconds(1), "it starts at once")
    }

    @Test func `a rate holds for several runs and processes of a library together`() async throws {
        try await withFolder { folder in
            let service = TestService(clock) { _, _ in .json(#"{"releases": []}"#) }
            for run in 0..<3 {
                let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
                let other = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
                for (index, memory) in [memory, other, memory].enumerated() {
                    let album = AlbumQuery(artist: "A", title: "Album \(run) \(index)")
                    _ = try await queue([.musicbrainz], service, memory: memory).find(album)
                }
            }
            #expect(service.times.count == 9)
            for (first, second) in zip(service.times, service.times.dropFirst()) {
                #expect(second - first >= .seconds(1))
            }
        }
    }

    @Test func `MusicBrainz is not asked without a contact, which is said once, when another source is asked`()
        async throws
    {
        let service = TestService(clock) { _, _ in .json(Answers.deezer("X", "Y", tracks: 3)) }
        let notices = Mutex<[String]>([])
        let queue = queue([.musicbrainz, .deezer], service, userAgent: "Sleeve/0.1.0") { notice in
            notices.withLock { $0.append(notice) }
        }
        for album in albums(3) {
            let findings = try await queue.find(album)
            #expect(findings.answers.first?.kind == .notAsked)
        }
        #expect(service.urls.count == 3 && service.urls.allSatisfy { $0.contains("deezer") })
        #expect(notices.withLock { $0.count } == 1)
        #expect(notices.withLock { $0.first?.contains("--contact") } == true)
    }

    @Test func `a throttled source is left alone for longer each time, then asked again`() async throws {
        let service = TestService(clock) { _, number in
            number <= 2 ? .json(Answers.deezerThrottle) : .json(Answers.deezer("A", "B", tracks: 10))
        }
        let findings = try await queue([.deezer], service).find(Self.album)
        #expect(findings.certain?.source == .deezer)
        #expect(service.times == [.zero, .seconds(5), .seconds(15)])
    }

    @Test func `a source that does not answer holds up no other`() async throws {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let service = TestService(clock) { url, _ in
            if url.contains("itunes") { return .json(Answers.iTunes("A", "B", year: 1994, tracks: 10)) }
            continuation.yield()
            try await Task.sleep(for: .seconds(3_600))
            return .json("")
        }
        let queue = queue([.deezer, .itunes], service)
        let stalled = Task { try await queue.find(Self.album) }
        for await _ in started { break }
        #expect(try await queue.find(Self.album, skipping: [.deezer]).certain?.source == .itunes)
        stalled.cancel()
        await #expect(throws: CancellationError.self) { try await stalled.value }
    }

    @Test func `a source that only throttles is never “not found”, and is given up for the run`() async throws {
        let service = TestService(clock) { _, _ in .json(Answers.deezerThrottle) }
        let notices = Mutex<[String]>([])
        let queue = queue([.deezer], service) { notice in notices.withLock { $0.append(notice) } }
        for album in albums(5) {
            let answer = try await queue.find(album).answers.first
            #expect(answer?.kind == .throttled || answer?.kind == .failed)
        }
        #expect(service.urls.count == SourceLimiter.maximumThrottles)
        #expect(notices.withLock { $0.count } == 1)
    }

    @Test func `a network that is down is tried a few times, and said once`() async throws {
        let service = TestService(clock) { _, _ in throw SourceTransportError("cannot connect") }
        let notices = Mutex<[String]>([])
        let queue = queue([.itunes], service) { notice in notices.withLock { $0.append(notice) } }
        var givenUp = 0
        for album in albums(20) {
            let answer = try await queue.find(album).answers.first
            #expect(answer?.kind == .failed && answer?.detail.contains("cannot connect") == true)
            if answer?.isGivenUp == true { givenUp += 1 }
        }
        #expect(givenUp > 20 - SourceLimiter.maximumFailures && givenUp < 20)
        #expect(service.urls.count == SourceLimiter.maximumFailures)
        #expect(notices.withLock { $0 }.count == 1)
    }

    @Test func `a connection that breaks once costs nothing`() async throws {
        let service = TestService(clock) { _, number in
            if number == 1 { throw SourceTransportError("reset") }
            return .json(Answers.deezer("A", "B", tracks: 10))
        }
        #expect(try await queue([.deezer], service).find(Self.album).certain != nil)
    }

    @Test func `a long answer is not read`() async throws {
        let service = TestService(clock) { _, _ in
            SourceResponse(status: 200, body: [UInt8](repeating: 0x20, count: SourceResponse.maximumSize + 1))
        }
        #expect(try await queue([.deezer], service).find(Self.album).answers.first?.kind == .failed)
    }

    @Test func `cancelling ends a caller that has the source and one that waits for it`() async throws {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let service = TestService(clock) { _, _ in
            continuation.yield()
            try await Task.sleep(for: .seconds(3_600))
            return .json("")
        }
        let queue = queue([.deezer], service)
        let all = albums(3)
        let first = Task { try await queue.find(all[0]) }
        for await _ in started { break }
        let second = Task { try await queue.find(all[1]) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        // The source is free again.
        let third = Task { try await queue.find(all[2]) }
        for await _ in started { break }
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        #expect(service.urls.count == 2)
    }

    // MARK: Memory

    @Test func `what was not found is asked again after 30 days, or when that is wanted`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { _, _ in .json(Answers.deezerNothing) }
            let queue = queue([.deezer], service, memory: memory)
            _ = try await queue.find(Self.album)
            clock.advance(.seconds(29 * 86_400))
            let again = try await queue.find(Self.album)
            #expect(service.urls.count == 1)
            #expect(again.answers.first?.isRemembered == true && again.answers.first?.kind == .notFound)
            #expect(again.answers.first?.time == TestClock.start)
            _ = try await self.queue([.deezer], service, memory: memory, retriesMissing: true).find(Self.album)
            #expect(service.urls.count == 2)
            clock.advance(.seconds(31 * 86_400))
            _ = try await queue.find(Self.album)
            #expect(service.urls.count == 3)
        }
    }

    @Test func `throttles and failures are told of but not remembered as absence`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { url, _ in
                url.contains("deezer") ? .json(Answers.deezerThrottle) : SourceResponse(status: 500)
            }
            _ = try await queue([.deezer, .itunes], service, memory: memory).find(Self.album)
            let kinds = try await memory.record(of: Self.album.key).answers.map(\.kind)
            #expect(Set(kinds) == [.throttled, .failed])
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
            #expect(try await memory.doubtfulAlbums() == [doubtful.key])
            #expect(try await queue.find(Self.album).certain?.pictures.count == 3, "its tracks are known now")
            #expect(service.urls.count == 1)
            clock.advance(.seconds(8 * 86_400))
            _ = try await queue.find(Self.album)
            #expect(service.urls.count == 2)
            #expect(try await memory.doubtfulAlbums().isEmpty)
        }
    }
}
