import Testing

@testable import MusicFolder

@Suite struct MainArtistTests {
    private func artist(_ songs: [AudioTags], isWhole: Bool = true) -> MainArtist {
        var names = MainArtist.Names()
        return MainArtist(songs.map { (SongTags($0), 1) }, isWhole: isWhole, &names)
    }

    private static let guests = [
        "{} & {}", "{}, {}", "{}; {}", "{} with {}", "{} x {}", "{} vs. {}", "{}/{}", "{} / {}", "{} and {}",
        "{} feat. {}", "{} (ft. {})", "{} featuring {}", "{} + {}", "{} | {}", "{} und {}", "{} ft. {} & Other",
    ]

    @Test(arguments: guests)
    func `guests make no compilation`(form: String) {
        let parts = form.split(separator: "{}", omittingEmptySubsequences: false)
        let guest = "Mason Reed" + parts[1] + "Dora Hill" + parts[2]
        let all = [String](repeating: "Mason Reed", count: 4) + [guest, guest]
        #expect(artist(all.flatMap { by($0) }).name == "Mason Reed")
    }

    @Test(arguments: [
        ["Tyler, The Creator"], ["10,000 Maniacs"], ["Earth, Wind & Fire"], ["AC/DC", "AC/DC", "AC/DC feat. X"],
        ["Earth, Wind & Fire", "Earth, Wind & Fire", "Earth, Wind & Fire & The Emotions"],
        ["Crosby, Stills & Nash", "Crosby, Stills & Nash", "Crosby, Stills, Nash & Young"],
    ])
    func `whole names stay whole`(names: [String]) {
        #expect(artist(names.flatMap { by($0) }).name == names[0])
    }

    @Test func `the longest beginning that songs share counts`() {
        let duets = ["X", "Y", "Z", "W"].map { "10,000 Maniacs & \($0)" }
        #expect(artist(duets.flatMap { by($0) }).name == "10,000 Maniacs")
    }

    @Test func `a split keeps the names of two or three artists`() {
        let split = artist(by("Bo", "Bo", "Al", "Al"))
        #expect(split.name == "Bo & Al" && split.others == ["Al & Bo"])
        #expect(artist(by("P", "Q", "R")).name == "P & Q & R")
    }

    @Test func `nothing shared is various, as are its names in tags`() {
        #expect(artist(by("P", "Q", "R", "S")).name == "Various Artists")
        for name in ["VA", "Various", "Verschiedene", "v.a."] {
            #expect(artist(by("P", "Q", albumArtist: name)).name == "Various Artists")
        }
    }

    @Test func `various artists of whom there is one are that artist`() {
        let songs = by("P", "P feat. Q", albumArtist: "Various Artists")
        #expect(artist(songs).name == "P")
        #expect(artist(songs, isWhole: false).name == "Various Artists")
        #expect(artist(Array(songs.prefix(1))).name == "Various Artists", "one song of a compilation says nothing")
    }

    @Test func `the album artist counts, unless few songs have one`() {
        #expect(artist(by("P", "Q", "R", albumArtist: "X")).name == "X")
        #expect(artist(by("P", albumArtist: "X") + by("P", "P", "P", "P")).name == "P")
        #expect(artist(by("P", albumArtist: "X feat. Y") + by("P", albumArtist: "X")).name == "X")
    }

    @Test func `songs without names say nothing`() {
        #expect(artist(by("")) == MainArtist())
        #expect(artist(by("", "P", "")).name == "P")
    }
}
