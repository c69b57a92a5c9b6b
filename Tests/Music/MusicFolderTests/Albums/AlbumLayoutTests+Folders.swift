@testable import MusicFolder

extension AlbumLayoutTests {
    // MARK: Several folders

    static let inSeveralFolders = [
        Layout("copies", ["/m/FLAC": tracks(1...10), "/m/MP3": tracks(1...10)], "A: Low Tide 10 in /m/FLAC + /m/MP3"),
        Layout(
            "copies without lengths, of the same titles",
            ["/m/FLAC": tracks(1...10, isTimed: false), "/m/MP3": tracks(1...10, isTimed: false)],
            "A: Low Tide 10 in /m/FLAC + /m/MP3"),
        Layout(
            "copies of which one has no year", ["/m/a": tracks(1...10, year: "1971"), "/m/b": tracks(1...10)],
            "A: Low Tide (1971) 10 in /m/a + /m/b"),
        Layout(
            "a reissue is another album",
            ["/m/a": tracks(1...10, year: "1971"), "/m/b": tracks(1...10, year: "2011")],
            "A: Low Tide (1971) 10 in /m/a", "A: Low Tide (2011) 10 in /m/b"),
        Layout(
            "a larger edition is another album", ["/m/a": tracks(1...10), "/m/b": tracks(1...14)],
            "A: Low Tide 10 in /m/a", "A: Low Tide 14 in /m/b"),
        Layout(
            "a single beside its album",
            ["/m/a": tracks(1...10, year: "1971"), "/m/b": tracks(1...1, year: "1971", total: 1)],
            "A: Low Tide (1971) 1 in /m/b", "A: Low Tide (1971) 10 in /m/a"),
        Layout(
            "halves of one year and total",
            ["/m/a": tracks(1...5, year: "1971", total: 10), "/m/b": tracks(6...10, year: "1971", total: 10)],
            "A: Low Tide (1971) 10 in /m/a + /m/b"),
        Layout(
            "halves without a total stay apart",
            ["/m/a": tracks(1...5, year: "1971"), "/m/b": tracks(6...10, year: "1971")],
            "A: Low Tide (1971) 5 in /m/a", "A: Low Tide (1971) ? in /m/b"),
        Layout(
            "songs of a compilation in the folders of their artists",
            [
                "/m/P": tracks(1...1, by: "P", albumArtist: "VA", year: "1971", total: 3),
                "/m/Q": tracks(2...3, by: "Q", albumArtist: "VA", year: "1971", total: 3),
            ], "Various Artists: Low Tide (1971) 3 in /m/P + /m/Q"),
        Layout(
            "halves that clash are two albums",
            [
                "/m/a": tracks(1...5, year: "1971", total: 10, songs: "x"),
                "/m/b": tracks(5...10, year: "1971", total: 10, songs: "y"),
            ], "A: Low Tide (1971) 10 in /m/a", "A: Low Tide (1971) 10 in /m/b"),
        Layout(
            "other artists are other albums", ["/m/a": tracks(1...10), "/m/b": tracks(1...10, by: "B")],
            "A: Low Tide 10 in /m/a", "B: Low Tide 10 in /m/b"),
        Layout(
            "carriers in titles say nothing",
            ["/m/a": tracks(1...10, "Salt [FLAC]", songs: "s"), "/m/b": tracks(1...10, "Salt [MP3]", songs: "s")],
            "A: Salt [FLAC] 10 in /m/a + /m/b"),
        Layout(
            "editions do",
            ["/m/a": tracks(1...10, "Salt", songs: "s"), "/m/b": tracks(1...10, "Salt (Deluxe)", songs: "s")],
            "A: Salt (Deluxe) 10 in /m/b", "A: Salt 10 in /m/a"),
        Layout(
            "compilations of one title and number",
            [
                "/m/a": by("P", "Q", "R", "S", albumArtist: "VA"), "/m/b": by("T", "U", "V", "W", albumArtist: "VA"),
            ], "Various Artists: Low Tide 4 in /m/a", "Various Artists: Low Tide 4 in /m/b"),
    ]

    // MARK: Same names

