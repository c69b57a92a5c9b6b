import Foundation
import Testing

@testable import AlbumLibrary

/// Lists as other programs write them.
@Suite struct ForeignListTests {
    private static let release = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"

    @Test(
        arguments: [
            "sep=;\r\ntitle;url\r\n\"a; b\";https://a/1\r\n", "\u{FEFF}\"sep=\t\"\ntitle\turl\na\thttps://a/1\n",
            "SEP=,\nurl\nhttps://a/1\n", "#TYPE System.Object\n\"Name\",\"CoverUrl\"\n\"a\",\"https://a/1\"\n",
            "# made on Monday, url\n#\n\ntitle,url\na,https://a/1\n",
            "\"#\",\"Title\",\"Cover URL\"\n1,a,https://a/1\n",
            "#,Title,Cover URL\n1,a,https://a/1\n", "url\nhttps://a/1\n", "\"cover_url\"\r\n\"https://a/1\"\r\n",
            "title|url\na|https://a/1\n", "sep=|\r\n#TYPE X\r\ntitle|url\r\na|https://a/1\r\n", "\"https://a/1\"\n",
        ])
    func `a header is found after lines that belong to no table, and without them`(text: String) throws {
        for name in ["list", "-.csv"] where name == "list" || text.contains("itle") {
            #expect(try list(text, name: name).urls == ["https://a/1"], "\(name)")
        }
    }

    @Test func `a URL in a single column may hold a comma`() throws {
        #expect(try list("url\nhttps://a/1,2.jpg\n", name: "x.csv").urls == ["https://a/1,2.jpg"])
    }

    @Test(
        arguments: [
            ("album,albumartist,cover_art_url,year", "Low Tide,The Harbour Lights,https://a/1,0", ""),
            (
                "\"Track Name\",\"Artist Name(s)\",\"Album Name\",\"Album Release Date\",\"Album Image URL\",\"Artist Image URL\"",
                "x,The Harbour Lights,Low Tide,1971-01-02,https://a/1,https://a/no", "1971"
            ),
            ("Cover,Page URL,Title,Artist,Image", "front.jpg,https://a/no,Low Tide,The Harbour Lights,https://a/1", ""),
        ])
    func `columns of other programs are known, whatever their order`(header: String, row: String, year: String) throws {
        let album = try #require(try list("\(header)\n\(row)\n", name: "x.csv").albums.first)
        #expect(album.title == "Low Tide" && album.artist == "The Harbour Lights")
        #expect(album.coverURL == "https://a/1" && album.year == year)
    }

    @Test(
        arguments: [
            #"[{"album": "Low Tide", "albumartist": "H", "cover_art_url": "https://a/1"}]"#,
            #"[{"collectionName": "Low Tide", "artistName": "H", "artworkUrl60": "https://a/no", "artworkUrl100": "https://a/1"}]"#,
            #"[{"title": "Low Tide", "artist": "H", "picture_url": "https://a/1", "genre": ["Folk"], "thumb": "https://a/no"}]"#,
            #"[{"title": "Low Tide", "year": 0, "artist_name": "H", "artists": [{"name": "no"}], "images": [{"url": "https://a/no"}], "cover_xl": "https://a/1"}]"#,
        ])
    func `albums of other programs are read, with the largest picture`(text: String) throws {
        for name in ["list", "x.json"] {
            #expect(try list(text, name: name).urls == ["https://a/1"])
            let album = try #require(try list(text, name: name).albums.first)
            #expect(album.title == "Low Tide" && album.artist == "H" && album.year == "", "\(album)")
        }
    }

    @Test(
        arguments: [
            #"[{"album": "A", "mb_albumid": "ID"}]"#,
            "title,mb_albumid\nA,ID\n",
            "Title;mb_albumid\nA;https://musicbrainz.org/release/ID\n",
        ])
    func `MusicBrainz ids are known under the names of beets and of MusicBrainz`(text: String) throws {
        let album = try #require(try list(text.replacing("ID", with: Self.release)).albums.first)
        let archive = CoverArtArchive(base: "https://a", size: .pixels500)
        #expect(album.coverURLs(in: archive).first == "https://a/release/\(Self.release)/front-500")
    }

    @Test func `objects over several lines, one after another, are a list`() throws {
        let text =
            "{\n  \"coverUrl\":\n \"https://a/1\"\n}\n{\n  \"coverUrl\": \"https://a/2\"\n}{\"coverUrl\": \"https://a/3\"}\n\n[\"https://a/4\"]\n"
        for chunk in [1, 3, 1_000] {
            let parsed = ParsedList(JSONListParser(file: "f", hasLines: true), text, chunk: chunk)
            #expect(parsed.urls == (1...4).map { "https://a/\($0)" } && parsed.lines == [1, 5, 7, 9], "\(parsed)")
        }
    }

