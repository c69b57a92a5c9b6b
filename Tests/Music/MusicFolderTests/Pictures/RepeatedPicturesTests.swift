import CoverSizes
import CoverSources
import Platform
import Testing

@testable import MusicFolder

@Suite struct RepeatedPicturesTests {
    private func digest(_ text: String) -> Digest { Digest(of: Array(text.utf8)) }

    @Test func `a picture of three artists is no cover, one of several albums of an artist may be`() {
        var pictures = RepeatedPictures()
        let x = digest("x")
        for title in ["A", "B", "C", "D"] { pictures.add(x, nil, of: AlbumQuery(artist: "The Band", title: title)) }
        pictures.add(x, nil, of: AlbumQuery(artist: "BAND", title: "E"))
        pictures.add(x, nil, of: AlbumQuery(artist: "Various Artists", title: "F"))
        let second = pictures.add(x, nil, of: AlbumQuery(artist: "Other", title: "G"))
        let third = pictures.add(x, nil, of: AlbumQuery(artist: "Third", title: "H"))
        #expect(!second && third && pictures.isRepeated(x) && !pictures.isRepeated(digest("y")))
    }

    @Test func `the picture of a compilation in eight artists' folders is none of unrelated albums`() {
        var pictures = RepeatedPictures()
        let x = digest("x")
        for artist in 1...8 {
            pictures.add(x, nil, of: AlbumQuery(artist: "Artist \(artist)", title: artist < 5 ? "Tide" : "TIDE"))
        }
        #expect(!pictures.isRepeated(x))
        let isRepeated = pictures.add(x, nil, of: AlbumQuery(artist: "Artist 9", title: "Rust"))
        #expect(isRepeated)
    }

    @Test func `three renditions of one picture are one, and pictures that differ are not`() {
        var pictures = RepeatedPictures()
        for (number, side) in [250, 500, 1_000].enumerated() {
            let isRepeated = pictures.add(
                digest("\(side)"), .made(1, noise: 1, pixelCount: side * side),
                of: AlbumQuery(artist: "Artist \(number)", title: "T \(number)"))
            #expect(isRepeated == (number == 2))
            let isOther = pictures.add(
                digest("other \(side)"), .made(UInt64(10 + number)),
                of: AlbumQuery(artist: "Artist \(number)", title: "U \(number)"))
            #expect(!isOther)
        }
        #expect(pictures.renditions(of: digest("250")) == [digest("250"), digest("500"), digest("1000")])
    }

    @Test func `pictures without anything in them are compared by their bytes`() throws {
        var pictures = RepeatedPictures()
        let plain = try #require(
            Likeness(stored: [0, 1, 0, 0] + [UInt8](repeating: 200, count: 1_024) + [UInt8](repeating: 0, count: 128)))
        for number in 0..<5 {
            let isRepeated = pictures.add(
                digest("\(number)"), plain, of: AlbumQuery(artist: "Artist \(number)", title: "T \(number)"))
            #expect(!isRepeated)
        }
    }

    @Test func `what an earlier fill has found for unrelated albums is known in every size`() {
        var pictures = RepeatedPictures()
        pictures.addRepeated(digest("seen"), .made(1, noise: 1))
        let album = AlbumQuery(artist: "The Band", title: "T")
        let smaller = pictures.add(digest("smaller"), .made(1, noise: 1, pixelCount: 10_000), of: album)
        let another = pictures.add(digest("another"), .made(3), of: album)
        #expect(smaller && !another)
    }
}
