import CoverLibrary
import Foundation
import Testing

@Suite struct AlbumTests {
    private func album(_ json: String) throws -> Album {
        try JSONDecoder().decode(Album.self, from: Data(json.utf8))
    }

    @Test func `reads coverUrl and cover_url, and prefers the first`() throws {
        #expect(try album(#"{"coverUrl": "https://a/1"}"#).coverUrl == "https://a/1")
        #expect(try album(#"{"cover_url": "https://a/2"}"#).coverUrl == "https://a/2")
        #expect(try album(#"{"coverUrl": "https://a/1", "cover_url": "https://a/2"}"#).coverUrl == "https://a/1")
        #expect(try album(#"{"coverUrl": null, "cover_url": "https://a/2"}"#).coverUrl == "https://a/2")
    }

    @Test(arguments: [(#""1999""#, "1999"), ("1999", "1999"), ("null", ""), (#""""#, "")])
    func `a year is a string or a number`(json: String, year: String) throws {
        #expect(try album("{\"year\": \(json)}").year == year)
    }

    @Test func `missing texts are empty, and a missing URL is nil`() throws {
        #expect(try album("{}") == Album())
        #expect(Album().title == "" && Album().coverUrl == nil)
    }

    @Test(arguments: [#"{"title": 3}"#, #"{"coverUrl": {}}"#, #"{"year": true}"#])
    func `a field of another type is an error`(json: String) {
        #expect(throws: DecodingError.self) { try album(json) }
    }

    @Test func `what is encoded is decoded again, with coverUrl as the key`() throws {
        let sting = Album(
            title: "Nothing Like The Sun", artist: "Sting", genre: "Pop", coverUrl: "https://a/1", year: "1999")
        let data = try JSONEncoder().encode(sting)
        var decoded = try JSONDecoder().decode(Album.self, from: data)
        #expect(decoded.id == sting.id)
        decoded = Album(
            title: decoded.title, artist: decoded.artist, genre: decoded.genre, coverUrl: decoded.coverUrl,
            year: decoded.year)
        #expect(decoded == sting)
        let keys = try JSONDecoder().decode([String: String].self, from: data).keys
        #expect(Set(keys) == ["id", "title", "artist", "genre", "coverUrl", "year"])
    }

    @Test func `fields it does not know survive encoding and decoding`() throws {
        let first = try album(#"{"title": "A", "discs": [1, 2.5], "extra": {"deep": null}}"#)
        let second = try JSONDecoder().decode(Album.self, from: JSONEncoder().encode(first))
        #expect(second.otherFields == first.otherFields)
        #expect(first.otherFields.map(\.name) == ["discs", "extra"])
    }

    @Test func `without an id it has one that follows from what it says`() throws {
        #expect(Album(title: "A").id == Album(title: "A", genre: "Folk").id)
        #expect(Album(title: "A").id != Album(title: "B").id)
        #expect(try album(#"{"id": 7}"#).id == "7")
    }

    @Test func `its table has artist, album, genre and year, in this order`() {
        let rows = Album(title: "T", artist: "A", genre: "G", year: "1999").tableRepresentation
        #expect(rows.map(\.title) == ["Artist", "Album", "Genre", "Year"])
        #expect(rows.map(\.value) == ["A", "T", "G", "1999"])
    }
}
