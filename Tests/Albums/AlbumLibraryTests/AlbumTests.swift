import Testing

@testable import AlbumLibrary

@Suite struct AlbumTests {
    private func album(_ json: String) throws -> Album {
        try #require(Album(json: json))
    }

    @Test func `reads coverUrl and cover_url, and prefers the first`() throws {
        #expect(try album(#"{"coverUrl": "https://a/1"}"#).coverURL == "https://a/1")
        #expect(try album(#"{"cover_url": "https://a/2"}"#).coverURL == "https://a/2")
        #expect(try album(#"{"coverUrl": "https://a/1", "cover_url": "https://a/2"}"#).coverURL == "https://a/1")
        #expect(try album(#"{"coverUrl": null, "cover_url": "https://a/2"}"#).coverURL == "https://a/2")
    }

    @Test(arguments: [(#""1999""#, "1999"), ("1999", "1999"), ("null", ""), (#""""#, "")])
    func `a year is a string or a number`(json: String, year: String) throws {
        #expect(try album("{\"year\": \(json)}").year == year)
    }

    @Test func `missing texts are empty, and a missing URL is nil`() throws {
        #expect(try album("{}") == Album())
        #expect(Album().title == "" && Album().coverURL == nil)
    }

    @Test(arguments: [#"{"title": 3}"#, #"{"coverUrl": {}}"#, #"{"year": true}"#, #""https://a/1""#, "{} 1", "{", ""])
    func `an object with a field of another type, and any other value, is not an album`(json: String) {
        #expect(Album(json: json) == nil)
    }

    @Test func `a written album reads back equal, with coverUrl as the key`() throws {
        let sting = Album(
            title: "Nothing Like The Sun", artist: "Sting", genre: "Pop", coverURL: "https://a/1", year: "1999")
        #expect(
            sting.json == """
                {"id": "\(sting.id)", "title": "Nothing Like The Sun", "artist": "Sting", "genre": "Pop", \
                "coverUrl": "https://a/1", "year": "1999"}
                """)
        var read = try album(sting.json)
        #expect(read.id == sting.id)
        read.id = "x"
        #expect(
            read
                == Album(
                    id: "x", title: "Nothing Like The Sun", artist: "Sting", genre: "Pop", coverURL: "https://a/1",
                    year: "1999"))
    }

    @Test func `unknown fields are kept as written and in order`() throws {
        let first = try album(#"{"title": "A", "extra": {"deep": null}, "discs": [1, 2.50]}"#)
        #expect(first.json.hasSuffix(#""extra": {"deep": null}, "discs": [1, 2.50]}"#))
        #expect(try album(first.json).otherFields == first.otherFields)
    }

    @Test func `a derived id is the one that earlier versions derived`() {
        #expect(Album(title: "Low Tide", artist: "The Harbour Lights", year: "1971").id == "20b170cfbbc7d1a0")
    }

    @Test func `an album without an id has one derived from its fields`() throws {
        #expect(Album(title: "A").id == Album(title: "A", genre: "Folk").id)
        #expect(Album(title: "A").id != Album(title: "B").id)
        #expect(try album(#"{"id": 7}"#).id == "7")
    }

    @Test func `its table has artist, album, genre and year, in this order`() {
        let rows = Album(title: "T", artist: "A", genre: "G", year: "1999").tableRepresentation
        #expect(rows.map { $0.title } == ["Artist", "Album", "Genre", "Year"])
        #expect(rows.map { $0.value } == ["A", "T", "G", "1999"])
    }
}
