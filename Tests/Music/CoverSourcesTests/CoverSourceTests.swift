@testable import CoverSources
import Testing

@Suite struct CoverSourceTests {
    private static func source(_ name: SourceName) -> CoverSource { CoverSource.table([name])[0] }

    private static func url(_ name: SourceName, _ artist: String, _ title: String, release: String? = nil) -> String? {
        source(name).search(AlbumQuery(artist: artist, title: title, releaseID: release))
    }

    // MARK: Requests

    @Test func `MusicBrainz is asked for a phrase of each name, escaped for Lucene and for the URL`() {
        let query = AlbumQuery(artist: "Guns N' Roses", title: #"A "B" \ C & D (Deluxe Edition)"#)
        #expect(
            Self.source(.musicbrainz).searches(query).dropFirst().first
                == "/ws/2/release?query=release%3A%22A%20%5C%22B%5C%22%20%5C%5C%20C%20%26%20D%22%20AND%20"
                + "artist%3A%22Guns%20N%27%20Roses%22&fmt=json&limit=25")
    }

    @Test func `MusicBrainz is asked for the group of a release that has an id`() {
        #expect(
            Self.url(.musicbrainz, "A", "B", release: Answers.release)
                == "https://musicbrainz.org/ws/2/release?query=reid%3A\(Answers.release)&fmt=json&limit=25")
    }

    @Test func `iTunes is asked for artist and title, whatever their script`() {
        #expect(
            Self.url(.itunes, "Florence + the Machine", "Lungs - EP")
                == "https://itunes.apple.com/search?term=Florence%20%2B%20the%20Machine%20Lungs%20-%20EP&media=music&entity=album&limit=25"
        )
        #expect(Self.url(.itunes, "椎名林檎", "")?.isEmpty != false)
        #expect(Self.url(.itunes, "椎名林檎", "加爾基")?.contains("term=%E6%A4%8E") == true)
    }

    @Test func `Deezer is asked for a phrase of each name, without quotation marks`() {
        #expect(
            Self.url(.deezer, #"The "X""#, "B")
                == "https://api.deezer.com/search/album?q=artist%3A%22The%20%20X%20%22%20album%3A%22B%22&limit=25")
    }

    @Test(arguments: [SourceName.musicbrainz, .itunes, .deezer])
    func `a collective artist is no word of a search`(_ name: SourceName) {
        #expect(Self.url(name, "Various Artists", "Hits")?.contains("Various") == false)
        #expect(Self.url(name, "Various Artists", "Hits")?.contains("Hits") == true)
    }

    @Test(arguments: [SourceName.musicbrainz, .itunes, .deezer])
    func `symbols are searched for as they are, and nothing for an album without a title`(_ name: SourceName) {
        #expect(Self.url(name, "!!!", "÷")?.contains("%C3%B7") == true)
        #expect(Self.url(name, "!!!", "÷")?.contains("%21%21%21") == true)
        #expect(Self.url(name, "A", " ") == nil)
    }

    @Test func `a title is searched for as it is written, without its brackets, folded, and without its number`() {
        func titles(_ title: String) -> [String] {
            CoverSource.names(of: AlbumQuery(artist: "A", title: title)).map(\.title)
        }
        #expect(titles("Harbour") == ["Harbour"])
        #expect(titles("Harbour [FLAC]") == ["Harbour [FLAC]", "Harbour"])
        #expect(
            titles("Harbour, Vol. 05 (2CD)")
                == ["Harbour, Vol. 05 (2CD)", "Harbour, Vol. 05", "harbour vol 5", "harbour"])
        #expect(titles("Harbour IV") == ["Harbour IV", "harbour 4", "harbour"])
        #expect(titles("Harbour 1984") == ["Harbour 1984"])
        #expect(titles("÷") == ["÷"] && titles(" ").isEmpty)
    }

    @Test func `other artists of an album are searched for, and those whose last name comes first`() {
        func artists(_ artist: String, _ others: [String] = []) -> [String] {
            CoverSource.names(of: AlbumQuery(artist: artist, otherArtists: others, title: "Harbour")).map(\.artist)
        }
        #expect(artists("Orr, Ann") == ["Orr, Ann", "Ann Orr"])
        #expect(artists("Salt Records", ["Ann Orr", "Various Artists"]) == ["Salt Records", "Ann Orr"])
        #expect(artists("Ann Orr", ["ann orr"]) == ["Ann Orr"])
    }

    @Test func `a table has the sources in the order given, once each, at other addresses`() {
        let table = CoverSource.table([.deezer, .caa, .deezer], bases: [.deezer: "http://127.0.0.1:1/d/"])
        #expect(table.map(\.name) == [.deezer, .caa])
        #expect(table[0].base == "http://127.0.0.1:1/d")
        #expect(
            table[0].search(AlbumQuery(artist: "", title: "B"))?.hasPrefix("http://127.0.0.1:1/d/search/album?") == true
        )
    }

    @Test func `MusicBrainz is refused without a contact, with the way to name one`() throws {
        let source = Self.source(.musicbrainz)
        let refusal = try #require(source.refusal(userAgent: "Sleeve/0.1.0"))
        #expect(refusal.contains("--contact") && refusal.contains("SLEEVE_CONTACT"))
        #expect(source.refusal(userAgent: "Sleeve/0.1.0 (me@example.org)") == nil)
        #expect(source.refusal(userAgent: "Sleeve/0.1.0 (+https://example.org/me)") == nil)
        #expect(Self.source(.itunes).refusal(userAgent: "Sleeve/0.1.0") == nil)
    }

    // MARK: Answers

    private static func candidates(_ name: SourceName, _ json: String) -> [SourceCandidate] {
        if case .found(let candidates) = source(name).read(.json(json)) { candidates } else { [] }
    }

    @Test func `an album of MusicBrainz has the archive's large pictures of release and group`() throws {
        let found = Self.candidates(.musicbrainz, Answers.musicBrainz("A", "B", date: "1994-05", tracks: 10))
        try #require(found.count == 2)
        let album = found[1].album
        #expect(album.artist == "A & Friends" && album.title == "B" && album.year == 1994 && album.trackCount == 10)
        let archive = "https://coverartarchive.org"
        #expect(
            found[1].pictures == [
                "\(archive)/release/\(Answers.release)/front-1200",
                "\(archive)/release-group/\(Answers.group)/front-1200",
            ])
    }

    @Test func `releases of one group are one candidate, the one that agrees best`() {
        let found = Self.candidates(.musicbrainz, Answers.musicBrainz("A", "B", date: "1994-05", tracks: 10))
        let query = AlbumQuery(artist: "A and Friends", title: "B", year: 1994)
        let matching = SourceCandidate.matching(query, found)
        #expect(matching.count == 1)
        #expect(matching.first?.album.releaseID == Answers.release && matching.first?.certainty == .certain)
    }

    @Test func `a single that is named as its album is not that`() {
        let answer = Answers.musicBrainz("A", "B", date: "1994-05", tracks: 2).replacing(
            "\"primary-type\": \"Album\"", with: "\"primary-type\": \"Single\"")
        let found = Self.candidates(.musicbrainz, answer)
        #expect(found.last?.album.title == "B (Single)")
        let album = AlbumQuery(artist: "A and Friends", title: "B", year: 1994, trackCount: 10)
        #expect(SourceCandidate.matching(album, found).first?.certainty == .doubtful)
        let wanted = AlbumQuery(artist: "A and Friends", title: "B", year: 1994, trackCount: 2)
        #expect(SourceCandidate.matching(wanted, found).first?.certainty == .doubtful, "by lengths only")
        let single = AlbumQuery(artist: "A and Friends", title: "B - Single", year: 1994, trackCount: 2)
        #expect(SourceCandidate.matching(single, found).first?.certainty == .certain)
        let ep = Answers.deezer("A", "B EP", tracks: 4).replacing("\"album\"", with: "\"ep\"")
        #expect(Self.candidates(.deezer, ep).first?.album.title == "B EP")
    }

    @Test func `artwork of iTunes is asked for in larger sizes`() throws {
        let found = try #require(Self.candidates(.itunes, Answers.iTunes("A", "B", year: 1994, tracks: 10)).first)
        #expect(found.album == AlbumQuery(artist: "A", title: "B", year: 1994, trackCount: 10))
        #expect(
            found.pictures.map { $0.split(separator: "/").last } == [
                "3000x3000bb.jpg", "1200x1200bb.jpg", "600x600bb.jpg", "100x100bb.jpg",
            ])
        #expect(CoverSource.artworkSizes("https://a/x.jpg", [600]) == ["https://a/x.jpg"])
        #expect(
            CoverSource.artworkSizes("https://a/100x100-75.jpg", [3_000, 600]).first == "https://a/3000x3000-75.jpg")
    }

    @Test func `pictures of Deezer are asked for by falling size, without placeholders`() throws {
        let found = try #require(Self.candidates(.deezer, Answers.deezer("A", "B", tracks: 10)).first)
        #expect(found.album == AlbumQuery(artist: "A", title: "B", trackCount: 10))
        #expect(
            found.pictures.map { $0.split(separator: "/").last } == ["1000x1000.jpg", "500x500.jpg"])
        let placeholder = Answers.deezer("A", "B", tracks: 10).replacing(
            "pictures.example/a", with: "x.example/images/cover/")
        #expect(Self.candidates(.deezer, placeholder).first?.pictures.isEmpty == true)
        let query = AlbumQuery(artist: "A", title: "B", trackCount: 10)
        #expect(SourceCandidate.matching(query, Self.candidates(.deezer, placeholder)).isEmpty)
    }

    @Test func `an error of Deezer in a 200 is a throttle, a failure or no data`() {
        let source = Self.source(.deezer)
        guard case .throttled = source.read(.json(Answers.deezerThrottle)) else { return #expect(Bool(false)) }
        #expect(source.read(.json(#"{"error": {"code": 800, "message": "no data"}}"#)) == .notFound)
        guard case .failed = source.read(.json(#"{"error": {"code": 500}}"#)) else { return #expect(Bool(false)) }
        #expect(source.read(.json(Answers.deezerNothing)) == .notFound)
    }

    @Test(arguments: [SourceName.musicbrainz, .itunes, .deezer], [429, 503, 403, 404, 500, 302])
    func `a status other than 200 says nothing about the album`(_ name: SourceName, _ status: Int) {
        switch Self.source(name).read(SourceResponse(status: status)) {
        case .throttled: #expect(status == 429 || status == 503 || status == 403 && name == .itunes)
        case .failed: #expect(status != 429 && status != 503)
        default: Issue.record("it says something")
        }
    }

    @Test(
        arguments: [SourceName.musicbrainz, .itunes, .deezer], ["", "<html>", "[]", "null", "{}", #"{"releases": 1}"#])
    func `an answer of another form is a failure`(_ name: SourceName, _ body: String) {
        guard case .failed = Self.source(name).read(.json(body)) else { return #expect(Bool(false)) }
    }

    @Test func `an album's ids name covers of the archive without a request`() throws {
        let source = Self.source(.caa)
        let query = AlbumQuery(artist: "A", title: "B", releaseID: "https://musicbrainz.org/release/\(Answers.release)")
        #expect(source.search(query) == nil)
        let candidate = try #require(source.known(query).first)
        #expect(candidate.pictures.count == 2)
        #expect(source.known(AlbumQuery(artist: "A", title: "B", releaseID: "../../secret")).isEmpty)
    }

    @Test func `placeholders are known by their URLs and shapes`() {
        #expect(Placeholder.isAt("https://x/images/cover//500x500-000000-80-0-0.jpg"))
        #expect(!Placeholder.isAt("https://x/images/cover/311bba0fc112d15f72c8b5a65f0456c1/1000x1000.jpg"))
        #expect(Placeholder.reason(width: 1, height: 1)?.contains("small") == true)
        #expect(Placeholder.reason(width: 500, height: 500) == nil)
        #expect(Placeholder.reason(width: 500, height: 500, hasOneColour: true)?.contains("colour") == true)
    }
}
