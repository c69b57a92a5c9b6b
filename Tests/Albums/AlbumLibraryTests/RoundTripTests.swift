import Foundation
import Testing

@testable import AlbumLibrary

@Suite struct RoundTripTests {
    private func read(_ text: String, name: String) throws -> [Album] {
        try list(text, name: name, ListOptions(keepsOtherFields: true)).albums
    }

    @Test func `an export as CSV is read back as the same albums`() throws {
        let json = """
            [{"id": "1", "title": "A, \\"b\\"", "artist": "é", "genre": "", "coverUrl": "https://a/1", "year": "1971",
              "coverUrls": ["https://b/1", "https://c/1"], "mbid": "76df3287-6cda-33eb-8e9a-044b5e15ffdd",
              "path": "/m/a;b", "n": 5, "s": "5", "zero": "007", "list": [1, {"x": "y,z"}], "yes": true, "word": "true",
              "blank": "", "nothing": null, "edges": " x ", "lines": "a\\u000ab", "code": "5012345678900123", "half": 1.50},
             {"id": "2", "title": "B", "artist": "", "genre": "", "year": "", "other": "only here"}]
            """
        let albums = try read(json, name: "x.json")
        let csv = AlbumFile.text(of: albums, format: .csv)
        let again = try read(csv, name: "x.csv")
        #expect(again.map(\.json) == albums.map(\.json))
        #expect(AlbumFile.text(of: again, format: .csv) == csv)
        let lines = try read(AlbumFile.text(of: albums, format: .jsonl), name: "x.jsonl")
        #expect(lines == albums)
    }

    @Test func `a CSV file's columns and cells are in the export`() throws {
        let csv =
            "title,path,Title 2,coverUrls,,rating\r\nA,/m/a,x,https://a/1 https://a/2,y,05\r\nB,,,https://a/3,,\r\n"
        let albums = try read(csv, name: "x.csv")
        #expect(albums[0].alternateCoverURLs == ["https://a/1", "https://a/2"])
        #expect(albums[0].otherFields["coverUrls"] == "[\"https://a/1\", \"https://a/2\"]")
        let out = AlbumFile.text(of: albums, format: .csv).split(separator: "\r\n")
        #expect(out[0] == "id,title,artist,genre,year,coverUrl,coverUrls,path,Title 2,column 5,rating")
        #expect(out[1].hasSuffix(",A,,,,,https://a/1 https://a/2,/m/a,x,y,05"))
        #expect(out[2].hasSuffix(",B,,,,,https://a/3,,,,"))
    }
}