    static let sameNames = [
        Layout(
            "without a year",
            ["/m/a": tracks(1...10, "A", songs: "Blue"), "/m/b": tracks(1...13, "A", songs: "Green")],
            "A: A 10 in /m/a", "A: A 13 in /m/b"),
        Layout(
            "without years and of one number, by their songs",
            ["/m/a": tracks(1...10, "A", songs: "Blue"), "/m/b": tracks(1...10, "A", songs: "Green")],
            "A: A 10 in /m/a", "A: A 10 in /m/b"),
        Layout(
            "and without lengths",
            [
                "/m/a": tracks(1...10, "A", songs: "Blue", isTimed: false),
                "/m/b": tracks(1...10, "A", songs: "Green", isTimed: false),
            ], "A: A 10 in /m/a", "A: A 10 in /m/b"),
        Layout(
            "songs of one length were made up",
            [
                "/m/a": tracks(1...10, "A", songs: "Blue").map(timed),
                "/m/b": tracks(1...10, "A", songs: "Green").map(timed),
            ], "A: A 10 in /m/a", "A: A 10 in /m/b"),
    ]

    private static func timed(_ song: AudioTags) -> AudioTags {
        var song = song
        song.length = 627
        return song
    }

    // MARK: Ids

    static let ids = [
        Layout(
            "a release is one album in all folders",
            ["/m/a": tracks(1...5, id: "1"), "/m/b": tracks(6...9, id: "1")], "A: Low Tide 9 in /m/a + /m/b"),
        Layout(
            "two releases of one title are two albums",
            ["/m/a": tracks(1...5, id: "1"), "/m/b": tracks(1...5, id: "2")],
            "A: Low Tide 5 in /m/a", "A: Low Tide 5 in /m/b"),
        Layout(
            "a copy without the id belongs to the only one that it fits",
            ["/m/a": tracks(1...5, id: "1"), "/m/b": tracks(1...5)], "A: Low Tide 5 in /m/a + /m/b"),
        Layout(
            "and to none of two",
            ["/m/a": tracks(1...5, id: "1"), "/m/b": tracks(1...5, id: "2"), "/m/c": tracks(1...5)],
            "A: Low Tide 5 in /m/a", "A: Low Tide 5 in /m/b", "A: Low Tide 5 in /m/c"),
        Layout(
            "the id of a box joins no titles",
            ["/m/x/1": tracks(1...5, "Low", id: "1"), "/m/x/2": tracks(1...5, "High", id: "1")],
            "A: High 5 in /m/x/2", "A: Low 5 in /m/x/1"),
        Layout(
            "a disc without the id",
            ["/m/x/CD1": tracks(1...5, id: "1"), "/m/x/CD2": tracks(1...5, songs: "y")], "A: Low Tide 10 in /m/x"),
        Layout(
            "songs of two ids that do not clash are one album",
            ["/m/a": tracks(1...5, id: "1") + tracks(6...9, id: "2")], "A: Low Tide 9 in /m/a"),
        Layout(
            "one title of two artists under one id",
            ["/m/a": tracks(1...5, id: "1"), "/m/b": tracks(1...5, by: "B", id: "1")],
            "A: Low Tide 5 in /m/a", "B: Low Tide 5 in /m/b"),
    ]

    // MARK: Folders

    static let folders = [
        Layout(
            "two albums share a folder", ["/m/a": tracks(1...5, "Low") + tracks(1...5, "High")],
            "A: High 5 in -/m/a", "A: Low 5 in -/m/a"),
        Layout(
            "one has three quarters of it", ["/m/a": tracks(1...6, "Low") + tracks(1...2, "High")],
            "A: High ? in -/m/a", "A: Low 6 in /m/a"),
        Layout(
            "songs of no album are of no other", ["/m/a": tracks(1...5, "Low") + tracks(1...2, "")],
            "A: Low 5 in /m/a"),
        Layout(
            "loose songs",
            ["/m/a": tracks(1...1, "P", by: "P") + tracks(1...1, "Q", by: "Q") + tracks(1...1, "R", by: "R")],
            "P: P ? in -/m/a", "Q: Q ? in -/m/a", "R: R ? in -/m/a"),
        Layout(
            "a disc in a folder with another album",
            ["/m/x/CD1": tracks(1...5, "Low"), "/m/x/CD2": tracks(1...5, "Low", songs: "y") + tracks(1...5, "High")],
            "A: High ? in -/m/x/CD2", "A: Low 10 in -/m/x/CD1,/m/x/CD2"),
        Layout(
            "a loose song in the artist's folder", ["/m/A": tracks(1...1), "/m/A/b": tracks(1...5, "High")],
            "A: High 5 in /m/A/b", "A: Low Tide ? in -/m/A"),
        Layout(
            "a loose song above all music", ["/m": tracks(1...1), "/m/A/b": tracks(1...5, "High")],
            "A: High 5 in /m/A/b", "A: Low Tide ? in -/m"),
        Layout("an album that was scanned alone", ["/m": tracks(1...5)], "A: Low Tide 5 in /m"),
    ]
}
