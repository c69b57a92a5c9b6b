import AlbumLibrary
import Platform
import Testing

@testable import MusicFolder

@Suite struct ExportPlanTests {
    private func cover(_ number: UInt8, _ mediaType: String = "image/jpeg") -> ExportCover {
        ExportCover(digest: Digest(of: [number]), bytes: 1, mediaType: mediaType)
    }

    private func album(_ id: String, _ title: String, _ artist: String = "A", year: String = "") -> Album {
        Album(id: id, title: title, artist: artist, year: year)
    }

    private func paths(_ albums: [(Album, ExportCover?)], _ pattern: String = ExportPattern.standard) throws -> [String]
    {
        let plan = ExportPlan(albums.map { (album: $0.0, cover: $0.1) }, try ExportPattern(pattern))
        return plan.items.map { "\($0.albumID) \($0.path.joined(separator: "/"))" }
    }

    // MARK: Patterns

    @Test(arguments: [
        ("{albumartist}/{album}/cover.{ext}", "The Artist/The Title/cover.png"),
        ("{artist} - {title} ({year}) [{genre}].{ext}", "The Artist - The Title (1999) [Folk].png"),
        ("{id}/{releaseid}", "i/76df3287-6cda-33eb-8e9a-044b5e15ffdd"), (".covers/{id}.{EXT}", ".covers/i.png"),
    ])
    func `fields are filled in`(pattern: String, expected: String) throws {
        var album = Album(id: "i", title: "The Title", artist: "The Artist", genre: "Folk", year: "1999")
        album.musicBrainzReleaseID = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
        #expect(try paths([(album, cover(1, "image/png"))], pattern) == ["i " + expected])
    }

    @Test func `a field that the album does not have says so`() throws {
        let pattern = "{artist}/{title}/{year}/{genre}/{releaseid}.{ext}"
        let expected = "i Unknown Artist/Unknown Album/Unknown Year/Unknown Genre/i.jpg"
        #expect(try paths([(Album(id: "i"), cover(1))], pattern) == [expected])
    }

    @Test(arguments: [
        ("{albun}/x", "no field {albun}; the fields are {albumartist}"), ("../{id}", "out of the folder"),
        ("{id}/./x", "out of the folder"), ("/tmp/{id}", "begins with /"), ("{id}//x", "empty name"),
        ("{id}/", "empty name"),
        ("", "empty name"), ("{id", "brace"), ("id}", "brace"), ("cover.{ext}", "no field of the album"),
        (".sleeve-export.jsonl/{id}", ".sleeve"),
    ])
    func `a pattern that cannot be used says why`(pattern: String, reason: String) {
        let problem = #expect(throws: ExportPattern.Problem.self) { _ = try ExportPattern(pattern) }
        #expect(problem?.description.contains(reason) == true, "\(String(describing: problem))")
    }

    @Test func `a field cannot lead out of its folder`() throws {
        let albums = [(album("i", "..", "../../etc"), cover(1) as ExportCover?)]
        #expect(try paths(albums) == ["i _._.._etc/Unknown Album/cover.jpg"])
    }

    @Test func `a name with an extension is for pictures of its type`() throws {
        #expect(try ExportPattern("{albumartist}/{album}/folder.jpg").mediaType == "image/jpeg")
        #expect(try ExportPattern("{albumartist}/{album}/cover.PNG").mediaType == "image/png")
        #expect(try ExportPattern(ExportPattern.standard).mediaType == nil)
    }

    // MARK: Collisions

    @Test func `albums of one name are numbered by their ids, whatever the library's order`() throws {
        let albums = [
            (album("b", "Same"), cover(1) as ExportCover?), (album("a", "same"), cover(2)),
            (album("c", "SAME"), cover(3, "image/png")), (album("d", "Same (2)"), cover(4)),
        ]
        let expected = [
            "c A/SAME (3)/cover.png", "b A/Same (2)/cover.jpg", "d A/Same (2) (2)/cover.jpg", "a A/same/cover.jpg",
        ]
        #expect(try paths(albums) == expected)
        #expect(try paths(albums.reversed()) == expected)
    }

    @Test(arguments: [ExportPattern.standard, "{albumartist}/{album}/folder.jpg"])
    func `numbers are those of years, whatever covers are cached`(pattern: String) throws {
        let years = [("d", "1994"), ("c", "2001"), ("b", "2005"), ("a", "2008")]
        func folders(cached: Set<String>) throws -> [String] {
            try paths(
                years.enumerated().map { number, item in
                    let cover = cached.contains(item.0) ? cover(UInt8(number)) : nil
                    return (album(item.0, "Weezer", year: item.1), cover)
                }, pattern
            ).map { String($0[..<($0.lastIndex(of: "/") ?? $0.endIndex)]) }
        }
        let all = ["d A/Weezer", "c A/Weezer (2)", "b A/Weezer (3)", "a A/Weezer (4)"]
        #expect(try folders(cached: ["a", "b", "c", "d"]) == all)
        #expect(try folders(cached: ["a", "c", "d"]) == all.filter { !$0.hasPrefix("b") })
        #expect(try folders(cached: ["b"]) == ["b A/Weezer (3)"])
    }

    @Test func `composed and decomposed names are one name`() throws {
        let albums = [
            (album("a", "x", "Beyonc\u{E9}"), cover(1) as ExportCover?), (album("b", "x", "Beyonce\u{301}"), cover(2)),
            (album("c", "y", "BEYONC\u{C9}"), cover(3)),
        ]
        let paths = try paths(albums)
        #expect(paths.contains { $0.hasSuffix("/x (2)/cover.jpg") })
        let artists = Set(paths.map { Array($0.dropFirst(2).prefix { $0 != "/" }.utf8) })
        #expect(artists == [Array("Beyonc\u{E9}".utf8)], "one folder, spelled as by the first album")
    }

    @Test func `albums of one name with the same cover share its file`() throws {
        let albums = [(album("a", "x"), cover(1) as ExportCover?), (album("b", "x"), cover(1))]
        #expect(try paths(albums) == ["a A/x/cover.jpg"])
    }

    @Test func `an album whose cover is not cached keeps its name for later`() throws {
        let both = [(album("a", "x"), cover(1) as ExportCover?), (album("b", "x"), cover(2))]
        let one = [(album("a", "x"), nil as ExportCover?), (album("b", "x"), cover(2))]
        #expect(try paths(one) == paths(both).filter { $0.hasPrefix("b") })
        let plan = ExportPlan(one.map { (album: $0.0, cover: $0.1) }, try ExportPattern(ExportPattern.standard))
        #expect(plan.missing == ["a"])
    }

    @Test func `the number is in the name that tells albums apart`() throws {
        let albums = [
            (album("a", "x", year: "1999"), cover(1) as ExportCover?), (album("b", "x", year: "1999"), cover(2)),
        ]
        #expect(try paths(albums, "{year}/{album}.{ext}") == ["b 1999/x (2).jpg", "a 1999/x.jpg"])
        #expect(try paths(albums, "{album}/front/cover.{ext}") == ["a x/front/cover.jpg", "b x (2)/front/cover.jpg"])
    }
}
