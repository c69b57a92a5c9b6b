import Testing

@testable import MusicFolder

@Suite struct AlbumLayoutTests {
    @Test(arguments: inOneFolder + discs + volumes + inSeveralFolders + sameNames + ids + folders)
    func `albums are made of the songs that belong together`(layout: Layout) {
        #expect(layout.found.map(Layout.line).sorted() == layout.albums.sorted())
    }

    // MARK: One folder

    static let inOneFolder = [
        Layout("an album", ["/m/a": tracks(1...10, year: "1971")], "A: Low Tide (1971) 10 in /m/a"),
        Layout(
            "years of songs do not part it",
            ["/m/a": tracks(1...5, year: "1971") + tracks(6...10, year: "1980")], "A: Low Tide 10 in /m/a"),
        Layout(
            "two albums of one name, told apart by the year",
            ["/m/a": tracks(1...5, year: "1994", songs: "Blue") + tracks(1...6, year: "2001", songs: "Green")],
            "A: Low Tide (1994) 5 in -/m/a", "A: Low Tide (2001) 6 in -/m/a"),
        Layout(
            "by the album artist",
            [
                "/m/a": tracks(1...5, "Hits", albumArtist: "Q", songs: "Q")
                    + tracks(1...5, "Hits", albumArtist: "B", songs: "B")
            ], "B: Hits 5 in -/m/a", "Q: Hits 5 in -/m/a"),
        Layout(
            "by the artist", ["/m/a": tracks(1...5, by: "Q", songs: "Q") + tracks(1...5, by: "B", songs: "B")],
            "B: Low Tide 5 in -/m/a", "Q: Low Tide 5 in -/m/a"),
        Layout(
            "by the release id, and a song without one belongs to the only one that it fits",
            [
                "/m/a": tracks(1...5, id: "1", songs: "x") + tracks(1...4, id: "2", songs: "y")
                    + tracks(5...5, songs: "y")
            ],
            "A: Low Tide 5 in -/m/a", "A: Low Tide 5 in -/m/a"),
        Layout(
            "by the spelling of the title",
            ["/m/a": tracks(1...5, "IV", songs: "x") + tracks(1...5, "iv", songs: "y")],
            "A: IV 5 in -/m/a", "A: iv 5 in -/m/a"),
        Layout(
            "a compilation is not divided into lone songs; its numbers begin again",
            ["/m/a": by("P", "Q", "R", "S", "T") + by("U", "V", "W", "X", "Y")],
            "Various Artists: Low Tide 10 in /m/a"),
        Layout(
            "a collection of two discs without their numbers is not divided by the years of songs",
            [
                "/m/a": tracks(1...3, year: "1991", songs: "x") + tracks(4...6, year: "1992", songs: "x")
                    + tracks(1...2, year: "1992", songs: "y") + tracks(3...6, year: "1991", songs: "y")
            ],
            "A: Low Tide 12 in /m/a"),
        Layout(
            "nor by the album artist, where songs have one each",
            [
                "/m/a": by("P", "Q", "R", albumArtist: "P") + by("S", albumArtist: "S")
                    + by("T", albumArtist: "T", from: 2)
            ], "P & S & T: Low Tide 5 in /m/a"),
        Layout(
            "nothing tells two mixed albums apart",
            ["/m/a": (1...5).flatMap { tracks($0...$0, songs: "x") + tracks($0...$0, songs: "y") }],
            "A: Low Tide ? in /m/a unsearchable"),
        Layout(
            "copies of songs in another format do not clash", ["/m/a": tracks(1...8) + tracks(1...8)],
            "A: Low Tide 8 in /m/a"),
        Layout(
            "titles that are spelt otherwise do not clash where lengths agree",
            [
                "/m/a": tracks(1...4)
                    + tracks(1...4).map { song in
                        var song = song
                        song.title += " (Live)"
                        return song
                    }
            ], "A: Low Tide 4 in /m/a"),
        Layout(
            "lengths that are unknown do not make titles equal",
            [
                "/m/a": tracks(1...4, year: "1971", songs: "x", isTimed: false)
                    + tracks(1...4, year: "1972", songs: "y", isTimed: false)
            ],
            "A: Low Tide (1971) 4 in -/m/a", "A: Low Tide (1972) 4 in -/m/a"),
        Layout(
            "sides have numbers of their own", ["/m/a": tracks(1...4, side: 1) + tracks(1...4, side: 2)],
            "A: Low Tide 8 in /m/a"),
        Layout("a gap makes the number unknown", ["/m/a": tracks(1...3) + tracks(5...6)], "A: Low Tide ? in /m/a"),
        Layout("three songs have no number", ["/m/a": tracks(1...3)], "A: Low Tide ? in /m/a"),
        Layout("but one in their tags", ["/m/a": tracks(1...3, total: 12)], "A: Low Tide 12 in /m/a"),
        Layout(
            "a total below the songs is wrong", ["/m/a": tracks(1...5, total: 3)], "A: Low Tide 5 in /m/a"),
        Layout("one song", ["/m/a": tracks(1...1)], "A: Low Tide ? in /m/a"),
        Layout("one song of a single", ["/m/a": tracks(1...1, total: 1)], "A: Low Tide 1 in /m/a"),
        Layout("songs without numbers", ["/m/a": tracks(1...9, isNumbered: false)], "A: Low Tide ? in /m/a"),
        Layout(
            "spellings of a title are one album",
            ["/m/a": tracks(1...5, "The Low Tide") + tracks(6...10, "Low Tide!")], "A: The Low Tide 10 in /m/a"),
        Layout(
            "songs without an album are none", ["/m/a": tracks(1...5, "") + tracks(1...5, "Unknown Album")]),
        Layout("nor are those of no album", ["/m/a": tracks(1...5, "[non-album tracks]")]),
        Layout(
            "a release of which two songs lack the id", ["/m/a": tracks(1...10, id: "1") + tracks(11...12)],
            "A: Low Tide 12 in /m/a"),
        Layout(
            "the first release's year is another fact", ["/m/a": tracks(1...4, year: "2011", original: "1971")],
            "A: Low Tide (2011) 4 in /m/a"),
        Layout(
            "and the year if no other is known", ["/m/a": tracks(1...4, original: "1971")],
            "A: Low Tide (1971) 4 in /m/a"),
    ]

