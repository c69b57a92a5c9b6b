@testable import CoverSources
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct SourceQueueTests {
    let clock = TestClock()
    static let contact = "Sleeve/0.1.0 (me@example.org)"
    static let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10)

    func queue(
        _ names: [SourceName], _ service: TestService, userAgent: String = contact, memory: SourceMemory? = nil,
        rates: SourceRates? = nil, retriesMissing: Bool = false, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) -> SourceQueue {
        SourceQueue(
            sources: CoverSource.table(names), userAgent: userAgent, memory: memory, rates: rates,
            retriesMissing: retriesMissing,
            clock: clock.source, notice: notice, transport: service.transport)
    }

    func albums(_ count: Int) -> [AlbumQuery] {
        (0..<count).map { AlbumQuery(artist: "A", title: "\($0) Album", year: 1994) }
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
        #expect(second.certain?.source == .deezer && service.searches.count == 2)
    }

    @Test func `an id proves nothing where MusicBrainz was not asked what it is of, or does not know it`() async throws
    {
        let service = TestService(clock) { _, _ in .json(#"{"releases": [], "results": [], "data": []}"#) }
        let query = AlbumQuery(artist: "A", title: "B", releaseID: Answers.release)
        let silent = try await queue([.caa, .musicbrainz, .itunes], service, userAgent: "Sleeve/0.1.0").find(query)
        #expect(silent.candidates.isEmpty && silent.answers.first?.kind == .notAsked)
        #expect(service.urls.allSatisfy { $0.contains("itunes") })
        // Who names the archive without MusicBrainz trusts the ids.
        let trusted = try await queue([.caa], service, userAgent: "Sleeve/0.1.0").find(query)
        #expect(trusted.certain?.source == .caa && service.urls.allSatisfy { $0.contains("itunes") })
        let unknown = try await queue([.caa, .musicbrainz], service).find(query)
        #expect(unknown.candidates.isEmpty && unknown.answers.first?.kind == .notFound)
    }

    @Test func `what an id is of is asked even if MusicBrainz is no source`() async throws {
        let service = TestService(
            clock, details: { _ in .json(Answers.musicBrainzRelease("A", "B", year: 1994, lengths: [1, 2])) }
        ) { _, _ in .json("") }
        let query = AlbumQuery(artist: "A", title: "B", releaseID: Answers.release)
        let queue = SourceQueue(
            sources: CoverSource.table([.caa]), others: CoverSource.table([.musicbrainz]), userAgent: Self.contact,
            clock: clock.source, transport: service.transport)
        #expect(try await queue.find(query).certain?.source == .caa)
        #expect(service.urls == [Answers.releaseURL])
    }

    @Test(arguments: [("A", "B", true), ("A", "C", false), ("Z", "B", false)])
    func `an id is worth what MusicBrainz says of it`(_ artist: String, _ title: String, _ isRight: Bool) async throws {
        let service = TestService(
            clock, details: { _ in .json(Answers.musicBrainzRelease(artist, title, year: 1994, lengths: [1, 2])) }
        ) { _, _ in .json(#"{"releases": [], "results": [], "data": []}"#) }
        let query = AlbumQuery(artist: "A", title: "B", releaseID: Answers.release)
        let findings = try await queue(CoverSource.table().map(\.name), service).find(query)
        #expect((findings.certain?.source == .caa) == isRight)
        #expect(service.urls.first == Answers.releaseURL)
        if isRight { #expect(service.urls.count == 1 && findings.certain?.album.releaseGroupID == Answers.group) }
    }

    @Test func `a certain album gives its date and lengths before it counts, once`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(
                clock, details: { _ in .json(#"{"title": "B", "release_date": "1985-01-01"}"#) }
            ) { _, _ in .json(Answers.deezer("A", "B", tracks: 10)) }
            for _ in 0..<2 {
                let findings = try await queue([.deezer], service, memory: memory).find(Self.album)
                #expect(findings.certain == nil && findings.candidates.first?.album.year == 1985)
                #expect(findings.candidates.first?.match.reason.contains("1985 where yours is of 1994") == true)
            }
            #expect(service.urls.count == 2 && service.urls.last == "https://api.deezer.com/album/1")
        }
    }

    @Test func `lengths that differ make an equal number doubtful, at each source`() async throws {
        let lengths = (0..<10).map { 150_000 + $0 * 11_000 }
        let wanted = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10, lengths: lengths)
        for (name, factor) in [
            (SourceName.musicbrainz, 1), (.musicbrainz, 2), (.itunes, 1), (.itunes, 2), (.deezer, 1), (.deezer, 2),
        ] {
            let theirs = lengths.map { $0 * factor }
            let service = TestService(
                clock,
                details: { url in
                    .json(
                        url.contains("lookup")
                            ? Answers.iTunesSongs(theirs)
                            : url.contains("deezer")
                                ? Answers.deezerAlbum("A", "B", year: 1994, lengths: theirs)
                                : Answers.musicBrainzRelease("A", "B", year: 1994, lengths: theirs))
                }
            ) { url, _ in
                .json(
                    url.contains("itunes")
                        ? Answers.iTunes("A", "B", year: 1994, tracks: 10)
                        : url.contains("deezer")
                            ? Answers.deezer("A", "B", tracks: 10)
                            : Answers.musicBrainz("A", "B", date: "1994", tracks: 10).replacing("Friends", with: "")
                                .replacing(" & ", with: ""))
            }
            let findings = try await queue([name], service).find(wanted)
            #expect((findings.certain != nil) == (factor == 1), "\(name): \(findings.candidates.map(\.match.reason))")
        }
    }

    @Test(arguments: [(10, 0), (10, 90_000), (11, 0)])
    func `an album with other names is asked for its lengths, if it may have them`(
        _ tracks: Int, _ more: Int
    ) async throws {
        let lengths = (0..<10).map { 150_000 + $0 * 11_000 }
        let wanted = AlbumQuery(artist: "陈晓龙", title: "龙与云", year: 1994, trackCount: 10, lengths: lengths)
        let service = TestService(
            clock,
            details: { _ in .json(Answers.deezerAlbum("陳曉龍", "龍與雲", year: 1994, lengths: lengths.map { $0 + more })) }
        ) { _, _ in .json(Answers.deezer("陳曉龍", "龍與雲", tracks: tracks)) }
        let found = try await queue([.deezer], service).find(wanted)
        #expect(found.candidates.map(\.certainty) == (tracks == 10 && more == 0 ? [.doubtful] : []))
        #expect(service.urls.count - service.searches.count == (tracks == 10 ? 1 : 0), "one request more at the most")
    }

    @Test func `a title is searched for as it is written, then without brackets, until an album may be it`()
        async throws
    {
        let service = TestService(clock) { url, _ in
            .json(
                url.contains("FLAC") ? Answers.deezer("Z", "Y", tracks: 3) : Answers.deezer("A", "Harbour", tracks: 10))
        }
        let query = AlbumQuery(artist: "A", title: "Harbour [FLAC]", year: 1994, trackCount: 10)
        #expect(try await queue([.deezer], service).find(query).certain?.album.title == "Harbour")
        #expect(service.searches.count == 2)
    }

    @Test func `of equal evidence the title as written decides`() async throws {
        let answers = [
            Answers.iTunes("A", "Harbour 2", year: 1994, tracks: 10),
            Answers.iTunes("A", "Harbour II", year: 1994, tracks: 10),
        ]
        let both =
            answers[0].replacing("]}", with: ", ") + answers[1].split(separator: "[")[1].replacing("/b/", with: "/c/")
        let service = TestService(clock) { _, _ in .json(both) }
        for title in ["Harbour 2", "Harbour II"] {
            let query = AlbumQuery(artist: "A", title: title, year: 1994, trackCount: 10)
            #expect(try await queue([.itunes], service).find(query).certain?.album.title == title)
        }
    }

    @Test func `many requests are spread over the interval, few are sent immediately`() async throws {
        for count in [5, 40] {
            let service = TestService(clock) { _, _ in .json(#"{"results": []}"#) }
            let queue = queue([.itunes], service)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for album in albums(count) { group.addTask { _ = try await queue.find(album) } }
                try await group.waitForAll()
            }
            let gaps = zip(service.times, service.times.dropFirst()).map { $1 - $0 }
            if count == 5 { #expect(gaps.allSatisfy { $0 == .zero }) }
            #expect(gaps.allSatisfy { $0 <= .seconds(3) }, "no silence")
        }
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

    @Test(arguments: [true, false])
    func `a cover of another edition is taken if no source has one of the album's own`(_ isElsewhere: Bool) async throws
    {
        let service = TestService(clock) { url, _ in
            if url.contains("deezer") {
                return .json(isElsewhere ? Answers.deezer("A", "B", tracks: 10) : Answers.deezerNothing)
            }
            return .json(Answers.iTunes("A", "B (Deluxe Edition)", year: 1994, tracks: 10))
        }
        let queue = queue([.itunes, .deezer], service)
        let findings = try await queue.find(Self.album)
        #expect(findings.candidates.map(\.source) == (isElsewhere ? [.deezer, .itunes] : [.itunes]))
        #expect(findings.candidates.allSatisfy { $0.certainty == .certain })
        #expect(service.searches.count == 2)
    }

    // MARK: Lengths that a source does not tell

    private static let lengths = (0..<10).map { 150_000 + $0 * 11_000 }
    private static let timed = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10, lengths: lengths)

    /// MusicBrainz has the album without lengths. Deezer has one of its name with the lengths, or with others, or none, or cannot be asked.
    @Test(arguments: ["same", "other", "none", "busy"])
    func `an album without lengths is certain if the next quick source knows none of its name with others`(
        _ deezer: String
    ) async throws {
        let (service, isBusy) = (witnessed(by: deezer), deezer == "busy")
        let findings = try await queue([.musicbrainz, .itunes, .deezer], service).find(Self.timed)
        let isCertain = ["same", "none"].contains(deezer)
        #expect((findings.certain?.source == .musicbrainz) == isCertain, "\(findings.candidates.map(\.match.reason))")
        #expect(service.urls.contains { $0.contains("deezer") })
        if isBusy {
            #expect(findings.candidates.isEmpty, "it waits for the next fill")
            #expect(findings.answers.contains { $0.source == .deezer && $0.kind == .failed })
        } else {
            #expect(findings.candidates.contains { $0.source == .musicbrainz })
        }
        // A slow source is asked in its turn only.
        #expect(service.urls.contains { $0.contains("itunes") } == !isCertain)
    }

    private func witnessed(by deezer: String) -> TestService {
        let theirs = Self.lengths.map { deezer == "same" ? $0 : $0 * 2 }
        return TestService(
            clock,
            details: { url in
                let silent = Answers.musicBrainzRelease("A", "B", year: 1994, lengths: Array(repeating: 0, count: 10))
                return .json(
                    url.contains("deezer")
                        ? Answers.deezerAlbum("A", "B", year: 1994, lengths: theirs) : silent)
            }
        ) { url, _ in
            if url.contains("itunes") { return .json(#"{"results": []}"#) }
            guard url.contains("deezer") else {
                return .json(
                    Answers.musicBrainz("A", "B", date: "1994", tracks: 10).replacing("Friends", with: "")
                        .replacing(" & ", with: ""))
            }
            if deezer == "busy" { return SourceResponse(status: 500) }
            return .json(deezer == "none" ? Answers.deezerNothing : Answers.deezer("A", "B", tracks: 10))
        }
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

    @Test func `a rate holds for several runs, processes and libraries together`() async throws {
        try await withFolder { folder in
            let service = TestService(clock) { _, _ in .json(#"{"releases": []}"#) }
            for run in 0..<3 {
                let rates = try SourceRates(path: folder + "/state/r.sqlite3")
                let other = try SourceRates(path: folder + "/state/r.sqlite3")
                for (index, rates) in [rates, other, rates].enumerated() {
                    let memory = try SourceMemory(path: folder + "/\(index).sqlite3") { _ in }
                    let album = AlbumQuery(artist: "A", title: "\(run) \(index) Album")
                    _ = try await queue([.musicbrainz], service, memory: memory, rates: rates).find(album)
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

    @Test func `what MusicBrainz has answered counts in a run without a contact`() async throws {
        try await withFolder { folder in
            let service = TestService(clock) { _, _ in
                .json(Answers.musicBrainz("A", "B", date: "1994", tracks: 10))
            }
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let first = try await queue([.musicbrainz], service, memory: memory).find(Self.album)
            let asked = service.urls.count
            let second = try await queue([.musicbrainz], service, userAgent: "Sleeve/0.1.0", memory: memory)
                .find(Self.album)
            #expect(first.answers.map(\.kind) == [.found] && second.answers.map(\.kind) == [.found])
            #expect(second.candidates.map(\.pictures) == first.candidates.map(\.pictures))
            #expect(service.urls.count == asked)
            #expect(try await kept(memory, Self.album).answers.map(\.kind) == [.found])
        }
    }

    @Test func `a throttled source is left alone for longer each time, then asked again`() async throws {
        let service = TestService(clock) { _, number in
            number <= 2 ? .json(Answers.deezerThrottle) : .json(Answers.deezer("A", "B", tracks: 10))
        }
        let findings = try await queue([.deezer], service).find(Self.album)
        #expect(findings.certain?.source == .deezer)
        #expect(service.times.prefix(3) == [.zero, .seconds(5), .seconds(15)])
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
            if answer?.detail.hasPrefix("given up") == true { givenUp += 1 }
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
}
