import Testing

@testable import CoverSources

/// Lengths that tell: what nobody edits makes up for what people and services write differently.
@Suite struct TellingLengthsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var claim: String
        var ours, theirs: AlbumQuery
        var certainty: Match.Certainty
        var testDescription: String { claim }

        init(_ claim: String, _ ours: AlbumQuery, _ certainty: Match.Certainty, _ theirs: AlbumQuery) {
            (self.claim, self.ours, self.certainty, self.theirs) = (claim, ours, certainty, theirs)
        }
    }

    /// Ten songs. Others differ from each of them.
    private static let songs = [
        201_000, 184_000, 251_000, 223_000, 305_000, 190_000, 240_000, 262_000, 211_000, 178_000,
    ]
    private static let others = [
        149_000, 322_000, 165_000, 281_000, 134_000, 330_000, 291_000, 155_000, 346_000, 127_000,
    ]

    private static func album(
        _ artist: String = "Low Tide", _ title: String = "Harbour", _ year: Int? = 1994, songs: [Int] = Self.songs,
        also: [String] = []
    ) -> AlbumQuery {
        AlbumQuery(
            artist: artist, otherArtists: also, title: title, year: year, trackCount: songs.count, lengths: songs)
    }

    private static let ours = album()
    private static let later = album(songs: songs.map { $0 + 2_000 })
    private static let various = "Various Artists"

    private static let years: [Row] = [
        Row("another year, every length", ours, .certain, album("Low Tide", "Harbour", 2011)),
        Row(
            "a new recording comes close, not within a second", ours, .doubtful,
            album("Low Tide", "Harbour", 2011, songs: songs.map { $0 + 2_000 })),
        Row(
            "half within a second suffice", ours, .certain,
            album("Low Tide", "Harbour", 2011, songs: songs.enumerated().map { $1 + $0 % 2 * 2_000 })),
        Row(
            "five songs tell nothing", album(songs: Array(songs[..<5])), .doubtful,
            album("Low Tide", "Harbour", 2011, songs: Array(songs[..<5]))),
        Row(
            "all of six songs", album(songs: Array(songs[..<6])), .certain,
            album("Low Tide", "Harbour", 2011, songs: Array(songs[..<6]))),
        Row(
            "of six songs none may differ", album(songs: Array(songs[..<6])), .doubtful,
            album("Low Tide", "Harbour", 2011, songs: songs[..<5] + [400_000])),
        Row(
            "of ten songs one may", ours, .certain,
            album("Low Tide", "Harbour", 2011, songs: songs[..<9] + [400_000])),
        Row(
            "songs of one length tell nothing", album(songs: (0..<12).map { 180_000 + $0 * 100 }), .doubtful,
            album("Low Tide", "Harbour", 2011, songs: (0..<12).map { 180_000 + $0 * 100 })),
        Row(
            "nor do those of three", album(songs: (0..<12).map { 180_000 + $0 % 3 * 20_000 }), .doubtful,
            album("Low Tide", "Harbour", 2011, songs: (0..<12).map { 180_000 + $0 % 3 * 20_000 })),
        Row(
            "short songs are within a second", album(songs: songs.map { $0 / 5 }), .doubtful,
            album("Low Tide", "Harbour", 2011, songs: songs.map { $0 / 5 + 1_500 })),
        Row("other names stay others", ours, .none, album("Low Tide", "Inland", 2011, songs: others)),
    ]

    private static let weak: [Row] = [
        Row("a general title", album("Low Tide", "Greatest Hits", nil), .certain, album("Low Tide", "Greatest Hits")),
        Row(
            "a general title without lengths that tell", album("Low Tide", "Greatest Hits", nil), .doubtful,
            AlbumQuery(artist: "Low Tide", title: "Greatest Hits", year: 1994, trackCount: 10)),
        Row("various artists", album(various, "Love Songs"), .certain, album("VA", "Love Songs", 1998)),
        Row(
            "a work", album("Ludwig van Beethoven", "Symphony No. 5", nil), .certain,
            album("Ludwig van Beethoven", "Symphony No. 5")),
        Row(
            "a work of another performer", album("Ludwig van Beethoven", "Symphony No. 5", also: ["Ada Moor"]),
            .doubtful,
            album("Ludwig van Beethoven; Bo Lind", "Symphony No. 5")),
        Row(
            "some songs of a general title", album("Low Tide", "Greatest Hits", songs: Array(songs[2..<8])), .doubtful,
            album("Low Tide", "Greatest Hits")),
        Row(
            "some songs of another title", album("Low Tide", "Harbour", nil, songs: Array(songs[2..<8])), .certain, ours
        ),
    ]

    private static let bonus: [Row] = [
        Row(
            "bonus songs behind all of theirs", album(songs: songs + others[..<5]), .certain,
            album("Low Tide", "Harbour", nil)),
        Row(
            "bonus songs of an edition",
            album("Low Tide", "Harbour (Deluxe Edition)", 2011, songs: songs + others[..<5]),
            .certain, ours),
        Row("more than half as many", album(songs: songs + others[..<6]), .doubtful, album("Low Tide", "Harbour", nil)),
        Row("songs before theirs", album(songs: others[..<3] + songs), .doubtful, album("Low Tide", "Harbour", nil)),
        Row(
            "a title that nearly agrees", album("Low Tide", "Harbour Lights", songs: songs + others[..<5]), .doubtful,
            ours),
        Row(
            "an EP that the album begins with", album(songs: songs), .doubtful,
            album("Low Tide", "Harbour - EP", songs: Array(songs[..<7]))),
    ]

    private static let names: [Row] = [
        Row("a subtitle", album("Low Tide", "Harbour: Songs of the Sea"), .certain, ours),
        Row("one letter of the title", album("Low Tide", "Harbours"), .certain, ours),
        Row("one letter of the artist", album("Low Tides", "Harbour"), .certain, ours),
        Row("a joined artist", album("Low Tide & Ada Moor", "Best Of"), .certain, album("Low Tide", "Best Of")),
        Row("a joined tribute", album("Low Tide & Tribute Stars"), .doubtful, ours),
        Row("one letter of both", album("Low Tides", "Harbours"), .doubtful, ours),
        Row("one letter, and a year apart", album("Low Tide", "Harbours", 1995), .doubtful, ours),
        Row("one letter, lengths that do not tell", album("Low Tide", "Harbours", songs: others), .doubtful, ours),
        Row("a score", album("Low Tide", "Harbour (Original Motion Picture Score)"), .doubtful, ours),
        Row(
            "two forms of a score", album("Low Tide", "Harbour (Original Motion Picture Score)"), .certain,
            album("Low Tide", "Harbour (Score)")),
        Row(
            "love is one letter from live", album("Low Tide", "Harbour Love"), .doubtful,
            album("Low Tide", "Harbour Live")),
        Row("a version in another language", album("Low Tide", "Harbour (German Version)"), .doubtful, ours),
        Row("a language without the word", album("Low Tide", "Harbour en Español"), .doubtful, ours),
    ]

    private static let characters: [Row] = [
        Row("traditional and simplified", album("陈晓龙", "龙与云"), .doubtful, album("陳曉龍", "龍與雲")),
        Row("a name in two scripts", album("소리 (SORI)", "바다"), .doubtful, album("SORI", "The Sea")),
        Row("a title in another language", album("Low Tide", "Der Hafen"), .doubtful, ours),
        Row("another artist's", album("Ada Moor", "Inland", 2011), .doubtful, ours),
        Row("one length differs", album("陈晓龙", "龙与云", songs: songs[..<9] + [400_000]), .none, album("陳曉龍", "龍與雲")),
        Row(
            "five songs", album("陈晓龙", "龙与云", songs: Array(songs[..<5])), .none,
            album("陳曉龍", "龍與雲", songs: Array(songs[..<5]))),
        Row("karaoke has the lengths of what is sung", album("Low Tide", "Karaoke"), .none, ours),
        Row("Discogs' number", album("Low Tide (2)"), .certain, ours),
        Row(
            "Discogs' numbers and sign", album("Low Tide* & Ada Moor (3)"), .certain, album("Low Tide & Ada Moor (12)")),
        Row("a word in brackets", album("Low Tide (UK)", songs: others), .doubtful, ours),
    ]

    @Test(arguments: years + weak + bonus + names + characters)
    func `lengths that tell make up for what the row says`(_ row: Row) {
        let match = Match.judge(row.ours, row.theirs)
        #expect(match.certainty == row.certainty, "\(match.reason)")
    }

    @Test(arguments: [
        "Live", "Karaoke", "Tribute", "Instrumental", "Acapella", "A Cappella", "Beats", "Playback", "Sing-Along",
        "Backing Tracks", "Demos", "Remixes", "Re-Recorded", "Re-Recording", "English Version", "Score",
    ])
    func `a word of another recording on one side is never certain`(_ word: String) {
        for title in ["Harbour (\(word))", "Harbour \(word)", "Harbour - \(word)", "Harbour: \(word)"] {
            let other = Self.album("Low Tide", title)
            #expect(Match.judge(other, Self.ours).certainty < .certain, "\(title)")
            #expect(Match.judge(Self.ours, other).certainty < .certain, "\(title)")
        }
    }

    @Test func `another year is doubtful where an album of our year and name has other lengths`() {
        let reissue = Self.album("Low Tide", "Harbour", 2011)
        func candidate(_ album: AlbumQuery, _ url: String) -> SourceCandidate {
            SourceCandidate(source: .deezer, album: album, pictures: [url])
        }
        let alone = SourceCandidate.matching(Self.ours, [candidate(reissue, "a")])
        #expect(alone.map(\.certainty) == [.certain])
        let both = SourceCandidate.matching(
            Self.ours, [candidate(reissue, "a"), candidate(Self.album(songs: Self.others), "b")])
        #expect(both.map(\.certainty) == [.doubtful, .doubtful])
        let same = SourceCandidate.matching(Self.ours, [candidate(reissue, "a"), candidate(Self.later, "b")])
        #expect(same.first?.album.year == 1994 && same.first?.certainty == .certain)
    }

    @Test func `a release of all songs is that of each folder of them, by lengths and not by the number`() {
        var disc = Self.album(songs: Array(Self.songs[..<5]))
        disc.setLengths = Self.songs
        #expect(Match.judge(disc, Self.ours).certainty == .certain)
        #expect(Match.judge(disc, Self.ours).reason.contains("10 of 10 lengths agree"))
        #expect(Match.judge(disc, Self.album(songs: Self.others)).certainty == .doubtful)
        let silent = AlbumQuery(artist: "Low Tide", title: "Harbour", year: 1994, trackCount: 10)
        #expect(Match.judge(disc, silent).certainty == .doubtful)
        let candidate = SourceCandidate(source: .deezer, album: silent, pictures: ["a"], details: "b")
        #expect(candidate.judged(.judge(disc, silent)).needsDetails(for: AlbumComparison(disc)))
    }

    @Test func `an album without lengths is doubtful where one of its name has others`() {
        func candidate(_ album: AlbumQuery, _ url: String) -> SourceCandidate {
            SourceCandidate(source: .deezer, album: album, pictures: [url])
        }
        let silent = candidate(AlbumQuery(artist: "Low Tide", title: "Harbour", year: 1994, trackCount: 10), "a")
        let other = candidate(Self.album(songs: Self.others), "b")
        let single = candidate(Self.album(songs: Array(Self.others[..<3])), "c")
        #expect(SourceCandidate.matching(Self.ours, [silent]).map(\.certainty) == [.certain])
        #expect(SourceCandidate.matching(Self.ours, [silent], known: [single]).map(\.certainty) == [.certain])
        #expect(SourceCandidate.matching(Self.ours, [silent], known: [other]).map(\.certainty) == [.doubtful])
    }

    @Test func `an id of another year is doubtful unless the lengths agree`() {
        let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
        func album(_ year: Int?, _ songs: [Int]) -> AlbumQuery {
            AlbumQuery(artist: "Low Tide", title: "Harbour", year: year, trackCount: 10, lengths: songs, releaseID: id)
        }
        for (year, songs, certainty) in [
            (1994, Self.others, Match.Certainty.certain), (nil, Self.others, .certain), (2011, Self.others, .doubtful),
            (2011, [], .doubtful), (2011, Self.songs, .certain),
        ] {
            #expect(Match.judge(album(1994, Self.songs), album(year, songs)).certainty == certainty)
        }
    }

    @Test func `an album artist is no performer if the songs have another one`() {
        func album(_ artist: String, _ title: String, _ year: Int, also: [String] = [], songs: [Int] = []) -> AlbumQuery
        {
            AlbumQuery(
                artist: artist, otherArtists: also, title: title, year: year, trackCount: 10, lengths: songs)
        }
        let ours = album("Anton Vale", "Mass in B Minor", 1986, also: ["Nora Vance"])
        #expect(Match.judge(ours, album("Anton Vale", "Mass in B Minor", 1987)).certainty == .doubtful)
        #expect(Match.judge(ours, album("Anton Vale", "Mass in B Minor", 1986)).certainty == .doubtful)
        #expect(Match.judge(ours, album("Nora Vance", "Mass in B Minor", 1986)).certainty == .certain)
        let timed = album("Anton Vale", "Mass in B Minor", 1986, also: ["Nora Vance"], songs: Self.songs)
        #expect(
            Match.judge(timed, album("Anton Vale", "Mass in B Minor", 1987, songs: Self.songs)).certainty == .certain)
        for guest in ["Anton Vale & Nora Vance", "Anton Vale Trio"] {
            let ours = album("Anton Vale", "Harbour", 1986, also: [guest])
            #expect(Match.judge(ours, album("Anton Vale", "Harbour", 1987)).certainty == .certain)
        }
    }

    @Test func `MusicBrainz is asked for the artist's albums of as many tracks last, if lengths may tell`() throws {
        let musicBrainz = try #require(CoverSource.table([.musicbrainz]).first)
        func asks(_ album: AlbumQuery) -> Bool {
            musicBrainz.searches(album).dropLast().allSatisfy { !$0.contains("tracks") }
                && musicBrainz.searches(album).last?.contains("artist%3A%22Low%20Tide%22%20AND%20tracks%3A10") == true
        }
        #expect(asks(Self.ours))
        #expect(!asks(Self.album(songs: Array(Self.songs[..<5]))))
        #expect(!asks(Self.album(Self.various)))
        #expect(!asks(AlbumQuery(artist: "Low Tide", title: "Harbour", year: 1994, trackCount: 10)))
    }

    @Test func `a person reads how many lengths agree`() {
        #expect(
            Match.judge(Self.ours, Self.ours).reason == "title agrees, year agrees, 10 of 10 lengths agree: certain")
        let longer = Self.album(songs: Self.songs + Self.others[..<2])
        #expect(Match.judge(longer, Self.ours).reason.contains("10 of 10 lengths agree, 2 more behind them"))
    }
}
