@testable import CoverSources
import Foundation
import Testing

/// Discogs and Last.fm, which need a key of the person.
@Suite struct KeyedSourceTests {
    private static let lengths = [200_000, 230_000, 260_000, 290_000]
    private static let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 4, lengths: lengths)
    private static let keys: [SourceName: String] = [.discogs: "hush-1", .lastfm: "hush 2"]
    private let clock = TestClock()

    private func queue(
        _ names: [SourceName]? = [.discogs, .lastfm], _ service: TestService, keys: [SourceName: String] = keys,
        memory: SourceMemory? = nil, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) -> SourceQueue {
        SourceQueue(
            sources: CoverSource.table(names, keys: keys), userAgent: "Sleeve", memory: memory, clock: clock.source,
            notice: notice, transport: service.transport)
    }

    // MARK: Keys

    @Test func `a service that needs a key is asked last, and only with it`() throws {
        let all: [SourceName] = [.caa, .musicbrainz, .itunes, .deezer]
        #expect(CoverSource.table().map(\.name) == all)
        #expect(CoverSource.table(keys: Self.keys).map(\.name) == all + [.discogs, .lastfm])
        let named = try #require(CoverSource.table([.discogs]).first)
        #expect(named.refusal(userAgent: "Sleeve")?.contains("$SLEEVE_DISCOGS_TOKEN") == true)
        #expect(CoverSource.table([.discogs], keys: Self.keys).first?.refusal(userAgent: "Sleeve") == nil)
    }

    @Test func `a key is in the request, and in no URL that is asked for or remembered`() throws {
        let table = CoverSource.table([.discogs, .lastfm], keys: Self.keys)
        let (discogs, lastFM) = (try #require(table[0].key), try #require(table[1].key))
        #expect(discogs.authorization == "Discogs token=hush-1" && discogs.url(for: "https://a/b?c") == "https://a/b?c")
        #expect(lastFM.authorization == nil && lastFM.url(for: "https://a/b?c") == "https://a/b?c&api_key=hush%202")
        #expect(table.allSatisfy { $0.searches(Self.album).allSatisfy { !$0.contains("hush") } })
    }

    @Test(arguments: [
        (SourceName.discogs, 401, ""), (.discogs, 403, ""), (.lastfm, 403, ""),
        (.lastfm, 200, #"{"error": 10, "message": "Invalid API key"}"#),
        (.lastfm, 200, #"{"error": 26, "message": "API Key Suspended"}"#),
    ])
    func `a service that refuses the key is asked once in a run, and that is told once`(
        _ name: SourceName, _ status: Int, _ body: String
    ) async throws {
        let service = TestService(clock) { _, _ in .json(body, status: status) }
        try await confirmation { told in
            let queue = queue([name], service) { notice in
                told()
                #expect(notice.contains("SLEEVE_") && !notice.contains("hush"), "\(notice)")
            }
            for title in ["B", "C", "D"] {
                let found = try await queue.find(AlbumQuery(artist: "A", title: title, year: 1994))
                #expect(found.answers.map(\.kind) == [.failed])
            }
        }
        #expect(service.urls.count == 1)
    }

    @Test(arguments: [
        (SourceName.discogs, 429, "", SourceAnswer.Kind.throttled), (.discogs, 200, #"{"results": []}"#, .notFound),
        (.discogs, 200, "<html>", .failed), (.discogs, 500, "", .failed), (.lastfm, 404, "", .notFound),
        (.lastfm, 200, #"{"error": 6, "message": "Album not found"}"#, .notFound),
        (.lastfm, 200, #"{"error": 29}"#, .throttled),
        (.lastfm, 200, #"{"error": 11, "message": "offline"}"#, .failed), (.lastfm, 200, "{}", .failed),
        (.lastfm, 200, "[]", .failed),
    ])
    func `other answers without an album say what they mean`(
        _ name: SourceName, _ status: Int, _ body: String, _ kind: SourceAnswer.Kind
    ) async throws {
        let service = TestService(clock) { _, _ in .json(body, status: status) }
        #expect(try await queue([name], service).find(Self.album).answers.map(\.kind) == [kind])
    }

    @Test(arguments: [(SourceName.discogs, Duration.seconds(60)), (.lastfm, .seconds(60))])
    func `a service gets at most sixty requests a minute`(_ name: SourceName, _ interval: Duration) async throws {
        let service = TestService(clock) { _, _ in .json(#"{"results": [], "error": 6}"#) }
        let queue = queue([name], service)
        for number in 0..<130 {
            _ = try await queue.find(AlbumQuery(artist: "A", title: "Album \(number)x", year: 1994))
        }
        let times = service.times
        try #require(times.count >= 130)
        #expect((60..<times.count).allSatisfy { times[$0] - times[$0 - 60] >= interval })
    }

    // MARK: Discogs

    private static let search = """
        {"pagination": {"items": 4}, "results": [
            {"id": 7, "type": "release", "master_id": 5, "title": "A* - B", "year": "2011", "format": ["CD", "Album", "Reissue"],
             "cover_image": "https://i.example/7.jpeg", "thumb": ""},
            {"id": 5, "type": "master", "master_id": 5, "title": "A (2) - B", "year": "1994", "format": ["Vinyl", "LP", "Album"],
             "cover_image": "https://i.example/5.jpeg"},
            {"id": 8, "type": "release", "master_id": 0, "title": "A (2) - B", "year": "1993", "format": ["CD", "Single"],
             "cover_image": "https://st.example/images/spacer.gif"},
            {"id": 9, "type": "artist", "title": "A (2)"}, {"id": "x"}]}
        """

    private static func master(artist: String = "A (2)", year: Int = 1994, durations: [String]) -> String {
        let songs = durations.map { #"{"position": "1", "type_": "track", "title": "x", "duration": "\#($0)"}"# }
        return """
            {"id": 5, "title": "B", "year": \(year), "artists": [{"name": "\(artist)", "anv": "", "join": ""}],
             "tracklist": [{"type_": "heading", "title": "Side A", "duration": ""}, \(songs.joined(separator: ", "))],
             "images": [{"type": "secondary", "uri": "https://i.example/back.jpeg"}, {"type": "primary", "uri": "https://i.example/front.jpeg"}]}
            """
    }

    @Test func `releases of one album are one candidate of Discogs, with the year of the first`() throws {
        let source = CoverSource.table([.discogs])[0]
        #expect(
            source.search(AlbumQuery(artist: "Ann & Bo", title: "B"))
                == "https://api.discogs.com/database/search?artist=Ann%20%26%20Bo&release_title=B&per_page=25")
        #expect(source.search(AlbumQuery(artist: "Various", title: "B"))?.contains("artist=") == false)
        guard case .found(let found) = source.read(.json(Self.search)) else { return #expect(Bool(false)) }
        #expect(found.map(\.album.title) == ["B", "B (Single)"] && found.map(\.album.year) == [1994, 1993])
        #expect(found.map(\.album.artist) == ["A", "A"])
        #expect(found.map(\.pictures) == [["https://i.example/5.jpeg"], []])
    }

    @Test(arguments: [
        (["3:20", "3:50", "4:20", "4:50"], 1994, true), (["3:20", "3:50", "4:20", "4:50"], 1973, false),
        (["9:20", "9:50", "8:20", "8:50"], 1994, false), (["", "", "", ""], 1994, true),
    ])
    func `an album of Discogs gives its year and its songs before it counts`(
        _ durations: [String], _ year: Int, _ isCertain: Bool
    ) async throws {
        let service = TestService(clock) { url, _ in
            .json(url.contains("/search?") ? Self.search : Self.master(year: year, durations: durations))
        }
        let found = try await queue([.discogs], service).find(Self.album)
        #expect(service.urls.last == "https://api.discogs.com/masters/5" && service.urls.count == 2)
        #expect((found.certain != nil) == isCertain, "\(found.candidates.map(\.match))")
        #expect(found.candidates.first?.pictures == ["https://i.example/front.jpeg", "https://i.example/5.jpeg"])
    }

    // MARK: Last.fm

    private static func info(artist: String = "A", tracks: String) -> String {
        """
        {"album": {"artist": "\(artist)", "name": "B", "mbid": "", "tags": "", "playcount": "1", "image": [
            {"size": "small", "#text": "https://l.example/i/u/34s/abc.png"}, {"size": "extralarge", "#text": "https://l.example/i/u/300x300/abc.png"},
            {"size": "", "#text": "https://l.example/i/u/300x300/abc.png"}], "tracks": \(tracks), "url": "https://www.last.fm/music/A/B"}}
        """
    }

    @Test(arguments: [
        (
            #"{"track": [{"duration": 200}, {"duration": 230}, {"duration": "260"}, {"duration": null}]}"#,
            [200_000, 230_000, 260_000, 0]
        ),
        (#"{"track": {"duration": 200, "name": "x"}}"#, [200_000]), (#""""#, []), ("null", []),
    ])
    func `an album of Last.fm has its songs, whatever form they have`(_ tracks: String, _ lengths: [Int]) throws {
        let source = CoverSource.table([.lastfm])[0]
        #expect(
            source.search(AlbumQuery(artist: "A", title: "B"))
                == "https://ws.audioscrobbler.com/2.0/?method=album.getinfo&artist=A&album=B&autocorrect=1&format=json")
        guard case .found(let found) = source.read(.json(Self.info(tracks: tracks))) else {
            return #expect(Bool(false))
        }
        #expect(found.first?.album.lengths == lengths && found.first?.album.artist == "A")
        #expect(found.first?.pictures == ["https://l.example/i/u/abc.png", "https://l.example/i/u/300x300/abc.png"])
    }

    @Test func `an album of Last.fm is judged as any, and its star is no picture`() async throws {
        let tracks = #"{"track": [\#(Self.lengths.map { #"{"duration": \#($0 / 1_000)}"# }.joined(separator: ","))]}"#
        for (artist, picture, isCertain) in [
            ("A", "abc", true), ("Z", "abc", false), ("A", "2a96cbd8b46e442fc41c2b86b821562f", false),
        ] {
            let answer = Self.info(artist: artist, tracks: tracks).replacing("abc", with: picture)
            let service = TestService(clock) { _, _ in .json(answer) }
            let found = try await queue([.lastfm], service).find(Self.album)
            #expect((found.certain != nil) == isCertain && service.urls.count >= 1)
        }
    }
}