    // MARK: Discs

    static let discs = [
        Layout(
            "discs in one folder by the end of the title",
            ["/m/a": tracks(1...6, "Low Tide - Disc 1") + tracks(1...6, "Low Tide - Disc 2")],
            "A: Low Tide 12 in /m/a"),
        Layout(
            "in brackets, with names and words",
            ["/m/a": tracks(1...6, "Low Tide [CD1: Sea]") + tracks(1...6, "Low Tide (Disc Two)")],
            "A: Low Tide 12 in /m/a"),
        Layout(
            "without a sign, if the first is there",
            ["/m/a": tracks(1...6, "Low Tide CD1") + tracks(1...6, "Low Tide CD 2")], "A: Low Tide 12 in /m/a"),
        Layout(
            "a series of discs of a magazine is not one album",
            ["/m/a": tracks(1...6, "Hammer CD 45") + tracks(1...6, "Hammer CD 46")],
            "A: Hammer CD 45 6 in -/m/a", "A: Hammer CD 46 6 in -/m/a"),
        Layout(
            "one disc of several", ["/m/a": tracks(1...6, "Low Tide (Disc 2)")], "A: Low Tide ? in /m/a"),
        Layout(
            "a title that is only a disc", ["/m/a": tracks(1...6, "CD1")], "A: CD1 6 in /m/a"),
        Layout(
            "folders of discs", ["/m/x/CD1": tracks(1...6), "/m/x/CD 2 - Live": tracks(1...5, songs: "y")],
            "A: Low Tide 11 in /m/x"),
        Layout(
            "with the disc in the title, too",
            ["/m/x/Disc 1": tracks(1...6, "Low Tide (Disc 1)"), "/m/x/Disc 2": tracks(1...5, "Low Tide [Disc 2]")],
            "A: Low Tide 11 in /m/x"),
        Layout(
            "with years of their own",
            ["/m/x/CD1": tracks(1...6, year: "2001", disc: 1), "/m/x/CD2": tracks(1...6, year: "2002", disc: 2)],
            "A: Low Tide 12 in /m/x"),
        Layout(
            "with ids of their own",
            ["/m/x/CD1": tracks(1...6, id: "1", songs: "x"), "/m/x/CD2": tracks(1...6, id: "2", songs: "y")],
            "A: Low Tide 12 in /m/x"),
        Layout(
            "the title before the disc", ["/m/x/Low Tide CD1": tracks(1...6), "/m/x/Low Tide CD2": tracks(1...6)],
            "A: Low Tide 12 in /m/x"),
        Layout(
            "beside other albums, each has its cover",
            ["/m/x/Low Tide CD1": tracks(1...6), "/m/x/Low Tide CD2": tracks(1...6), "/m/x/y": tracks(1...4, "High")],
            "A: High 4 in /m/x/y", "A: Low Tide 12 in /m/x/Low Tide CD1,/m/x/Low Tide CD2"),
        Layout(
            "titles that differ are other albums",
            ["/m/x/CD1": tracks(1...6, "Low"), "/m/x/CD2": tracks(1...6, "High")],
            "A: High ? in /m/x/CD2", "A: Low 6 in /m/x/CD1"),
        Layout(
            "the artist's folder is not the album's",
            ["/m/A/CD1": tracks(1...6), "/m/A/CD2": tracks(1...6, songs: "y")],
            "A: Low Tide 12 in /m/A/CD1,/m/A/CD2"),
        Layout(
            "nor is one of which something could not be read",
            ["/m/x/CD1": tracks(1...6), "/m/x/CD2": tracks(1...6, songs: "y")], unread: ["/m/x/CD3"],
            "A: Low Tide 12 in /m/x/CD1,/m/x/CD2"),
        Layout(
            "the scanned folder is, if it holds nothing else",
            ["/m/CD1": tracks(1...6), "/m/CD2": tracks(1...6, songs: "y")], "A: Low Tide 12 in /m"),
        Layout(
            "but not a folder above it", ["/m/x/CD1": tracks(1...6)], roots: ["/m/x/CD1"], "A: Low Tide 6 in /m/x/CD1"),
        Layout(
            "the first disc in the folder of the second's",
            ["/m/x": tracks(1...6, disc: 1), "/m/x/CD2": tracks(1...6, disc: 2)], "A: Low Tide 12 in /m/x"),
        Layout(
            "discs by their tags",
            [
                "/m/x/Sea": tracks(1...6, year: "1999", disc: 1, of: 2),
                "/m/x/Shore": tracks(1...6, year: "1999", disc: 2, of: 2),
            ], "A: Low Tide (1999) 12 in /m/x"),
        Layout(
            "two copies of two discs",
            [
                "/m/FLAC/CD1": tracks(1...6, disc: 1), "/m/FLAC/CD2": tracks(1...6, disc: 2),
                "/m/MP3/CD1": tracks(1...6, disc: 1), "/m/MP3/CD2": tracks(1...6, disc: 2),
            ], "A: Low Tide 12 in /m/FLAC + /m/MP3"),
        Layout(
            "the total of all discs", ["/m/a": tracks(1...6, disc: 1, total: 12) + tracks(1...6, disc: 2, total: 12)],
            "A: Low Tide 12 in /m/a"),
        Layout(
            "numbers that go on over the discs", ["/m/x/CD1": tracks(1...6), "/m/x/CD2": tracks(7...10)],
            "A: Low Tide 10 in /m/x"),
        Layout(
            "the second disc in a folder beside the album's",
            ["/m/x/Low Tide": tracks(1...6), "/m/x/Low Tide (Disc 2)": tracks(1...5, "Low Tide (Disc 2)")],
            "A: Low Tide 11 in /m/x"),
    ]

