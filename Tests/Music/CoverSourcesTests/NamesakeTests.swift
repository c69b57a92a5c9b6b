@testable import CoverSources
import Testing

/// Albums of one artist and one name.
@Suite(.timeLimit(.minutes(5))) struct NamesakeTests {
    private let clock = TestClock()
    private static let wanted = AlbumQuery(artist: "Low Tide", title: "Harbour", year: 1994, trackCount: 10)

    /// An album as a source describes it.
    private struct Album {
        var year: Int?
        var tracks = 10
        var group = ""
        var artist = "Low Tide"
        var title = "Harbour"
    }

    private static func deezer(_ albums: [Album]) -> String {
        let data = albums.enumerated().map { number, album in
            """
            {"id": \(number), "title": "\(album.title)", "nb_tracks": \(album.tracks), "artist": {"name": "\(album.artist)"},
                "cover_xl": "https://pictures.example/\(number)/1000x1000.jpg"}
            """
        }
        return "{\"data\": [\(data.joined(separator: ", "))]}"
    }

    private static func iTunes(_ albums: [Album]) -> String {
        let results = albums.enumerated().map { number, album in
            """
            {"artistName": "\(album.artist)", "collectionName": "\(album.title)", "trackCount": \(album.tracks),
                "releaseDate": "\(album.year ?? 0)-05-10T07:00:00Z", "artworkUrl100": "https://pictures.example/i\(number)/100x100bb.jpg"}
            """
        }
        return "{\"results\": [\(results.joined(separator: ", "))]}"
    }

    private static func musicBrainz(_ albums: [Album]) -> String {
        let releases = albums.enumerated().map { number, album in
            """
            {"id": "00000000-0000-0000-0000-00000000000\(number)", "title": "\(album.title)", "track-count": \(album.tracks),
                "date": "\(album.year.map { "\($0)" } ?? "")", "artist-credit": [{"name": "\(album.artist)"}],
                "release-group": {"id": "\(album.group)0000000-0000-0000-0000-000000000000"}}
            """
        }
        return "{\"releases\": [\(releases.joined(separator: ", "))]}"
    }

    private func find(
        _ query: AlbumQuery = wanted, musicBrainz: [Album] = [], iTunes: [Album] = [], deezer: [Album],
        _ decisions: Decisions = .init(), skipping skipped: Set<SourceName> = [], memory: SourceMemory? = nil
    ) async throws -> SourceFindings {
        let service = TestService(
            clock,
            details: { url in
                guard let number = url.split(separator: "/").last.flatMap({ Int($0) }), deezer.indices.contains(number),
                    let year = deezer[number].year
                else { return nil }
                return .json("{\"title\": \"\(deezer[number].title)\", \"release_date\": \"\(year)-05-10\"}")
            }
        ) { url, _ in
            .json(
                url.contains("deezer")
                    ? Self.deezer(deezer) : url.contains("itunes") ? Self.iTunes(iTunes) : Self.musicBrainz(musicBrainz)
            )
        }
        return try await SourceQueue(
            sources: CoverSource.table(), userAgent: "Sleeve (me@example.org)", memory: memory, clock: clock.source,
            transport: service.transport
        ).find(query, decisions, skipping: skipped)
    }

    @Test func `albums of one name and length that a source tells no year of are doubtful`() async throws {
        let found = try await find(deezer: [Album(), Album(), Album(tracks: 13)])
        #expect(found.candidates.count == 3 && found.certain == nil)
        #expect(found.candidates.first?.match.reason.contains("another album has this name") == true)
    }

    @Test func `an album that year and number of tracks tell apart from its namesakes is certain`() async throws {
        let dated = [Album(tracks: 1), Album(year: 1994), Album(tracks: 13)]
        #expect(try await find(deezer: dated).certain?.album.year == 1994)
        #expect(try await find(deezer: [Album(tracks: 1), Album(), Album(tracks: 13)]).certain == nil, "by chance")
        #expect(try await find(deezer: [Album(title: "Harbour (Deluxe Edition)"), Album()]).certain != nil)
        #expect(try await find(deezer: [Album(artist: "Low Tides"), Album()]).certain != nil)
    }

    @Test func `an album that one source has in another year makes that of a source without years doubtful`()
        async throws
    {
        let found = try await find(iTunes: [Album(year: 2001)], deezer: [Album()])
        #expect(found.candidates.map(\.source) == [.itunes, .deezer] && found.certain == nil)
        // A single of the name is no such album.
        #expect(try await find(iTunes: [Album(year: 2001, tracks: 2)], deezer: [Album()]).certain?.source == .deezer)
    }

    @Test func `what an earlier source has said of other albums still weighs, refused or not`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let albums = [Album(year: 1994, group: "a"), Album(year: 2001, group: "b")]
            let found = try await find(musicBrainz: albums, deezer: [], memory: memory)
            #expect(found.certain?.album.year == 1994)
            // The archive has no picture of it.
            let next = try await find(
                musicBrainz: albums, deezer: [Album()], skipping: [.caa, .musicbrainz], memory: memory)
            #expect(next.candidates.map(\.certainty) == [.doubtful])
            let decisions = Decisions(
                found.candidates.map { Decision(.refused, $0.name, of: "1", wasCertain: $0.certainty == .certain) })
            let refused = try await find(musicBrainz: albums, deezer: [Album()], decisions, memory: memory)
            #expect(refused.candidates.map(\.certainty) == [.doubtful])
            let answer = refused.answers.first { $0.source == .musicbrainz }
            #expect(answer?.detail.contains("2 refused by you") == true, "it is not asked again")
            let covers = try await kept(memory, Self.wanted, decisions).covers
            #expect(covers.count { $0.match == .refused } == 2)
            #expect(covers.filter { $0.certainty != .none }.map(\.source) == [.deezer])
        }
    }

    @Test func `reissues of one release group are one album`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let albums = [Album(year: 2011, group: "a"), Album(year: 1994, group: "a")]
            #expect(try await find(musicBrainz: albums, deezer: [], memory: memory).certain?.album.year == 1994)
            let next = try await find(deezer: [Album()], skipping: [.caa, .musicbrainz], memory: memory)
            #expect(next.certain?.source == .deezer)
        }
    }

    @Test func `a release group of the year before is doubtful beside one of the year`() async throws {
        let albums = [Album(year: 1993, group: "a"), Album(year: 1994, group: "b")]
        let found = try await find(musicBrainz: albums, deezer: [])
        #expect(found.candidates.map(\.album.year) == [1994, 1993])
        #expect(found.candidates.map(\.certainty) == [.certain, .doubtful])
    }

    @Test func `an album without a year is certain only if no other one has its name and length`() async throws {
        let query = AlbumQuery(artist: "Low Tide", title: "Harbour", trackCount: 10)
        let groups = [Album(year: 1994, group: "a"), Album(year: 2001, group: "b")]
        #expect(try await find(query, musicBrainz: groups, deezer: []).certain == nil)
        #expect(try await find(query, musicBrainz: [groups[0]], deezer: []).certain != nil)
    }
}
