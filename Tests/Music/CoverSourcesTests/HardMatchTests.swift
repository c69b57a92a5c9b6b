import CoverSources
import Testing

/// Albums that are easily taken for each other. A wrong “certain” writes a wrong cover.
@Suite struct HardMatchTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        var ours, theirs: AlbumQuery
        var certainty: Match.Certainty
        var testDescription: String { "\(ours.artist) / \(ours.title) – \(theirs.artist) / \(theirs.title)" }

        init(_ ours: AlbumQuery, _ certainty: Match.Certainty, _ theirs: AlbumQuery) {
            (self.ours, self.certainty, self.theirs) = (ours, certainty, theirs)
        }
    }

    /// Lengths of songs; other seeds have others.
    private static func songs(_ seed: Int, _ count: Int) -> [Int] {
        (0..<count).map { 120_000 + (seed * 77_777 + $0 * $0 * 10_007 + $0 * 34_729) % 200_000 }
    }

    /// - Parameter songs: the seed of the lengths; nil if they are unknown.
    private static func album(
        _ artist: String, _ title: String, _ year: Int? = nil, _ tracks: Int? = nil, songs seed: Int? = nil,
        also: [String] = [], first: Int? = nil
    ) -> AlbumQuery {
        AlbumQuery(
            artist: artist, otherArtists: also, title: title, year: year, originalYear: first, trackCount: tracks,
            lengths: seed.map { songs($0, tracks ?? 10) } ?? [])
    }

    private static let names: [Pair] = [
        // Artists.
        Pair(
            album("Prince", "Purple Rain", 1984, 9), .certain, album("Prince & The Revolution", "Purple Rain", 1984, 9)),
        Pair(
            album("Bob Marley", "Exodus", 1977, 10), .certain, album("Bob Marley and The Wailers", "Exodus", 1977, 10)),
        Pair(album("Bowie, David", "Low", 1977, 11), .certain, album("David Bowie", "Low", 1977, 11)),
        Pair(album("David Bowie feat. Queen", "Low", 1977, 11), .certain, album("David Bowie", "Low", 1977, 11)),
        Pair(album("Wu-Tang", "Iron Flag", 2001, 12), .none, album("Wu-Tang Killa Bees", "Iron Flag", 2001, 12)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .none, album("High Tide", "Harbour", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .doubtful, album("Low Tides", "Harbour", 1994, 9)),
        Pair(album("Dora Hill", "Nightwork", 2009, 12), .doubtful, album("Mason Reed & Dora Hill", "Nightwork", 2009)),
        Pair(album("Dora Hill", "Best Of", 2009, 12), .doubtful, album("Mason Reed & Dora Hill", "Best Of", 2009, 12)),
        Pair(album("A, B & C", "Nightwork", 2009, 12), .certain, album("A & B & C", "Nightwork", 2009, 12)),
        Pair(album("C & A", "Nightwork", 2009, 12), .certain, album("A & C", "Nightwork", 2009, 12)),
        Pair(album("Tyler, The Creator", "Igor", 2019, 12), .certain, album("Tyler The Creator", "IGOR", 2019, 12)),
        Pair(
            album("10,000 Maniacs", "Blind Man's Zoo", 1989, 11), .none, album("Maniacs", "Blind Man's Zoo", 1989, 11)),
        Pair(
            album("X", "Nightwork", 2009, 12, also: ["Mason Reed"]), .certain,
            album("Mason Reed", "Nightwork", 2009, 12)),
        Pair(
            album("Utada Hikaru", "First Love", 1999, 12, songs: 1), .certain,
            album("宇多田ヒカル", "First Love", 1999, 12, songs: 1)),
        Pair(album("Utada Hikaru", "First Love", 1999, 12), .doubtful, album("宇多田ヒカル", "First Love", 1999, 12)),
        Pair(
            album("Кино", "Группа крови", 1988, 11, songs: 2), .certain, album("Кино", "Blood Type", 1988, 11, songs: 2)
        ),
        Pair(album("Кино", "Группа крови", 1988, 11), .doubtful, album("Кино", "Blood Type", 1988, 11)),
        // Titles.
        Pair(album("Low Tide", "Harbour, Vol. 1", 1994, 9), .none, album("Low Tide", "Harbour, Vol. 2", 1994, 9)),
        Pair(album("Low Tide", "Harbour II", 1994, 9), .certain, album("Low Tide", "Harbour 2", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .none, album("Low Tide", "Harbour II", 1994, 9)),
        Pair(album("Low Tide", "Harbour: Part One", 1994, 9), .none, album("Low Tide", "Harbour: Part Two", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .none, album("Low Tide", "Harbour (Remixes)", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .none, album("Low Tide", "Harbour (Demos)", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .none, album("Low Tide", "Harbour - Live in Oslo", 1994, 9)),
        Pair(album("Low Tide", "Harbour (Score)", 1994, 9), .doubtful, album("Low Tide", "Harbour", 1994, 9)),
        Pair(album("Low Tide", "Harbour OST", 1994, 9), .certain, album("Low Tide", "Harbour", 1994, 9)),
        Pair(album("Low Tide", "Low Tide - Harbour", 1994, 9), .certain, album("Low Tide", "Harbour", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .certain, album("Low Tide", "Harbour - Low Tide", 1994, 9)),
        Pair(album("Low Tide", "Harbour Lights", 1994, 9), .doubtful, album("Low Tide", "Harbour", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .doubtful, album("Low Tide", "Harbours", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .none, album("Low Tide", "Inland", 1994, 9)),
        Pair(album("Chicago", "Chicago V", 1972, 9), .none, album("Chicago", "Chicago VI", 1972, 9)),
        Pair(album("Low Tide", "Harbour (Deluxe)", 1994, 18), .doubtful, album("Low Tide", "Harbour", 1994, 9)),
        Pair(album("Low Tide", "Harbour", 1994, 9), .doubtful, album("Low Tide", "Harbour (Deluxe Edition)", 1994, 18)),
        Pair(
            album("Low Tide", "Harbour (Deluxe)", 1994, 9, songs: 1), .certain,
            album("Low Tide", "Harbour", nil, 9, songs: 1)),
        Pair(album("Low Tide", "Harbour (Disc 2)", 1994, 9), .certain, album("Low Tide", "Harbour", 1994, 18)),
        // Singles and EPs.
        Pair(album("Low Tide", "Harbour", 1994, 4), .doubtful, album("Low Tide", "Harbour - EP", 1994, 4)),
        Pair(
            album("Low Tide", "Harbour", 1994, 4, songs: 1), .certain,
            album("Low Tide", "Harbour - EP", 1994, 4, songs: 1)),
        Pair(
            album("Low Tide", "Harbour", 1994, 4, songs: 1), .doubtful,
            album("Low Tide", "Harbour - EP", 1994, 4, songs: 2)),
        Pair(album("Low Tide", "Harbour - Single", 1994, 1), .doubtful, album("Low Tide", "Harbour", 1994, 9)),
    ]

    private static let facts: [Pair] = [
        // Years.
        Pair(album("Low Tide", "Harbour", 2011, 9), .certain, album("Low Tide", "Harbour", 1975, 9, first: 2011)),
        Pair(album("Low Tide", "Harbour", 1975, 9), .certain, album("Low Tide", "Harbour", 2011, 9, first: 1975)),
        Pair(album("Low Tide", "Harbour", 2011, 9, first: 1975), .certain, album("Low Tide", "Harbour", 1975, 9)),
        Pair(album("Low Tide", "Harbour", 1975, 9), .doubtful, album("Low Tide", "Harbour", 2011, 9)),
        Pair(album("Low Tide", "Harbour", 1975, 9), .doubtful, album("Low Tide", "Harbour (2011 Remaster)", 2011, 9)),
        Pair(
            album("Low Tide", "Harbour", 1975, 9, songs: 1), .certain,
            album("Low Tide", "Harbour (2011 Remaster)", 2011, 9, songs: 1)),
        Pair(album("Low Tide", "Harbour", 1995, 14), .doubtful, album("Low Tide", "Harbour", 1996, 9)),
        Pair(album("Low Tide", "Harbour", 1995, 14), .certain, album("Low Tide", "Harbour", 1996, 14)),
        Pair(album("Low Tide", "Harbour", 1900, 14), .certain, album("Low Tide", "Harbour", 1996, 14)),
        // Tracks and lengths.
        Pair(
            album("Low Tide", "Harbour", 1995, 9, songs: 1), .doubtful, album("Low Tide", "Harbour", 1995, 9, songs: 2)),
        Pair(album("Low Tide", "Harbour", nil, 9, songs: 1), .certain, album("Low Tide", "Harbour", nil, 9, songs: 1)),
        Pair(album("Low Tide", "Harbour", 1995, 9), .certain, album("Low Tide", "Harbour", 1995, 10)),
        Pair(album("Low Tide", "Harbour", nil, 9), .doubtful, album("Low Tide", "Harbour", nil, 10)),
        Pair(album("Low Tide", "Harbour", 1995, 9), .doubtful, album("Low Tide", "Harbour", 1995, 11)),
        Pair(album("Low Tide", "Harbour", 1995, 4), .doubtful, album("Low Tide", "Harbour", 1995, 5)),
        Pair(album("Low Tide", "Harbour"), .doubtful, album("Low Tide", "Harbour")),
        // Weak names.
        Pair(album("Low Tide", "Greatest Hits", 1996, 20), .doubtful, album("Low Tide", "Greatest Hits", 1995, 20)),
        Pair(album("Low Tide", "Greatest Hits", 1996, 20), .certain, album("Low Tide", "Greatest Hits", 1996, 20)),
        Pair(album("Low Tide", "Greatest Hits", 1996), .doubtful, album("Low Tide", "Greatest Hits", 1996, 20)),
        Pair(
            album("Low Tide", "The Very Best of Low Tide", nil, 20), .doubtful,
            album("Low Tide", "Very Best Of Low Tide", nil, 20)),
        Pair(album("Low Tide", "Low Tide", 1996), .doubtful, album("Low Tide", "Low Tide", 1996, 9)),
        Pair(album("Low Tide", "Live", nil, 12), .doubtful, album("Low Tide", "Live", 1999, 12)),
        Pair(album("Low Tide", "Unplugged 1994", 1995, 12), .doubtful, album("Low Tide", "Unplugged 1994", nil, 12)),
        Pair(album("Low Tide", "Christmas", 2001, 12), .doubtful, album("Low Tide", "Christmas", 2002, 12)),
        Pair(album("Adele", "21", 2011, 11), .certain, album("Adele", "21", 2011, 11)),
        Pair(album("Adele", "21", 2011, 11), .none, album("Adele", "25", 2011, 11)),
        Pair(
            album("Various Artists", "Love Songs", 1998, 12), .doubtful, album("Various Artists", "Love Songs", nil, 12)
        ),
        Pair(album("Various Artists", "Love Songs", 1998, 12), .doubtful, album("VA", "Love Songs", 1999, 12)),
        Pair(album("Various Artists", "Kill List", 1998, 12), .certain, album("VA", "Kill List", 1999, 12)),
        Pair(album("Various Artists", "Kill List", 1998, 12), .doubtful, album("VA", "Kill List", 1999, 14)),
        Pair(album("Various Artists", "Kill List", 1998, nil), .doubtful, album("VA", "Kill List", 1998, 12)),
        // Works: a composer's name is that of all who play them.
        Pair(
            album("Ludwig van Beethoven", "Symphony No. 5", 1963, 4), .doubtful,
            album("Ludwig van Beethoven", "Symphony No. 5", 1985, 4)),
        Pair(
            album("Ludwig van Beethoven", "Symphony No. 5", 1963, 4), .doubtful,
            album("Ludwig van Beethoven", "Symphony No. 5", 1963, 4)),
        Pair(
            album("Ludwig van Beethoven", "Symphony No. 5", 1963, 4, songs: 1), .certain,
            album("Ludwig van Beethoven", "Symphony No. 5", 1963, 4, songs: 1)),
        Pair(
            album("Glenn Gould", "Bach: Goldberg Variations", 1956, 32), .certain,
            album("Glenn Gould", "Goldberg Variations", 1956, 32)),
        Pair(
            album("Glenn Gould", "Goldberg Variations", 1956, 32), .doubtful,
            album("Glenn Gould", "Goldberg Variations", 1982, 32)),
        Pair(
            album("Glenn Gould", "Goldberg Variations", 1956, 32), .none,
            album("Lang Lang", "Goldberg Variations", 1956, 32)),
        Pair(
            album("Johann Sebastian Bach", "Goldberg Variations", 1956, 32, also: ["Glenn Gould"]), .certain,
            album("Glenn Gould", "Goldberg Variations", 1956, 32)),
    ]

    @Test(arguments: names + facts)
    func `hard albums are judged by the table`(_ pair: Pair) {
        let match = Match.judge(pair.ours, pair.theirs)
        #expect(match.certainty == pair.certainty, "\(match.reason)")
    }

    @Test func `a part of an album is known by the lengths of its songs, a few songs are found anywhere`() {
        var whole = Self.album("Low Tide", "Harbour", 1995, 12, songs: 1)
        var part = Self.album("Low Tide", "Harbour")
        part.lengths = Array(whole.lengths[2..<9])
        #expect(Match.judge(part, whole).certainty == .certain)
        part.lengths = Array(whole.lengths[2..<4])
        #expect(Match.judge(part, whole).certainty == .doubtful)
        part.lengths = Self.songs(3, 7)
        #expect(Match.judge(part, whole).certainty == .doubtful)
        // The last song is a bonus track.
        part = Self.album("Low Tide", "Harbour", nil, 11)
        part.lengths = Array(whole.lengths.dropLast())
        #expect(Match.judge(part, whole).certainty == .certain)
        whole.lengths = whole.lengths.map { _ in 180_000 }
        #expect(Match.judge(part, whole).certainty == .doubtful, "silence has no lengths")
    }

    @Test func `another mastering has each song at its place`() {
        let ours = Self.album("Low Tide", "Harbour", 1995, 10, songs: 1)
        var other = ours
        other.lengths = ours.lengths.map { $0 + 7_000 }
        #expect(Match.judge(ours, other).certainty == .certain)
        other.lengths = Array(ours.lengths[4...] + ours.lengths[..<4])
        #expect(Match.judge(ours, other).certainty == .doubtful, "most songs in the same order")
    }

    @Test func `one disc's number of tracks is as good as all discs'`() {
        let ours = AlbumQuery(artist: "Low Tide", title: "Harbour", trackCounts: [9, 18])
        for count in [9, 18] {
            #expect(Match.judge(ours, Self.album("Low Tide", "Harbour", 1995, count)).certainty == .certain)
        }
        #expect(Match.judge(ours, Self.album("Low Tide", "Harbour", 1995, 14)).certainty == .doubtful)
    }

    @Test func `a namesake in the library makes a name weak`() {
        var ours = Self.album("Low Tide", "Harbour", nil, 9)
        let theirs = Self.album("Low Tide", "Harbour", 1995, 9)
        #expect(Match.judge(ours, theirs).certainty == .certain)
        ours.hasNamesake = true
        #expect(Match.judge(ours, theirs).certainty == .doubtful)
        ours.year = 1995
        #expect(Match.judge(ours, theirs).certainty == .certain)
    }

    @Test func `the evidence is told in words`() {
        let ours = Self.album("Low Tide", "Greatest Hits", 1996, 20)
        #expect(
            Match.judge(ours, Self.album("Low Tide", "Greatest Hits", 1995, 12)).reason
                == "title agrees, year one apart, 12 tracks where yours has 20: doubtful")
        #expect(Match.judge(ours, ours).reason == "title agrees, year agrees, 20 tracks in both: certain")
    }
}