    // MARK: Volumes

    static let volumes = [
        Layout(
            "volumes are albums",
            ["/m/x/Vol. 1": tracks(1...6, "Hits, Vol. 1"), "/m/x/Vol. 2": tracks(1...6, "Hits, Vol. 2")],
            "A: Hits, Vol. 1 6 in /m/x/Vol. 1", "A: Hits, Vol. 2 6 in /m/x/Vol. 2"),
        Layout(
            "discs that are called volumes",
            ["/m/x/Volume1": tracks(1...6, disc: 1), "/m/x/Volume2": tracks(1...6, disc: 2)], "A: Low Tide 12 in /m/x"),
        Layout(
            "volumes of one title with the same numbers",
            ["/m/x/Vol 1": tracks(1...6, songs: "x"), "/m/x/Vol 2": tracks(1...6, songs: "y")],
            "A: Low Tide 6 in /m/x/Vol 1", "A: Low Tide 6 in /m/x/Vol 2"),
        Layout(
            "sides whose numbers go on", ["/m/x/Side A": tracks(1...5), "/m/x/Side B": tracks(6...10)],
            "A: Low Tide 10 in /m/x"),
        Layout(
            "an album called by its volume in the artist's folder",
            ["/m/x/Vol. 4": tracks(1...8, "Vol. 4"), "/m/x/y": tracks(1...8, "Masters")],
            "A: Masters 8 in /m/x/y", "A: Vol. 4 8 in /m/x/Vol. 4"),
        Layout("alone", ["/m/x/Vol. 4": tracks(1...8, "Vol. 4")], "A: Vol. 4 8 in /m/x/Vol. 4"),
        Layout(
            "parts of a title in one folder",
            ["/m/a": tracks(1...5, "Hits, Part 1") + tracks(1...5, "Hits, Part 2")],
            "A: Hits, Part 1 5 in -/m/a", "A: Hits, Part 2 5 in -/m/a"),
    ]
}
