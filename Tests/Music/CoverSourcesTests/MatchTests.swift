import CoverSources
import Testing

@Suite struct MatchTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        var wanted: AlbumQuery
        var candidate: AlbumQuery
        var certainty: Match.Certainty
        var testDescription: String { "\(wanted.artist) / \(wanted.title) – \(candidate.artist) / \(candidate.title)" }

        init(
            _ artist: String, _ title: String, _ year: Int?, _ tracks: Int?, _ certainty: Match.Certainty,
            _ otherArtist: String, _ otherTitle: String, _ otherYear: Int?, _ otherTracks: Int?
        ) {
            wanted = AlbumQuery(artist: artist, title: title, year: year, trackCount: tracks)
            candidate = AlbumQuery(artist: otherArtist, title: otherTitle, year: otherYear, trackCount: otherTracks)
            self.certainty = certainty
        }
    }

    @Test(arguments: [
        Pair("Nirvana", "Nevermind", 1991, 12, .certain, "Nirvana", "Nevermind", 1991, 12),
        Pair("Nirvana", "Nevermind", 1991, nil, .certain, "nirvana", "NEVERMIND", 1991, nil),
        Pair("Nirvana", "Nevermind", 1991, nil, .doubtful, "nirvana", "NEVERMIND", 1992, nil),
        Pair("Nirvana", "Nevermind", nil, 12, .certain, "Nirvana", "Nevermind", 2011, 12),
        Pair("Nirvana", "Nevermind (Deluxe Edition)", 1991, 12, .certain, "Nirvana", "Nevermind", 1991, 12),
        Pair("Nirvana", "Nevermind (Deluxe Edition)", 1991, nil, .doubtful, "Nirvana", "Nevermind", 1991, 12),
        Pair("Nirvana", "Nevermind", nil, nil, .doubtful, "Nirvana", "Nevermind", 1991, 12),
        Pair("Nirvana", "Nevermind (Deluxe Edition)", nil, nil, .doubtful, "Nirvana", "Nevermind", nil, nil),
        Pair("Nirvana", "Nevermind", 1991, 12, .doubtful, "Nirvana", "Nevermind", 2011, 40),
        // As many tracks in another year: a new recording, or another album of the name.
        Pair("Nirvana", "Nevermind", 1991, 12, .doubtful, "Nirvana", "Nevermind", 2011, 12),
        Pair("Nirvana", "Nevermind", 1991, 12, .none, "Nirvana UK", "Songs", 1991, 12),
        Pair("Nirvana", "Nevermind", 1991, 12, .none, "Weezer", "Nevermind", 1991, 12),
        Pair("Nirvana", "Nevermind", 1991, 12, .none, "Nirvana", "In Utero", 1991, 12),
        // A single, an EP or a disc of the album's name.
        Pair("Michael Jackson", "Thriller", 1982, 9, .doubtful, "Michael Jackson", "Thriller - Single", 1983, 1),
        Pair("The Harbour Lights", "Blue Sea", 2001, 12, .doubtful, "The Harbour Lights", "Blue Sea EP", 2001, 4),
        Pair("The Harbour Lights", "Blue Sea EP", 2001, 4, .certain, "The Harbour Lights", "Blue Sea - EP", 2001, 4),
        Pair("Night Ferry", "Box (Disc 1)", 2001, 9, .none, "Night Ferry", "Box (Disc 2)", 2001, 8),
        // Signs that tell short titles apart.
        Pair("Night Ferry", "C#", 2001, 9, .doubtful, "Night Ferry", "C", 2001, 9),
        Pair("Night Ferry", "A+", 2001, 9, .doubtful, "Night Ferry", "A-", 2001, 9),
        // One name, several albums.
        Pair("Weezer", "Weezer (Blue Album)", 1994, 10, .none, "Weezer", "Weezer (Green Album)", 1994, 10),
        Pair("Weezer", "Weezer", 1994, 10, .certain, "Weezer", "Weezer", 1994, 10),
        Pair("Weezer", "Weezer", 1994, 10, .doubtful, "Weezer", "Weezer", 2001, 10),
        Pair("Weezer", "Weezer", 1994, 10, .doubtful, "Weezer", "Weezer (Blue Album)", 1994, 10),
        Pair("Peter Gabriel", "Peter Gabriel", 1977, nil, .doubtful, "Peter Gabriel", "Peter Gabriel", 1980, nil),
        // Other recordings and volumes.
        Pair("Taylor Swift", "1989", 2014, 13, .none, "Taylor Swift", "1989 (Taylor's Version)", 2023, 13),
        Pair("Taylor Swift", "1989 (Taylor's Version)", 2023, 21, .none, "Taylor Swift", "1989", 2014, 21),
        Pair("Queen", "Live Killers", 1979, 22, .none, "Queen", "Killers", 1979, 22),
        Pair("Nirvana", "Nevermind", 1991, 12, .none, "Nirvana", "Nevermind (Live)", 1991, 12),
        Pair("Nirvana", "Nevermind", 1991, 12, .none, "Nirvana", "Nevermind: Karaoke", 1991, 12),
        Pair("Queen", "Greatest Hits Vol. 1", 1981, 17, .none, "Queen", "Greatest Hits Vol. 2", 1981, 17),
        Pair("Led Zeppelin", "Led Zeppelin II", 1969, 9, .none, "Led Zeppelin", "Led Zeppelin III", 1969, 9),
        Pair("Queen", "Greatest Hits", 1981, 17, .doubtful, "Queen", "Greatest Hitz", 1981, 17),
        Pair("Queen", "Greatest Hits", 1981, 17, .doubtful, "Queen", "Greatest Hitz", 1981, 40),
        Pair("Queen", "Greatest Hits", 1981, 17, .none, "Queen", "Greatest Hitz", 2009, 40),
        Pair(
            "Robert Plant", "Raising Sand", 2007, 13, .certain, "Robert Plant & Alison Krauss", "Raising Sand", 2007,
            13),
        Pair(
            "Robert Plant", "Raising Sand", 2007, nil, .doubtful, "Robert Plant & Alison Krauss", "Raising Sand", 2007,
            13),
        Pair("A", "Blue", 1999, 10, .none, "B", "Blue", 1999, 10),
        // Names that fold to little or to nothing.
        Pair("!!!", "Louden Up Now", 2004, 9, .certain, "!!!", "Louden Up Now", 2004, 9),
        Pair("!!!", "Louden Up Now", 2004, 9, .none, "???", "Louden Up Now", 2004, 9),
        Pair("Sigur Rós", "( )", 2002, 8, .certain, "Sigur Ros", "()", 2002, 8),
        Pair("Sigur Rós", "( )", 2002, 8, .none, "Sigur Rós", "Takk...", 2002, 8),
        Pair("Ed Sheeran", "÷", 2017, 12, .none, "Ed Sheeran", "×", 2017, 12),
        Pair("", "", 2017, 12, .none, "", "", 2017, 12),
        Pair("", "Blue", 1971, 10, .doubtful, "Joni Mitchell", "Blue", 1971, 10),
        Pair("", "Blue", nil, nil, .none, "Joni Mitchell", "Blue", 1971, 10),
        Pair("The The", "Soul Mining", 1983, 7, .certain, "The The", "Soul Mining", 1983, 7),
        // One more of a few songs is another release; of many, it may be a hidden one.
        Pair("The The", "Soul Mining", 1983, 7, .doubtful, "The The", "Soul Mining", 1983, 8),
        Pair("The The", "Soul Mining", 1983, 8, .certain, "The The", "Soul Mining", 1983, 9),
        // Marks that tell titles apart, and marks that are left out.
        Pair("A", "Hello!", 1999, 9, .doubtful, "A", "Hello?", 1999, 9),
        Pair("The Beatles", "Help!", 1965, 14, .certain, "The Beatles", "Help", 1965, 14),
        Pair("A", "Stop! Who Goes?", 1999, 9, .certain, "A", "Stop, Who Goes?", 1999, 9),
        Pair("A", "Ｓｔｏｐ！", 1999, 9, .certain, "A", "Stop!", 1999, 9),
        // Spellings.
        Pair("AC/DC", "Back in Black", 1980, 10, .certain, "ACDC", "Back In Black", 1980, 10),
        Pair(
            "Guns N' Roses", "Use Your Illusion I", 1991, 16, .certain, "Guns N’ Roses", "Use Your Illusion I", 1991, 16
        ),
        Pair(
            "Guns N' Roses", "Use Your Illusion I", 1991, 16, .none, "Guns N’ Roses", "Use Your Illusion II", 1991, 16),
        Pair("Beyoncé", "Lemonade", 2016, 12, .certain, "Beyonce\u{301}", "LEMONADE", 2016, 12),
        Pair("宇多田ヒカル", "First Love", 1999, 12, .certain, "宇多田ヒカル", "Ｆｉｒｓｔ Ｌｏｖｅ", 1999, 12),
        Pair("宇多田ヒカル", "First Love", 1999, 12, .none, "椎名林檎", "First Love", 1999, 12),
        // Collective artists.
        Pair("Various Artists", "Trainspotting", 1996, 14, .certain, "VA", "Trainspotting", 1996, 14),
        Pair("Various Artists", "Hits", 2004, 20, .doubtful, "Various", "Hits", 2009, 20),
        Pair("Various Artists", "Hits", 2004, 20, .none, "Phil Collins", "Hits", 2004, 20),
    ])
    func `a candidate is as certain as what agrees`(_ pair: Pair) {
        let match = Match.judge(pair.wanted, pair.candidate)
        #expect(match.certainty == pair.certainty, "\(match.reason)")
        #expect(Match.judge(pair.candidate, pair.wanted).certainty == pair.certainty, "the other way round")
        #expect(!match.reason.isEmpty)
    }

    @Test func `an id is worth more than names`() {
        let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
        let wanted = AlbumQuery(artist: "A", title: "B", releaseID: id.uppercased())
        #expect(Match.judge(wanted, AlbumQuery(artist: "A", title: "B", releaseID: id)).certainty == .certain)
        #expect(Match.judge(wanted, AlbumQuery(artist: "A", title: "B", releaseGroupID: id)).certainty == .doubtful)
    }

    @Test func `an id that names another album lies`() {
        let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
        let wanted = AlbumQuery(artist: "Night Ferry", title: "Harbour", year: 1994, trackCount: 9, releaseID: id)
        for (artist, title) in [("Night Ferry", "Box of Ferries"), ("Someone Else", "Harbour")] {
            #expect(Match.judge(wanted, AlbumQuery(artist: artist, title: title, releaseID: id)).certainty != .certain)
        }
    }

    @Test func `keys are those of names and year, without ids`() {
        let plain = AlbumQuery(artist: "The Beatles", title: "Help!", year: 1965)
        let tagged = AlbumQuery(
            artist: "Beatles", title: "HELP!", year: 1965, trackCount: 14,
            releaseID: "76df3287-6cda-33eb-8e9a-044b5e15ffdd")
        #expect(plain.key == tagged.key)
        #expect(plain.key != AlbumQuery(artist: "The Beatles", title: "Help! (Deluxe Edition)", year: 1965).key)
        #expect(plain.key != AlbumQuery(artist: "The Beatles", title: "Help!", year: 1966).key)
    }
}
