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
        #expect(try JSONDecoder().decode(Album.self, from: data) == sting)
        let keys = try JSONDecoder().decode([String: String].self, from: data).keys
        #expect(Set(keys) == ["title", "artist", "genre", "coverUrl", "year"])
    }
}