    @Test func `a line that was cut off costs itself alone`() throws {
        let text =
            "{\"title\": \"a\",\n{\"coverUrl\": \"https://a/2\"}\n{\"title\": [\n{\"coverUrl\": \"https://a/3\"}\n"
        let parsed = ParsedList(JSONListParser(file: "f", hasLines: true), text)
        #expect(parsed.urls == ["https://a/2", "https://a/3"] && parsed.problems.count == 2, "\(parsed)")
    }

    @Test(
        arguments: [
            #"{"albums": ALBUMS}"#, #"{"total": 1, "albums": {"items": ALBUMS, "next": {"a": ["]"]}}, "x": "}"}"#,
            #"{"title": "Mine", "errors": ["x"], "artists": [{"name": "B"}], "albums": ALBUMS}"#,
            #"{"results": ALBUMS, "count": 2}"#,
        ])
    func `an array in an object is read, and what follows the object`(text: String) throws {
        let albums = #"[{"title": "A", "coverUrl": "https://a/1"}, {"title": "B", "coverUrl": "https://a/2"}]"#
        let text = text.replacing("ALBUMS", with: albums)
        for name in ["list", "x.json"] {
            #expect(try list(text, name: name).urls == ["https://a/1", "https://a/2"])
            #expect(try list(text, name: name, ListOptions(keepsOtherFields: true)).albums.map(\.title) == ["A", "B"])
        }
        for chunk in [1, 3, 1_000] {
            let pages = "\(text)\n{\"urls\": [\"https://a/3\"]}\n\"https://a/4\"\n"
            let parsed = ParsedList(JSONListParser(file: "f", hasLines: true), pages, chunk: chunk)
            #expect(parsed.urls == (1...4).map { "https://a/\($0)" } && parsed.problems.isEmpty, "\(parsed)")
        }
        let cut = ParsedList(JSONListParser(file: "f", hasLines: true), String(text.dropLast()))
        #expect(cut.urls.count == 2 || cut.problems.count == 1, "\(cut)")
    }

    @Test(
        arguments: [
            #"{"title": "C", "coverUrl": "https"#, #"{"title": "C", "#, "",
            #"{"title": }, {"coverUrl": "https://a/3"}], "total": 3}"#,
        ],
        [
            #"{"albums": ["#, "{\"albums\": [\n", #"{"total": 1, "urls": ["https://a/no"], "data": {"albums": ["#,
        ])
    func `a damaged array in an object fails at the end as one alone, behind what was read`(
        rest: String, opening: String
    ) {
        let rest = #"{"coverUrl": "https://a/1"}, {"coverUrl": "https://a/2"}, "# + rest
        let alone = ParsedList(JSONListParser(file: "f", hasLines: false), "[" + rest)
        for chunk in [1, 3, 1_000] {
            let parsed = ParsedList(JSONListParser(file: "f", hasLines: true), opening + rest, chunk: chunk)
            #expect(parsed.urls == ["https://a/1", "https://a/2"] && parsed.problems.isEmpty, "\(parsed)")
            #expect(parsed.thrown != nil && parsed.thrown?.message == alone.thrown?.message, "\(parsed)")
        }
    }

