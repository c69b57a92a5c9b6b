@testable import CoverSources
import Foundation
import Testing

/// Discogs, which needs a key of the person.
@Suite struct KeyedSourceTests {
    private static let lengths = [200_000, 230_000, 260_000, 290_000]
    private static let album = AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 4, lengths: lengths)
    private static let keys: [SourceName: String] = [.discogs: "hush-1"]
    private let clock = TestClock()

    private func queue(
        _ service: TestService, notice: @escaping @Sendable (String) -> Void = { _ in }
    ) -> SourceQueue {
        SourceQueue(
            sources: CoverSource.table([.discogs], keys: Self.keys), userAgent: "Sleeve", clock: clock.source,
            notice: notice, transport: service.transport)
    }

    // MARK: Keys

    @Test func `a service that needs a key is asked last, and only with it`() throws {
        let all: [SourceName] = [.caa, .musicbrainz, .itunes, .deezer]
        #expect(CoverSource.table().map(\.name) == all)
        #expect(CoverSource.table(keys: Self.keys).map(\.name) == all + [.discogs])
        let named = try #require(CoverSource.table([.discogs]).first)
        #expect(named.refusal(userAgent: "Sleeve")?.contains("$SLEEVE_DISCOGS_TOKEN") == true)
        #expect(CoverSource.table([.discogs], keys: Self.keys).first?.refusal(userAgent: "Sleeve") == nil)
    }

    @Test func `a key is in the request, and in no URL that is asked for or remembered`() throws {
        let source = CoverSource.table([.discogs], keys: Self.keys)[0]
        #expect(source.key?.authorization == "Discogs token=hush-1")
        #expect(source.searches(Self.album).allSatisfy { !$0.contains("hush") })
    }

    @Test(arguments: [401, 403])
    func `a service that refuses the key is asked once in a run, and that is told once`(_ status: Int) async throws {
        let service = TestService(clock) { _, _ in .json("", status: status) }
        try await confirmation { told in
            let queue = queue(service) { notice in
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
        (429, "", SourceAnswer.Kind.throttled), (200, #"{"results": []}"#, .notFound), (200, "<html>", .failed),
        (500, "", .failed),
    ])
    func `other answers without an album say what they mean`(
        _ status: Int, _ body: String, _ kind: SourceAnswer.Kind
    ) async throws {
        let service = TestService(clock) { _, _ in .json(body, status: status) }
        #expect(try await queue(service).find(Self.album).answers.map(\.kind) == [kind])
    }

    @Test func `a service gets at most sixty requests a minute`() async throws {
        let service = TestService(clock) { _, _ in .json(#"{"results": []}"#) }
        let queue = queue(service)
        for number in 0..<130 {
            _ = try await queue.find(AlbumQuery(artist: "A", title: "Album \(number)x", year: 1994))
        }
        let times = service.times
        try #require(times.count >= 130)
        #expect((60..<times.count).allSatisfy { times[$0] - times[$0 - 60] >= .seconds(60) })
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
        let found = try await queue(service).find(Self.album)
        #expect(service.urls.last == "https://api.discogs.com/masters/5" && service.urls.count == 2)
        #expect((found.certain != nil) == isCertain, "\(found.candidates.map(\.match))")
        #expect(found.candidates.first?.pictures == ["https://i.example/front.jpeg", "https://i.example/5.jpeg"])
    }
}