    @Test func `a damaged line that holds albums, or is an album, costs itself alone`() {
        let text = #"""
            {"albums": [{"coverUrl": "https://a/no"}, {"title": }]}
            {"coverUrl": "https://a/1"}
            {"title": "A", "coverUrl": "https://a/no", "releases": [{"coverUrl": "https://a/no"},
            """#
        for chunk in [1, 3, 1_000] {
            let parsed = ParsedList(JSONListParser(file: "f", hasLines: true), text, chunk: chunk)
            #expect(parsed.urls == ["https://a/1"] && parsed.problems.count == 2 && parsed.thrown == nil, "\(parsed)")
        }
    }

    @Test func `an object of any length streams the array that it holds`() throws {
        let urls = (0..<60_000).map { "https://covers.example/\($0).jpg" }
        let items = urls.joined(separator: "\", \"")
        let text = "{\"name\": \"x\", \"items\": [\"\(items)\"], \"end\": {}}\n\"https://a/1\"\n"
        #expect(text.utf8.count > 2 * ListLimit.element)
        let parsed = ParsedList(JSONListParser(file: "f", hasLines: true), text, chunk: ListLimit.chunk)
        #expect(parsed.urls == urls + ["https://a/1"] && parsed.problems.isEmpty && parsed.thrown == nil)
    }

    @Test func `an object that holds no albums is named, with advice`() throws {
        let advice = "the object is no album; if it holds some, give these, as by jq '.albums[]'; skipped"
        for text in [#"{"tracks": [{"title": "A"}]}"#, #"{"a": {"b": ["x"]}}"#] {
            for name in ["list", "x.json"] { #expect(try list(text, name: name).urls == [advice]) }
            #expect(try list(text, ListOptions(keepsOtherFields: true)).albums.isEmpty)
        }
        let album = try list(#"{"title": "A", "tracks": [{"title": "T", "url": "https://a/no"}]}"#).urls
        #expect(album == ["album 'A' has no cover URL; skipped"])
    }

    @Test(arguments: [
        "\u{FEFF}", "\u{200B}", "\u{A0}", "\u{2060}", "\u{200E}", "\u{3000}", "\u{AD}", "\u{85}", "\u{2028}",
    ])
    func `invisible characters around a URL are left out, and counted`(character: String) throws {
        let lists = [
            "https://a/0\n\(character)https://a/1\n\(character)\n\(character)# https://a/no\n"
                + " \(character) https://a/2\(character)\n",
            "title,url\n\(character)a,https://a/0\nb,\(character)https://a/1\nc,\"https://a/2\(character)\"\n",
            "[\"https://a/0\", \"\(character)https://a/1\", {\"coverUrl\": \"https://a/2 \(character)\"}]",
        ]
        for text in lists {
            let file = try ListFile(text.utf8)
            defer { withExtendedLifetime(file) {} }
            let reader = try AlbumListReader(path: file.path)
            #expect(try reader.elements().urls == ["https://a/0", "https://a/1", "https://a/2"])
            let code = String(format: "%04X", character.unicodeScalars.first?.value ?? 0)
            let notice = "invisible characters around 2 URLs are left out, the first of them U+\(code)"
            #expect(reader.leftOutNotice?.message == notice)
        }
        let albums = try list("title,url\na,\(character)https://a/1\n", ListOptions(keepsOtherFields: true)).albums
        #expect(albums.map(\.coverURL) == ["https://a/1"])
        let file = try ListFile("https://a/ü\n \"https://a/1\" \n".utf8)
        defer { withExtendedLifetime(file) {} }
        let plain = try AlbumListReader(path: file.path)
        #expect(try plain.elements().count == 2 && plain.leftOutNotice == nil)
    }

    @Test(
        arguments: [
            "https://a/1\n\u{FEFF}https://a/2\n\u{FEFF}",
            "title,url\n\u{FEFF}\"a\",https://a/1\n\u{FEFF}\nb,https://a/2\n",
            "\"https://a/1\"\n\u{FEFF}\"https://a/2\"\n", "[\"https://a/1\"]\u{FEFF}[\"https://a/2\"]",
        ])
    func `lists that were joined may have byte order marks in their midst`(text: String) throws {
        for name in ["list", "x.jsonl"] where name == "list" || text.first == "\"" {
            #expect(try list(text, name: name).urls == ["https://a/1", "https://a/2"])
        }
    }

    @Test(arguments: [
        "title,url\ra,https://a/1\r\"b\rc\",https://a/2\r", "https://a/1\rhttps://a/2",
        "#x\r\rurl\rhttps://a/1\rhttps://a/2\r",
    ])
    func `lines may end with a carriage return alone`(text: String) throws {
        #expect(try list(text).urls == ["https://a/1", "https://a/2"])
        #expect(try list("https://a/1\r\r\nhttps://a/2\r\r\n").urls == ["https://a/1", "https://a/2"])
        let rows = (0..<20_000).map { "t,https://covers.example/\($0).jpg" }
        let long = try list("title,url\r" + rows.joined(separator: "\r"))
        #expect(long.urls == rows.map { String($0.dropFirst(2)) })
        guard case .item(let last)? = long.last else { return #expect(!long.isEmpty) }
        #expect(last.line == 20_001)
    }

    @Test(arguments: [
        "My albums\ntitle,img\na,https://a/1\n", "Covers; a list\n\nMonday;2024\nTitle;Link\na;https://a/1\n",
        "\"Covers, all\",,\ntitle,artist,picture\na,b,https://a/1\n", "# x\nA title\nimg\nhttps://a/1\n",
    ])
    func `a header may stand below a title`(text: String) throws {
        for name in ["list", "x.csv"] { #expect(try list(text, name: name).urls == ["https://a/1"]) }
        let urls = try list("no title\nhttps://a/1\nurl\nhttps://a/2\n").urls
        #expect(urls == ["no title", "https://a/1", "url", "https://a/2"])
    }

    @Test func `two URLs on a line are an error, and a blank inside a URL is not`() throws {
        let found = try list("https://a/1 https://a/2\nhttps://a/My Cover.jpg\nhttps://a/1\thttps://b/1\n").urls
        #expect(found[1] == "https://a/My Cover.jpg" && found.count == 3)
        #expect([found[0], found[2]].allSatisfy { $0.hasPrefix("two URLs are on one line") })
    }

    @Test func `a column of any name can hold the URLs`() throws {
        let options = ListOptions(urlColumn: "Bild Adresse")
        #expect(try list("a;bild_adresse;url\nx;https://a/1;https://a/no\n", options).urls == ["https://a/1"])
        #expect(
            try list(#"[{"BildAdresse": "https://a/1", "coverUrl": "https://a/no"}]"#, options).urls == ["https://a/1"])
        let problem = #expect(throws: ListProblem.self) {
            try list("title,url\na,https://a/1\n", name: "x.csv", options).urls
        }
        #expect(problem?.description.contains("no column is named 'Bild Adresse': found 'title', 'url'") == true)
    }

    @Test func `a cell that is JSON is kept as that, and any other as text, under its column's name`() throws {
        let csv = #"""
            title,path,Title 2,coverUrls,,n,s,zero,list,yes,code,edges,half
            A,/m/a;b,x,https://a/1 https://a/2,y,5,"""5""",05,"[1, {""x"": 2}]",true,5012345678900123,""" x """,1.50
            B,,,https://a/3,,,,,,,,,

            """#
        let albums = try list(csv, name: "x.csv", ListOptions(keepsOtherFields: true)).albums
        #expect(albums[0].alternateCoverURLs == ["https://a/1", "https://a/2"])
        let fields = [
            "coverUrls": #"["https://a/1", "https://a/2"]"#, "path": #""/m/a;b""#, "Title 2": #""x""#,
            "column 5": #""y""#,
            "n": "5", "s": #""5""#, "zero": #""05""#, "list": #"[1, {"x": 2}]"#, "yes": "true",
            "code": #""5012345678900123""#, "edges": #"" x ""#, "half": "1.50",
        ]
        for (name, json) in fields { #expect(albums[0].otherFields[name] == json, "\(name)") }
        #expect(albums[0].otherFields.count == fields.count && albums[1].otherFields.map(\.name) == ["coverUrls"])
    }

    @Test func `an import keeps what it does not know, and a date that becomes a year`() throws {
        let csv = "Album,Release Date,path,rating,url\nA,1971-01-02,/m/a,5,https://a/1\n"
        let album = try #require(try list(csv, name: "x.csv", ListOptions(keepsOtherFields: true)).albums.first)
        #expect(album.title == "A" && album.year == "1971" && album.coverURL == "https://a/1")
        #expect(album.otherFields["Release Date"] == "\"1971-01-02\"" && album.otherFields["path"] == "\"/m/a\"")
        #expect(album.otherFields["rating"] == "5" && album.otherFields.count == 3)
        let json = try #require(
            try list(#"[{"title": "A", "items": [{"a": 1}], "x": null}]"#, ListOptions(keepsOtherFields: true)).albums
                .first)
        #expect(json.otherFields.count == 2)
    }

    // MARK: What is no list

    @Test func `a list names no file of this computer, whatever it calls that`() throws {
        let json = ##"[{"title": "A", "coverUrl": "https://a/1", "coverFile": "/f", "cover_file": "/g", "other": 1}]"##
        let csv = "title,coverUrl,Cover File,other\nA,https://a/1,/f,1\n"
        for text in [json, csv, json.replacing(##""coverUrl": "https://a/1", "##, with: "")] {
            for keeps in [true, false] {
                let albums = try list(text, ListOptions(keepsOtherFields: keeps)).albums
                #expect(albums.map(\.title) == ["A"] && albums.map(\.coverFile) == [nil], "\(albums)")
                #expect(!albums[0].otherFields.contains { $0.name.lowercased().contains("file") }, "\(albums)")
            }
        }
        let library = try list(json, ListOptions(format: .json, keepsOtherFields: true, isLibraryFile: true))
        guard case .item(let item) = library.first else { return #expect(library.isEmpty, "it has an album") }
        #expect(item.album?.coverFile == "/f")
    }

    @Test(arguments: [
        "<?xml version=\"1.0\"?>\n<album>\n  <title>A</title>\n</album>\n",
        "\u{FEFF} <album><thumb>https://a/1</thumb></album>", "<!doctype html>\n<img src=x>\n",
    ])
    func `XML is one problem, with advice`(text: String) {
        for name in ["album.nfo", "list"] {
            let problem = #expect(throws: ListProblem.self) { try list(text, name: name).urls }
            #expect(problem?.message.hasPrefix("is HTML or XML; \(DetectedFormat.expected); `sleeve fill DIR`") == true)
        }
    }

    @Test func `URLs in angle brackets are URLs`() throws {
        #expect(try list("<https://a/1>\n<https://a/2>\n").urls == ["https://a/1", "https://a/2"])
    }
}
